import type { Endpoint } from '../../schemas/endpoints.ts';
import type { WaitReason } from '../../schemas/generated/types.ts';
import { waitWords } from '../../schemas/progress.ts';
import { trouble, type Answer, type Trouble } from '../answer.ts';
import { accountIn, createAccounts, usedIn } from './accounts.ts';
import {
  contradictionOf,
  describeLimit,
  LIMITED_UNTIL_END,
  nextPause,
  retryAfterMs,
  type Account,
  type Asked,
  type RateLimit,
  type Scope,
} from './limit.ts';

/** When a request may be sent. `reply`: that depends on a reply. */
export type Turn =
  | { readonly kind: 'now' }
  | ({ readonly kind: 'at'; readonly at: number } & Cause)
  | { readonly kind: 'reply' }
  | { readonly kind: 'never'; readonly why: string };

/** Why something waits, in a word and in words, such as `429, Retry-After 297 s`. */
interface Cause {
  readonly reason: WaitReason;
  readonly why: string;
}

/** A wait, for the limiter of an endpoint or for something else, and its end in ms of the engine's clock. */
export interface Wait extends Cause {
  readonly endpoint?: Endpoint;
  readonly until: number;
}

type KnownLimits = Readonly<Partial<Record<Endpoint, RateLimit>>>;

export interface LimiterOptions {
  /** Times are in ms. */
  readonly clock: {
    readonly now: () => number;
    readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  };
  readonly signal: AbortSignal;
  /** Why the run has ended, or a part of it that ends at a time; undefined if it goes on. */
  readonly budget: { readonly ended: (until?: number) => Trouble | undefined };
  readonly stated: KnownLimits;
  /** Whose requests count together, if the fixture states it. */
  readonly scope?: Scope | undefined;
  /** When lookups and the run must end, in ms of the clock. */
  readonly lookupsEndAt: number;
  readonly deadline: number;
  /** Counted requests that lookups leave for what comes after them. */
  readonly reserved: Readonly<Record<Endpoint, number>>;
  /** Called when a wait begins. */
  readonly onWait?: (wait: Wait) => void;
  /** Called with what a person should know, such as a contradiction. */
  readonly onRemark?: (words: string) => void;
}

export type Limiter = ReturnType<typeof createLimiter>;

/** Keeps requests below the stated limits, and pauses a key on an endpoint after a 429. */
export const createLimiter = (options: LimiterOptions) => ({
  options,
  /** The stated limits that requests are kept below. */
  paced: { ...options.stated } as Partial<Record<Endpoint, RateLimit>>,
  accounts: createAccounts(options.scope),
  /** Endpoints of which it is being found out whose limit it is. */
  learning: new Map<Endpoint, Promise<void>>(),
  /** Endpoints that answered 429 to a request that should be free: pauses are for all requests of a key. */
  blockingAll: new Set<Endpoint>(),
  remarks: new Map<Endpoint, string>(),
  /** Wakes those who wait for a reply. */
  waiting: new Set<() => void>(),
  /** Requests that wait for a time. */
  queue: new Set<Wait>(),
  /** When each endpoint answered last, in ms. */
  lastAnswers: new Map<Endpoint, number>(),
  /** What the run waited for, each moment once for each endpoint. Times are in ms of the clock. */
  waits: [] as (Wait & { readonly from: number })[],
});

/** Clocks round. */
const MARGIN_MS = 20;

const accountOf = ({ accounts }: Limiter, asked: Asked): Account => accountIn(accounts, asked);

/** When a request may be sent. @param leaves counted requests of a stated limit that it leaves */
function nextTurn(limiter: Limiter, asked: Asked, now: number, leaves = 0): Turn {
  const account = accountOf(limiter, asked);
  const { pause, inFlight } = account;
  if (pause !== undefined && (asked.cost > 0 || pause.blocksAll)) {
    if (pause.gaveUp !== undefined) return { kind: 'never', why: pause.gaveUp };
    const { until, reason, why } = pause;
    if (now < until) return { kind: 'at', at: until, reason, why };
    // One request shows whether it has ended.
    if (inFlight[1] + (pause.blocksAll ? inFlight[0] : 0) > 0) return { kind: 'reply' };
  }
  const limit = limiter.paced[asked.endpoint];
  if (limit === undefined || asked.cost === 0 || asked.key === '') return { kind: 'now' };
  const isLive = (at: number) => at + limit.windowMs + MARGIN_MS > now;
  while (account.counted[0] !== undefined && !isLive(account.counted[0])) account.counted.shift();
  // Whose limit it is shows too late in the last window.
  const isLast = now + limit.windowMs > limiter.options.lookupsEndAt;
  const { counted, inFlight: waiting } = isLast ? usedIn(limiter.accounts, asked, account, isLive) : account;
  const used = counted.length + waiting[1];
  const most = Math.max(1, limit.most - 1 - leaves);
  if (used < most) return { kind: 'now' };
  const frees = counted[used - most];
  if (frees === undefined) return { kind: 'reply' };
  const why = `stated limit, ${describeLimit(limit)}`;
  return { kind: 'at', at: frees + limit.windowMs + MARGIN_MS, reason: 'stated-limit', why };
}

/** When a lookup may be sent. Those that waited until now come first. */
export function turnOf(limiter: Limiter, asked: Asked): Turn {
  const now = limiter.options.clock.now();
  const isNext = ({ endpoint, until }: Wait) => endpoint === asked.endpoint && until <= now;
  if (asked.cost > 0 && [...limiter.queue].some(isNext)) return { kind: 'reply' };
  return nextTurn(limiter, asked, now, reserveAt(limiter, asked, now));
}

/** What counts until the lookups end is not there for what follows them: so many requests are left. */
function reserveAt({ paced, options }: Limiter, { endpoint }: Asked, now: number): number {
  const { lookupsEndAt, reserved } = options;
  return now + (paced[endpoint]?.windowMs ?? 0) > lookupsEndAt ? reserved[endpoint] : 0;
}

/** The key whose request may be sent first. */
export function firstKey(limiter: Limiter, asked: Asked, keys: readonly string[]): string {
  const now = limiter.options.clock.now();
  const rank = (key: string) => {
    const turn = nextTurn(limiter, { ...asked, key }, now);
    return { now: 0, reply: now + 1, at: turn.kind === 'at' ? turn.at : 0, never: Infinity }[turn.kind];
  };
  return keys.toSorted((one, other) => rank(one) - rank(other))[0]!;
}

/** Wakes those who wait for a reply: their turns may have changed. */
export function wakeAll({ waiting }: Limiter): void {
  for (const wake of waiting) wake();
  waiting.clear();
}

/** Waits for the next reply that may change a turn. */
export const untilReply = ({ waiting }: Limiter): Promise<void> =>
  new Promise((resolve) => waiting.add(resolve));

/** Waits, and notes it. Several requests may wait at once. */
export async function sleep({ waits, options }: Limiter, wait: Wait, signal = options.signal): Promise<void> {
  const { clock, onWait } = options;
  const { endpoint, until } = wait;
  const before = waits.findLast((one) => one.endpoint === endpoint);
  const from = Math.max(clock.now(), before?.until ?? 0);
  if (until > from) {
    waits.push({ ...wait, from });
    onWait?.(wait);
  }
  await clock.sleep(Math.max(0, until - clock.now()), signal);
}

/**
 * Waits until a request may be sent, at most until `until` (ms). Returns trouble if it may not be sent.
 *
 * @param isReserved whether what lookups leave of a limit is for it
 */
export async function admit(
  limiter: Limiter,
  asked: Asked,
  until = Infinity,
  isReserved = false,
): Promise<Trouble | undefined> {
  const { budget, deadline, clock } = limiter.options;
  for (;;) {
    const end = budget.ended();
    if (end !== undefined) return end;
    const now = clock.now();
    const isBeside = until <= limiter.options.lookupsEndAt && !isReserved;
    const leaves = isBeside ? reserveAt(limiter, asked, now) : 0;
    const turn = nextTurn(limiter, asked, now, leaves);
    if (turn.kind === 'never') return trouble('rate-limited', turn.why);
    if (turn.kind === 'now') break;
    if (turn.kind === 'reply') await untilReply(limiter);
    // Fail at once instead of a wait that cannot succeed.
    else if (turn.at >= Math.min(until, deadline)) return trouble('rate-limited', LIMITED_UNTIL_END);
    else {
      const wait = { ...turn, endpoint: asked.endpoint, until: turn.at };
      limiter.queue.add(wait);
      await sleep(limiter, wait);
      limiter.queue.delete(wait);
      wakeAll(limiter);
    }
  }
  accountOf(limiter, asked).inFlight[asked.cost]++;
  return undefined;
}

/** How a request ended: whether it counted, judged by its answer, and whether it waited for its turn. */
interface Ended {
  readonly counted: boolean;
  readonly isAdmitted: boolean;
}

/** Records the reply to a request; undefined if there was none. Returns whether it begins or prolongs a pause. */
export function recordReply(limiter: Limiter, asked: Asked, reply: Answer | undefined, how: Ended): boolean {
  const account = accountOf(limiter, asked);
  const { pause } = account;
  const now = limiter.options.clock.now();
  limiter.lastAnswers.set(asked.endpoint, now);
  if (how.isAdmitted) account.inFlight[asked.cost]--;
  if (reply?.status !== 429) {
    account.hasPassed ||= reply !== undefined;
    if (how.counted) account.passed++;
    if (pause !== undefined && reply !== undefined && reply.sentAt > pause.from && reply.sentAt < pause.until)
      pause.isDisturbed = true;
    if (reply !== undefined && how.isAdmitted) passed(account, asked, reply);
    const limit = limiter.paced[asked.endpoint];
    if (limit !== undefined) (how.counted ? account.counted : account.free).push(now);
    if (limit !== undefined) account.free = account.free.filter((at) => at > now - limit.windowMs);
  }
  // A burst teaches nothing about waits.
  const isPause = reply?.status === 429 && how.isAdmitted && refused(limiter, asked, reply);
  wakeAll(limiter);
  return isPause;
}

function passed(account: Account, { cost }: Asked, { sentAt }: Answer): void {
  const { pause } = account;
  // Where nothing passes during a pause, anything that passes shows its end.
  if (pause === undefined || sentAt < pause.until || (cost === 0 && !pause.blocksAll)) return;
  account.enoughMs = sentAt - pause.since;
  account.pause = undefined;
}

function refused(limiter: Limiter, asked: Asked, answer: Answer): boolean {
  const { endpoint, cost } = asked;
  const account = accountOf(limiter, asked);
  const { pause } = account;
  if (cost === 0) limiter.blockingAll.add(endpoint);
  const blocksAll = limiter.blockingAll.has(endpoint);
  if (pause !== undefined && answer.sentAt < pause.until) {
    pause.blocksAll ||= blocksAll;
    return false;
  }
  const askedMs = retryAfterMs(answer);
  const { clock, deadline, stated } = limiter.options;
  const now = clock.now();
  const next = nextPause(account, {
    askedMs,
    leftMs: deadline - now,
    stated: stated[endpoint],
  });
  account.pause = {
    ...next,
    since: pause?.since ?? answer.sentAt,
    from: now,
    until: now + next.ms + MARGIN_MS,
    tries: (pause?.tries ?? 0) + 1,
    blocksAll,
    isDisturbed: false,
  };
  return true;
}

/** Remarks on a first 429 that comes before the stated limit. A statement that is wrong in its window slows nothing. */
export function compareWithStated(limiter: Limiter, asked: Asked, answer: Answer): void {
  const { options, paced, remarks } = limiter;
  const { endpoint, key } = asked;
  const limit = paced[endpoint];
  const account = accountOf(limiter, asked);
  if (limit === undefined || key === '' || remarks.has(endpoint) || account.pause?.tries !== 1) return;
  const askedMs = retryAfterMs(answer);
  const words = contradictionOf(
    limit,
    { ...account, ...usedIn(limiter.accounts, asked, account) },
    options.clock.now(),
    askedMs,
  );
  if (words === undefined) return;
  remarks.set(endpoint, words);
  options.onRemark?.(`${endpoint}: ${words}`);
  if ((askedMs ?? 0) > limit.windowMs + 1000) delete paced[endpoint];
}

/** Ends the pause of a key that was seen to be free. */
export const endPause = (limiter: Limiter, asked: Asked): void =>
  void (accountOf(limiter, asked).pause = undefined);

/** Allows another try for a key that was given up. */
export function allowRetry(limiter: Limiter, asked: Asked): void {
  if (accountOf(limiter, asked).pause?.gaveUp !== undefined) endPause(limiter, asked);
}

/** Waits until the run got no reply for `ms`. */
export async function waitForQuiet(limiter: Limiter, endpoint: Endpoint, ms: number): Promise<void> {
  const { clock, signal, deadline } = limiter.options;
  const end = () => Math.min(Math.max(...limiter.lastAnswers.values()) + ms, deadline);
  while (end() > clock.now() && !signal.aborted)
    await sleep(limiter, { endpoint, until: end(), reason: 'rest', why: waitWords.rest });
}

/** The stated window, or the longest pause of a key, in ms; 0 if none is known. */
export const longestWindowMs = ({ accounts, options }: Limiter, endpoint: Endpoint): number =>
  Math.max(
    options.stated[endpoint]?.windowMs ?? 0,
    ...[...accounts.byName].flatMap(([name, { enoughMs, pause }]) =>
      name.startsWith(endpoint) ? [enoughMs ?? 0, pause?.ms ?? 0] : [],
    ),
  );
