import type { Answer, Reply, Trouble } from '../answer.ts';
import type { Request } from '../request.ts';
import type { Doors } from '../requirement.ts';
import type { Sighting } from './history.ts';
import type { Supply } from './kinds.ts';

/** Requests sent at once; the next lot goes out when their answers are in. */
const LOT = 16;

/** The same to a target that takes its time: a window must not end before it is full. */
const LARGE_LOT = 64;

/** A lot that took so many ms is followed by large ones. */
const SLOW = 50;

/** Requests of one kind, as many as were sent until a 429 or to the end. */
export interface Burst {
  readonly kind: string;
  readonly sent: number;
  /** Answers other than 429. */
  readonly passed: number;
  readonly elapsedMs: number;
  readonly history: readonly Sighting[];
  /** A 429, and what it answered. */
  readonly refusal?: { readonly request: Request; readonly answer: Answer };
  readonly trouble?: Trouble;
}

/** How an answer looks to who asks only whether it was let through. */
export const sightingOf = ({ sentAt, receivedAt, status }: Answer): Sighting => ({
  sentAt,
  receivedAt,
  passed: status !== 429,
});

/** Sends requests at once, 429s and all. */
export async function send(doors: Doors, { kind, next }: Supply, count: number): Promise<Burst> {
  const requests = next(count);
  const startedAt = doors.now();
  const replies = await doors.burst(...requests);
  const history = replies.filter((reply: Reply): reply is Answer => reply.kind === 'answer').map(sightingOf);
  const at = replies.findIndex((reply) => reply.kind === 'answer' && reply.status === 429);
  const refused = replies[at];
  const trouble = replies.find((reply) => reply.kind === 'trouble');
  return {
    kind,
    sent: count,
    passed: history.filter(({ passed }) => passed).length,
    elapsedMs: doors.now() - startedAt,
    history,
    ...(refused?.kind === 'answer' ? { refusal: { request: requests[at]!, answer: refused } } : {}),
    ...(trouble === undefined ? {} : { trouble }),
  };
}

/** Sends lots of fresh requests until one is answered 429, or so many went out. */
export async function sendUntilRefused(doors: Doors, supply: Supply, most: number): Promise<Burst> {
  const startedAt = doors.now();
  let all: Burst = { kind: supply.kind, sent: 0, passed: 0, elapsedMs: 0, history: [] };
  while (all.sent < most && all.refusal === undefined && all.trouble === undefined) {
    const size = doors.now() - startedAt > SLOW ? LARGE_LOT : LOT;
    const lot = await send(doors, supply, Math.min(size, most - all.sent));
    all = {
      ...lot,
      sent: all.sent + lot.sent,
      passed: all.passed + lot.passed,
      elapsedMs: doors.now() - startedAt,
      history: [...all.history, ...lot.history],
    };
  }
  return all;
}
