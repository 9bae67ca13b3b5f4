import type { Endpoint } from '../schemas/endpoints.ts';
import type { Answer, Reply } from './answer.ts';
import { findableId, manyStrangers, stranger } from './inputs/uuids.ts';
import type { Known } from './known.ts';
import { depositCheck, lookupOf, userStatus, type Request } from './request.ts';
import type { Doors } from './requirement.ts';

/** Requests of one kind that are spent on finding a limiter whose threshold nobody stated. */
export const MOST_WITHOUT_THRESHOLD = 1000;

/** Requests sent at once; the next lot goes out when their answers are in. */
const LOT = 16;

/** The same to a target that takes its time: a window must not end before it is full. */
const LARGE_LOT = 64;

/** A lot that took so many ms is followed by large ones. */
const SLOW = 50;

/** What the fixture states of an endpoint's limiter. */
export interface Stated {
  readonly threshold: number;
  readonly windowMs: number;
}

export function statedLimit(endpoint: Endpoint, { limits }: Known): Stated | undefined {
  const limit = limits[endpoint];
  if (limit === undefined) return undefined;
  const threshold = 'failedLookups' in limit ? limit.failedLookups : limit.requests;
  return { threshold, windowMs: limit.windowSeconds * 1000 };
}

/** A kind of request that may count, and how to make many of them. */
export interface Kind {
  readonly name: string;
  readonly make: (known: Known, count: number) => readonly Request[];
}

/** What may count as a failed lookup, the likeliest first; for deposit-check any request counts. */
const kinds: Readonly<Record<Endpoint, readonly Kind[]>> = {
  'user-status': [
    {
      name: 'unknown users',
      make: (known, count) => manyStrangers(known, count).map((id) => asCaller(known, userStatus(id))),
    },
    {
      name: 'invalid ids',
      make: (known, count) =>
        Array.from({ length: count }, (_, n) => asCaller(known, userStatus(`invalid-${n}`))),
    },
    {
      name: 'bad keys',
      make: (known, count) =>
        Array.from({ length: count }, (_, n) =>
          userStatus(stranger(known), {
            credential: { as: 'header', value: `Bearer nobody-${n}`, shell: `Bearer nobody-${n}` },
          }),
        ),
    },
  ],
  'deposit-check': [
    {
      name: 'found and unknown deposits in turn',
      make: (known, count) =>
        manyStrangers(known, count).map((id, n) =>
          asCaller(known, depositCheck(n % 2 === 0 ? id : findableId('deposit-check', known))),
        ),
    },
  ],
};

/** The suite spends one key only: the one under test. */
export const asCaller = (known: Known, request: Request): Request => ({
  ...request,
  credential: { as: 'key', key: known.callerKeys[0]! },
});

/** What came of sending one kind of request until a 429 or to the end. */
export interface Burst {
  readonly kind: string;
  readonly sent: number;
  /** Answers other than 429. */
  readonly passed: number;
  readonly elapsedMs: number;
  readonly limited?: { readonly request: Request; readonly answer: Answer };
  readonly trouble?: Reply & { kind: 'trouble' };
}

/** What is known of an endpoint's limiter after it was driven to its limit. */
export interface Exploration {
  readonly bursts: readonly Burst[];
  /** The burst that ended in 429. */
  readonly limited?: Burst & { readonly limited: NonNullable<Burst['limited']> };
  /** Whether other keys are limited too, by name; only after a 429. */
  readonly others: Readonly<Record<string, boolean>>;
  /** What a lookup that should work gave after the wait. */
  readonly recovery?: Reply;
  readonly recoveryMs: number;
}

/** Drives the limiter to its limit, looks whom else it limits, and waits until it lets go; once a run. */
export function explore(endpoint: Endpoint, doors: Doors, known: Known): Promise<Exploration> {
  return doors.once(`limiter of ${endpoint}`, async () => {
    const stated = statedLimit(endpoint, known);
    const bursts: Burst[] = [];
    for (const kind of kinds[endpoint]) {
      await doors.settle(endpoint);
      const next = await burst(
        kind,
        known,
        doors,
        stated === undefined ? MOST_WITHOUT_THRESHOLD : 2 * stated.threshold + 2,
      );
      bursts.push(next);
      if (next.limited !== undefined || next.trouble !== undefined) break;
    }
    const last = bursts.at(-1)!;
    if (last.limited === undefined) return { bursts, others: {}, recoveryMs: 0 };
    const limitedAt = doors.now();
    const others = await limitedOthers(endpoint, doors, known);
    const [recovery] = await doors.send(asCaller(known, lookupOf(endpoint, findableId(endpoint, known))));
    return {
      bursts,
      limited: { ...last, limited: last.limited },
      others,
      recoveryMs: doors.now() - limitedAt,
      ...(recovery === undefined ? {} : { recovery }),
    };
  });
}

export async function burst(kind: Kind, known: Known, doors: Doors, most: number): Promise<Burst> {
  const requests = kind.make(known, most);
  const startedAt = doors.now();
  let passed = 0;
  let size = LOT;
  for (let sent = 0; sent < most; sent += size) {
    size = doors.now() - startedAt > SLOW ? LARGE_LOT : LOT;
    const lot = requests.slice(sent, sent + size);
    const replies = await doors.burst(...lot);
    const answers = replies.filter((reply) => reply.kind === 'answer');
    passed += answers.filter(({ status }) => status !== 429).length;
    const state = { kind: kind.name, sent: sent + lot.length, passed, elapsedMs: doors.now() - startedAt };
    const at = replies.findIndex((reply) => reply.kind === 'answer' && reply.status === 429);
    if (at !== -1) return { ...state, limited: { request: lot[at]!, answer: replies[at] as Answer } };
    const trouble = replies.find((reply) => reply.kind === 'trouble');
    if (trouble !== undefined) return { ...state, trouble };
  }
  return { kind: kind.name, sent: most, passed, elapsedMs: doors.now() - startedAt };
}

async function limitedOthers(
  endpoint: Endpoint,
  doors: Doors,
  known: Known,
): Promise<Record<string, boolean>> {
  const others = [...known.callerKeys.slice(1, 2), ...known.otherKeys.slice(0, 1)];
  const replies = await doors.burst(
    ...others.map((key) =>
      lookupOf(endpoint, findableId(endpoint, known), { credential: { as: 'key', key } }),
    ),
  );
  return Object.fromEntries(
    replies.flatMap((reply, nth) =>
      reply.kind === 'answer' ? [[others[nth]!.name, reply.status === 429] as const] : [],
    ),
  );
}
