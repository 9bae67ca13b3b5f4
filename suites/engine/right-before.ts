import { endpointNames, type Endpoint } from '../../schemas/endpoints.ts';
import { waitWords } from '../../schemas/progress.ts';
import { isFromFrontEnd, type Reply } from '../answer.ts';
import { findableId } from '../inputs/uuids.ts';
import type { Present } from '../known.ts';
import { sleep, type Limiter } from '../limits/limiter.ts';
import { lookupOf, type Request } from '../request.ts';
import type { Facts } from '../rules/facts.ts';
import { factsOf, presentedKey } from '../rules/facts-of-request.ts';
import type { Context } from '../rules/scenario-context.ts';
import type { Budget } from './budget.ts';
import type { RunOptions } from './run-options.ts';

export interface RightBeforeOptions extends Pick<RunOptions, 'clock'> {
  readonly present: Present;
  readonly budget: Budget;
  readonly limiter: Limiter;
  /** When the run must end, in ms of the clock. */
  readonly deadline: number;
  readonly verdictsOn: Context['verdictsOn'];
  /** Asks once, on a new connection. The answer is not judged. */
  readonly probe: (request: Request) => Promise<Reply>;
}

/** How an answer is suspect: all that no service gave is one kind, else status and text without digits. */
export type Kind = typeof FRONT | `${number} ${string}`;
export const FRONT = 'none of the service';

export const statusOf = (kind: Kind): string => (kind === FRONT ? FRONT : kind.slice(0, 3));
export const isRefusal = (kind: Kind): boolean => ['401', '403'].includes(statusOf(kind));

/** What was found out about a loss: whether there is one, and who asks in vain, by endpoint and key. */
export interface Found {
  readonly is: 'none' | 'over' | 'lasting';
  readonly lost: ReadonlySet<string>;
}

/** Lookups that are asked at once before something counts as lost: a network may lose one. */
const AT_ONCE = 3;

/** While something is lost, it is asked for after each pause of so many ms, for at most so many ms. */
const [PAUSE_MS, MAX_MS] = [1000, 20_000];

/** So many lookups with different right answers are kept for each key. */
const MAX_KEPT = 3;

const NOTHING: Found = { is: 'none', lost: new Set() };

export type RightBefore = ReturnType<typeof createRightBefore>;

/** Keeps lookups that were right, and asks for them again to find out whether something was lost. */
export function createRightBefore(options: RightBeforeOptions) {
  const { present, clock, budget, limiter, deadline, verdictsOn, probe } = options;
  const right = new Map<string, Request[]>();
  const isWrong = (request: Request, reply: Reply) =>
    reply.kind === 'answer' && verdictsOn(request, reply).some(({ kind }) => kind === 'failed');

  const kindOf = (request: Request, reply: Reply): Kind | undefined => {
    if (reply.kind === 'trouble' || isFromFrontEnd(reply)) return FRONT;
    const { status, text } = reply;
    if (![401, 403].includes(status) && status < 500) return undefined;
    return isWrong(request, reply) ? `${status} ${text.replaceAll(/\d/g, '')}` : undefined;
  };
  const nameOf = (request: Request) => {
    const { key, found } = presentedKey(present.known, request);
    return key === 'accepted' ? `${request.endpoint} ${found!.key}` : `${request.endpoint} `;
  };
  /** The name of a lookup, or of another one that was right, if possible there. */
  const askedFor = (request: Request): string | undefined => {
    const name = nameOf(request);
    const names = [...right.keys()];
    return right.has(name) ? name : (names.find((one) => isOf(request.endpoint, one)) ?? names[0]);
  };
  /** Keeps a lookup with a right answer, if it tells more than those before. */
  const keep = (request: Request, reply: Reply, facts: Facts): void => {
    const name = nameOf(request);
    const kept = right.get(name) ?? [];
    if (kept.length >= MAX_KEPT || facts.isBecoming) return;
    const isNew = kept.every((one) => expectedOf(factsOf(present.known, one)!) !== expectedOf(facts));
    if (isNew && !isWrong(request, reply)) right.set(name, [...kept, request]);
  };

  /** Asks again for what was right before. Returns the kind of a suspect answer. */
  const ask = async (name: string, nth: number): Promise<Kind | undefined> => {
    const some = right.get(name)!;
    const request = some[nth % some.length]!;
    return kindOf(request, await probe(request));
  };
  const lostNow = async (): Promise<ReadonlySet<string>> => {
    const names = new Set<string>();
    for (const name of right.keys()) if ((await ask(name, 0)) !== undefined) names.add(name);
    return names;
  };
  /** Finds out whether what was right before is so now, and waits for it. */
  const examine = async (request: Request): Promise<Found> => {
    const name = askedFor(request);
    const plain = lookupOf(request.endpoint, findableId(request.endpoint, present.known), {
      credential: { as: 'none' },
    });
    const isGood = async (nth: number) =>
      (name === undefined ? kindOf(plain, await probe(plain)) : await ask(name, nth)) === undefined;
    for (let nth = 0; nth < AT_ONCE; nth++) if (await isGood(nth)) return NOTHING;
    if (budget.ended() !== undefined) return NOTHING;
    const names = await lostNow();
    const endsAt = clock.now() + MAX_MS;
    for (let nth = 0; clock.now() < endsAt && budget.ended() === undefined; nth++) {
      const until = Math.min(clock.now() + PAUSE_MS, deadline);
      await sleep(limiter, { until, reason: 'lost-target', why: waitWords['lost-target'] });
      if (await isGood(nth)) return { is: 'over', lost: names };
    }
    // Nothing was right before, so that nothing was lost.
    return name === undefined ? { is: 'none', lost: names } : { is: 'lasting', lost: await lostNow() };
  };

  return {
    kindOf,
    nameOf,
    askedFor,
    keep,
    ask,
    examine,
    names: (): readonly string[] => [...right.keys()],
    /** How many different right answers an endpoint gave. */
    varietyAt: (endpoint: Endpoint): number =>
      new Set(
        [...right].flatMap(([name, some]) =>
          isOf(endpoint, name) ? some.map((one) => expectedOf(factsOf(present.known, one)!)) : [],
        ),
      ).size,
    /** Whether nobody gets a right answer any more, at either endpoint. */
    isEverything: (lost: ReadonlySet<string>): boolean =>
      [...right.keys()].every((name) => lost.has(name)) &&
      endpointNames.every((endpoint) => [...lost].some((name) => isOf(endpoint, name))),
  };
}

export const isOf = (endpoint: Endpoint, name: string): boolean => name.startsWith(`${endpoint} `);

/** The right answer to a lookup, as far as lookups with other ones tell more. */
export const expectedOf = ({ user, deposit, key, parameter }: Facts): string =>
  user?.user_id ?? deposit?.reference_id ?? `${key === 'accepted'} ${parameter === 'plain'}`;
