import type { IncomingHttpHeaders } from 'node:http';
import { Pool, type Dispatcher } from 'undici';
import type { Answer } from '../answer.ts';
import { decodeBody, MOST_BODY_BYTES } from './body.ts';
import { late, timedOut, tooManyFields, transportErrorOf, type TransportError } from './transport-error.ts';

/** Where requests go, and how patiently. */
export interface ClientOptions {
  /** `{base_url}`; a trailing slash makes no difference. */
  readonly target: URL;
  /** Bound on each phase of a request, and on the whole of it, in ms. */
  readonly timeoutMs: number;
  readonly connections: number;
  /** Sent with every request, names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Certificates to trust beside the usual ones, in PEM. */
  readonly ca?: string;
  /** Whether certificates are not checked. */
  readonly insecure: boolean;
  /** The engine's time, in ms. */
  readonly now: () => number;
  /** When the run ends, in ms of that time: what is under way then is soon cut off. */
  readonly deadline?: number;
  /** Cuts off what is under way. */
  readonly signal: AbortSignal;
}

/** A request as it goes over the wire. */
export interface WireRequest {
  readonly method: string;
  /** Path and query below the base URL. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface Client {
  readonly send: (request: WireRequest) => Promise<Answer | TransportError>;
  readonly close: () => Promise<void>;
}

/** An answer that comes this late (ms) after the end of the run is still taken. */
const GRACE = 250;

/** Pieces of a body that are held before they are put together: each takes a hundred times a byte. */
const MOST_PIECES = 64;

/** Header fields of an answer at most. */
const MOST_FIELDS = 100;

/** Opens a pool of connections to the target: keep-alive, no redirects, no pipelining. */
export function createClient(options: ClientOptions): Client {
  const { target, timeoutMs, connections, now } = options;
  const basePath = target.pathname.replace(/\/+$/, '');
  const pool = new Pool(target.origin, {
    connections,
    pipelining: 1,
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    connect: {
      timeout: timeoutMs,
      rejectUnauthorized: !options.insecure,
      ...(options.ca === undefined ? {} : { ca: options.ca }),
    },
  });

  const ours = Object.entries(options.headers).flat();
  /** As undici takes them soonest: names and values by turns. A request's own take the place of ours. */
  const fieldsOf = (headers: WireRequest['headers']): string[] => {
    const fields = [...ours];
    for (const name in headers) {
      if (Object.hasOwn(options.headers, name))
        return Object.entries({ ...options.headers, ...headers }).flat();
      fields.push(name, headers[name]!);
    }
    return fields;
  };

  // The pool knows what is under way: a list of our own would be changed twice by every request.
  const cutOffAll = () => void pool.destroy(new Error('cut off'));
  options.signal.addEventListener('abort', cutOffAll);

  const send = (request: WireRequest): Promise<Answer | TransportError> => {
    const sentAt = now();
    const leftMs = Math.max(0, (options.deadline ?? Number.POSITIVE_INFINITY) + GRACE - sentAt);
    const patienceMs = Math.min(timeoutMs, leftMs);
    const started = performance.now();
    return new Promise((resolve) => {
      let controller: Dispatcher.DispatchController | undefined;
      let status = 0;
      let headers: Answer['headers'] = {};
      let pieces: Uint8Array[] = [];
      let size = 0;
      let isOver = false;
      const end = (result: Answer | TransportError) => {
        isOver = true;
        clearTimeout(timer);
        resolve(result);
      };
      const cutOff = () => {
        if (isOver) return;
        end(leftMs < timeoutMs ? late() : timedOut(timeoutMs));
        controller?.abort(new Error('cut off'));
      };
      const answer = (): Answer => {
        const [receivedAt, tookMs] = [now(), performance.now() - started];
        const bytes = pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces);
        return answerOf(bytes, { status, headers, sentAt, receivedAt, tookMs });
      };
      const timer = setTimeout(cutOff, patienceMs);
      if (options.signal.aborted) return cutOff();
      pool.dispatch(
        {
          method: request.method,
          path: basePath + request.target,
          headers: fieldsOf(request.headers),
          body: request.body ?? null,
        },
        {
          onRequestStart: (opened) => {
            controller = opened;
            if (isOver) opened.abort(new Error('cut off'));
          },
          onResponseStart: (opened, statusCode, fields) => {
            // Of the answers that only announce another one nothing is kept (RFC 9110 15.2).
            if (statusCode < 200 || isOver) return;
            status = statusCode;
            const all = multiMap(fields);
            if (all !== undefined) return void (headers = all);
            end(tooManyFields(MOST_FIELDS));
            opened.abort(new Error('too many fields'));
          },
          onResponseData: (opened, chunk) => {
            if (isOver) return;
            size += chunk.length;
            pieces.push(chunk);
            if (size > MOST_BODY_BYTES) {
              end(answer());
              opened.abort(new Error('the body is too long'));
            } else if (pieces.length > MOST_PIECES) pieces = [Buffer.concat(pieces)];
          },
          onResponseEnd: () => {
            if (!isOver) end(answer());
          },
          onResponseError: (_, error) => {
            if (!isOver) end(transportErrorOf(error, timeoutMs, status !== 0));
          },
        },
      );
    });
  };
  return {
    send,
    close: () => {
      options.signal.removeEventListener('abort', cutOffAll);
      return pool.destroy();
    },
  };
}

/** Stands apart, so that an answer that is kept keeps nothing of its request. */
function answerOf(bytes: Uint8Array, rest: Omit<Answer, 'kind' | 'text' | 'json'>): Answer {
  const body = decodeBody(bytes, rest.headers['content-encoding']?.[0]);
  return Object.assign(body, { kind: 'answer' as const, ...rest });
}

/**
 * A prototype without names: what is made of it holds only what was sent, as what is made of null does, which
 * V8 keeps as a dictionary, though.
 */
const bare: object = Object.freeze(Object.create(null) as object);

/** Undefined where there are too many. */
function multiMap(headers: IncomingHttpHeaders): Answer['headers'] | undefined {
  const map = Object.create(bare) as Record<string, readonly string[]>;
  let fields = 0;
  for (const name in headers) {
    const value = headers[name] ?? '';
    const values = typeof value === 'string' ? [value] : value;
    map[name] = values;
    fields += values.length;
  }
  return fields > MOST_FIELDS ? undefined : map;
}
