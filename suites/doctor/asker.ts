import type { Reply, Trouble } from '../answer.ts';
import type { Client } from '../engine/client.ts';
import type { Clock } from '../engine/clock.ts';
import { fingerprint, type Request } from '../request.ts';
import { late, within } from './within.ts';

/** Sends requests within hard bounds. */
export interface Asker {
  /** Equal requests share one reply. Never rejects: beyond the bounds nothing is sent, and the reply says so. */
  readonly ask: (request: Request) => Promise<Reply>;
  /** Requests that were sent. */
  readonly asked: () => number;
  /** Requests that are left once these are asked too. */
  readonly roomBeside: (requests: readonly Request[]) => number;
  /** What is left of the time, in ms. */
  readonly leftMs: () => number;
}

export interface AskerOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly mostRequests: number;
  /** From now on, all requests together. */
  readonly mostMs: number;
}

export function createAsker({ client, mostRequests, mostMs, ...options }: AskerOptions): Asker {
  const end = options.clock.now() + mostMs;
  const leftMs = () => end - options.clock.now();
  let asked = 0;

  const send = async (request: Request): Promise<Reply> => {
    if (asked >= mostRequests) return budget(`not asked: no more than ${mostRequests} requests are sent`);
    if (leftMs() <= 0) return budget(`not asked: ${mostMs / 1000} s were up`);
    asked++;
    const reply = await within(options, leftMs(), () => client.send(wireOf(request)));
    if (reply !== late) return reply;
    return options.signal.aborted
      ? { kind: 'trouble', code: 'interrupted', words: 'interrupted' }
      : budget(`no answer before ${mostMs / 1000} s were up`);
  };
  const sendTwice = async (request: Request): Promise<Reply> => {
    const reply = await send(request);
    // A server may close an idle connection at any moment (RFC 9112 9.3.1).
    const isBroken = reply.kind === 'trouble' && reply.code === 'network';
    return isBroken && asked < mostRequests ? send(request) : reply;
  };
  const replies = new Map<string, Promise<Reply>>();
  return {
    leftMs,
    asked: () => asked,
    roomBeside: (requests) =>
      Math.max(0, mostRequests - asked - requests.filter((one) => !replies.has(fingerprint(one))).length),
    ask: (request) => {
      const name = fingerprint(request);
      const reply = replies.get(name) ?? sendTwice(request);
      replies.set(name, reply);
      return reply;
    },
  };
}

const budget = (words: string): Trouble => ({ kind: 'trouble', code: 'budget', words });

function wireOf({ method, target, headers, credential }: Request) {
  const authorization = credential.as === 'key' ? { authorization: `Bearer ${credential.key.key}` } : {};
  return { method, target, headers: { ...headers, ...authorization } };
}
