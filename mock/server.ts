import type { Fixture } from '../schemas/generated/types.ts';
import type { Behaviour } from './behaviour.ts';
import type { ClockMode } from './clock.ts';
import { doorOf } from './door.ts';
import type { HttpRequest, HttpResponse } from './exchange.ts';
import { httpDate } from './http-date.ts';
import { entryOf, type JournalEntry } from './journal.ts';
import { listen } from './listener.ts';
import { createSession, timeIn } from './session.ts';
import { trimBasePath } from './target.ts';

/** A request and its answer; `at` is in Unix ms. Header fields hold keys: never print them. */
export interface AnsweredRequest {
  readonly request: HttpRequest;
  readonly response: HttpResponse;
  readonly at: number;
  /** What the journal says of it, without credentials. */
  readonly entry: () => JournalEntry;
}

export interface MockOptions {
  readonly fixture: Fixture;
  /** The only source of time, in Unix ms. */
  readonly clock: { now(): number };
  /** How the clock of the mock begins, over that; `real` where it is missing. */
  readonly clockMode?: ClockMode;
  /** 0, the default, takes a free one. */
  readonly port?: number;
  readonly host?: string;
  /** Path of {base_url}; a trailing slash makes no difference. */
  readonly basePath?: string;
  readonly behaviour?: Behaviour;
  /** Requests that the journal of a world holds. */
  readonly journal?: number;
  readonly maxWorlds?: number;
  /** Told of each request when its answer is on its way. */
  readonly onExchange?: (exchange: AnsweredRequest) => void;
}

export interface Mock {
  /** The {base_url}, without a trailing slash. */
  readonly url: string;
  readonly port: number;
  /** Stops listening and ends every connection: idle ones at once, others behind their answer. */
  close(): Promise<void>;
}

/**
 * Starts the reference server.
 *
 * @throws the system's error where it cannot listen, such as one with code EADDRINUSE
 */
export async function startMock(options: MockOptions): Promise<Mock> {
  const { port = 0, host = '127.0.0.1', basePath = '/', onExchange } = options;
  const session = createSession({ ...options, now: () => options.clock.now(), clock: options.clockMode });
  const listener = await listen({
    port,
    host,
    date: () => httpDate(timeIn(session, session.main)),
    answer: doorOf(session, {
      hasAdmin: isLoopback(host),
      onAnswered:
        onExchange &&
        ((request, { response, note }) =>
          onExchange({ request, response, at: note.at, entry: () => entryOf(note, session.redact) })),
    }),
  });
  const name = host.includes(':') ? `[${host}]` : host;
  return {
    url: `http://${name}:${listener.port}${trimBasePath(basePath)}`,
    port: listener.port,
    close: () => listener.close(),
  };
}

const isLoopback = (host: string) => host === 'localhost' || host === '::1' || host.startsWith('127.');
