import { endpointNames, type Endpoint } from '../../schemas/endpoints.ts';
import { waitWords } from '../../schemas/progress.ts';
import { isFromFrontEnd, type Reply } from '../answer.ts';
import { findableId } from '../inputs/uuids.ts';
import type { Present } from '../known.ts';
import { sleep, type Limiter } from '../limits/limiter.ts';
import { lookupOf, type Request } from '../request.ts';
import type { Facts } from '../rules/facts.ts';
import { factsOf, presentedKey } from '../rules/facts-of-request.ts';
import type { Context, Exchange } from '../rules/scenario-context.ts';
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
  readonly askOnce: (request: Request) => Promise<Reply>;
}

/** How an answer is suspect: all that no service gave is one kind, else status and text without its key and ids. */
export type Kind = typeof FRONT | `${number} ${string}`;
export const FRONT = 'none of the service';

export const statusOf = (kind: Kind): string => (kind === FRONT ? FRONT : kind.slice(0, 3));
export const isRefusal = (kind: Kind): boolean => ['401', '403'].includes(statusOf(kind));

/**
 * What was found out about a loss: nothing is lost, nothing was right before that could be lost, it is over, or it lasts;
 * and who asks in vain, by endpoint and key.
 */
export interface Found {
  readonly is: 'none' | 'unknown' | 'over' | 'lasting';
  readonly lost: ReadonlySet<string>;
  /** What was asked in vain, first. */
  readonly inVain?: Exchange;
}

/** Lookups that are asked at once before something counts as lost: a network may lose one. */
const AT_ONCE = 3;

/** While something is lost, it is asked for after each pause of so many ms, for at most so many ms. */
const [PAUSE_MS, MAX_MS] = [1000, 20_000];

/** So many lookups with different right answers are kept for each key. */
const MAX_KEPT = 3;

const NOTHING: Found = { is: 'none', lost: new Set() };
const UNKNOWN: Found = { is: 'unknown', lost: new Set() };

export type RightBefore = ReturnType<typeof createRightBefore>;

/** Lookups that were right, by endpoint and key: they show whether something was lost. */
export const createRightBefore = (options: RightBeforeOptions) => ({
  options,
  kept: new Map<string, readonly Request[]>(),
});

const isWrong = ({ options }: RightBefore, request: Request, reply: Reply): boolean =>
  reply.kind === 'answer' && options.verdictsOn(request, reply).some(({ kind }) => kind === 'failed');

/** How an answer is suspect; undefined if it is not. */
export function kindOf(right: RightBefore, request: Request, reply: Reply): Kind | undefined {
  if (reply.kind === 'trouble') return FRONT;
  const { status, text } = reply;
  if (status === 429) return undefined;
  if (isFromFrontEnd(reply)) return FRONT;
  if (![401, 403].includes(status) && status < 500) return undefined;
  if (!isWrong(right, request, reply)) return undefined;
  const { found: { key = '' } = {} } = presentedKey(right.options.present.known, request);
  // A word with a digit may be the id of a request.
  return `${status} ${text.replaceAll(key, '').replaceAll(/[\w-]+/g, (word) => (/\d/.test(word) ? '' : word))}`;
}

/** The endpoint and the key of a lookup; no key if it must not be accepted. */
export function nameOf({ options }: RightBefore, request: Request): string {
  const { key, found } = presentedKey(options.present.known, request);
  return `${request.endpoint} ${key === 'accepted' ? found!.key : ''}`;
}

export const isOf = (endpoint: Endpoint, name: string): boolean => name.startsWith(`${endpoint} `);

/** The name of a lookup, or of another one that was right, if possible there. */
export function askedFor(right: RightBefore, request: Request): string | undefined {
  const name = nameOf(right, request);
  const names = [...right.kept.keys()];
  return right.kept.has(name) ? name : (names.find((one) => isOf(request.endpoint, one)) ?? names[0]);
}

/** Keeps a lookup with a right answer, if it tells more than those before. */
export function keep(right: RightBefore, request: Request, reply: Reply, facts: Facts): void {
  const name = nameOf(right, request);
  const before = right.kept.get(name) ?? [];
  if (before.length >= MAX_KEPT || facts.isBecoming) return;
  const isNew = before.every((one) => answerTo(right, one) !== expectedOf(facts));
  if (isNew && !isWrong(right, request, reply)) right.kept.set(name, [...before, request]);
}

/** The right answer to a lookup, as far as lookups with other ones tell more. */
export const expectedOf = ({ user, deposit, key, parameter }: Facts): string =>
  user?.user_id ?? deposit?.reference_id ?? `${key === 'accepted'} ${parameter === 'plain'}`;

const answerTo = ({ options }: RightBefore, request: Request): string =>
  expectedOf(factsOf(options.present.known, request)!);

/** How many different right answers an endpoint gave. */
export const varietyAt = (right: RightBefore, endpoint: Endpoint): number =>
  new Set(
    [...right.kept].flatMap(([name, some]) =>
      isOf(endpoint, name) ? some.map((one) => answerTo(right, one)) : [],
    ),
  ).size;

/** Whether nobody gets a right answer any more, at either endpoint. */
export const isEverything = ({ kept }: RightBefore, lost: ReadonlySet<string>): boolean =>
  [...kept.keys()].every((name) => lost.has(name)) &&
  endpointNames.every((endpoint) => [...lost].some((name) => isOf(endpoint, name)));

/** Asks again for what was right before. Returns the kind of a suspect answer. */
export async function ask(right: RightBefore, name: string, nth: number): Promise<Kind | undefined> {
  const { request, reply } = await askKept(right, name, nth);
  return kindOf(right, request, reply);
}

async function askKept(right: RightBefore, name: string, nth: number): Promise<Exchange> {
  const some = right.kept.get(name)!;
  const request = some[nth % some.length]!;
  return { request, reply: await right.options.askOnce(request) };
}

async function lostNow(right: RightBefore): Promise<ReadonlySet<string>> {
  const names = new Set<string>();
  for (const name of right.kept.keys()) if ((await ask(right, name, 0)) !== undefined) names.add(name);
  return names;
}

/** Finds out whether what was right before is so now, and waits for it. */
export async function examine(right: RightBefore, request: Request): Promise<Found> {
  const { present, clock, budget, limiter, deadline, askOnce } = right.options;
  const name = askedFor(right, request);
  const { endpoint } = request;
  const plain = lookupOf(endpoint, findableId(endpoint, present.known), { credential: { as: 'none' } });
  let inVain: Exchange | undefined;
  const isGood = async (nth: number) => {
    const asked =
      name === undefined ? { request: plain, reply: await askOnce(plain) } : await askKept(right, name, nth);
    if (kindOf(right, asked.request, asked.reply) === undefined) return true;
    inVain ??= asked;
    return false;
  };
  for (let nth = 0; nth < AT_ONCE; nth++) if (await isGood(nth)) return NOTHING;
  if (budget.ended() !== undefined) return UNKNOWN;
  const lost = await lostNow(right);
  const endsAt = clock.now() + MAX_MS;
  for (let nth = 0; clock.now() < endsAt && budget.ended() === undefined; nth++) {
    const until = Math.min(clock.now() + PAUSE_MS, deadline);
    await sleep(limiter, { until, reason: 'lost-target', why: waitWords['lost-target'] });
    if (await isGood(nth)) return { is: 'over', lost, inVain: inVain! };
  }
  return name === undefined ? UNKNOWN : { is: 'lasting', lost: await lostNow(right) };
}
