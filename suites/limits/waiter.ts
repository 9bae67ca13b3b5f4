import { endpointNames, type Endpoint } from '../../schemas/endpoints.ts';
import type { RunRecord } from '../../schemas/generated/types.ts';
import { defined } from '../../schemas/defined.ts';
import { trouble, type Answer, type Trouble } from '../answer.ts';
import type { Budget } from '../engine/budget.ts';
import type { RunOptions } from '../engine/run-options.ts';
import {
  accountOf,
  limitOf,
  limitShownBy,
  LIMITED_UNTIL_END,
  MARGIN_MS,
  newLimits,
  nextTurn,
  reduce,
  type Asked,
  type LimitEvent,
  type Limits,
  type Remark,
  type Turn,
} from './account.ts';
import { advertisedBy, policiesOf, requestedWait } from './advertised.ts';
import type { RateLimit } from './limit.ts';

/** A wait for a limiter. Times are in ms of the engine's clock. */
export interface Wait {
  readonly endpoint: Endpoint;
  readonly until: number;
  /** Such as `Retry-After 297 s`. */
  readonly why: string;
}

export interface WaiterOptions extends Pick<RunOptions, 'clock' | 'signal' | 'maxDurationMs'> {
  readonly budget: Pick<Budget, 'ended'>;
  readonly stated: Readonly<Partial<Record<Endpoint, RateLimit>>>;
  /** When the run must end, in ms of the clock. */
  readonly deadline: number;
  /** Called when a wait begins. */
  readonly onWait?: (wait: Wait) => void;
  /** Called with all limits, as far as they are known, some time after answers showed another one. */
  readonly onLimits?: (limits: KnownLimits) => void;
  /** Called with what a person should know, such as a contradiction. */
  readonly onRemark?: (remark: Remark) => void;
}

type KnownLimits = Readonly<Partial<Record<Endpoint, RateLimit>>>;

/**
 * Keeps requests below the limits that are stated, advertised or learned, and waits after a 429.
 *
 * A request counts from its sending until one window after its answer. So the threshold is not crossed, whatever the
 * latency, with fixed and with sliding windows.
 */
export interface Waiter {
  readonly options: WaiterOptions;
  /** What the run knows. Only `reduce` changes it. */
  limits: Limits;
  /** Limits that answers showed, since when `onLimits` does not know them, and when it may be called again (ms). */
  known: KnownLimits;
  changedAt: number | undefined;
  nextTellAt: number;
  readonly startedAt: number;
  /** Wakes those who wait for a reply. */
  readonly waiting: Set<() => void>;
  /** Requests that wait for a time. */
  readonly queue: Set<Pick<Wait, 'endpoint' | 'until'>>;
  /** When each endpoint answered last, in ms. */
  readonly lastAnswers: Map<Endpoint, number>;
  /** How long the run waited, and until when. */
  readonly waits: Map<Endpoint, { readonly sumMs: number; readonly until: number }>;
}

/** A waiter that knows the stated limits. */
export const createWaiter = (options: WaiterOptions): Waiter => ({
  options,
  limits: newLimits(options.stated, { deadline: options.deadline, runMs: options.maxDurationMs }),
  known: options.stated,
  changedAt: undefined,
  nextTellAt: 0,
  startedAt: options.clock.now(),
  waiting: new Set(),
  queue: new Set(),
  lastAnswers: new Map(),
  waits: new Map(),
});

function note(waiter: Waiter, event: LimitEvent): void {
  const { options, known, limits: before } = waiter;
  const limits = reduce(before, event);
  waiter.limits = limits;
  if (limits.remarks !== before.remarks)
    for (const remark of limits.remarks.slice(before.remarks.length)) options.onRemark?.(remark);
  wakeAll(waiter);
  if (limits.remarks !== before.remarks || (isGivenUp(limits, event) && !isGivenUp(before, event))) {
    waiter.changedAt ??= options.clock.now();
    if (waiter.nextTellAt < Infinity) waiter.nextTellAt = 0;
  }
  const shown = limitShownBy(limits, event);
  if (shown !== undefined && !isLike(shown, known[event.endpoint])) {
    waiter.known = { ...known, [event.endpoint]: shown };
    waiter.changedAt ??= options.clock.now();
  }
  tellLimits(waiter, SETTLED_MS);
}

const isGivenUp = ({ endpoints }: Limits, { endpoint, key }: LimitEvent) =>
  accountOf(endpoints[endpoint], key).refusal?.gaveUp !== undefined;

/** The first refusals of a limit that keys or endpoints share show it in parts, within this time (ms). */
const SETTLED_MS = 1000;

/** Limits are told again only once a run has lasted so many times as long: some change with each refusal. */
const LATER = 4;

/** Tells the limits if they changed, at least `afterMs` ago. */
export function tellLimits(waiter: Waiter, afterMs = 0): void {
  const { changedAt, nextTellAt, startedAt, known, options } = waiter;
  const now = options.clock.now();
  if (changedAt === undefined || now < changedAt + afterMs || now < nextTellAt) return;
  waiter.changedAt = undefined;
  waiter.nextTellAt = startedAt + LATER * (now - startedAt);
  options.onLimits?.(known);
}

/** Limits are not told any more: what is left of the run does not depend on them. */
export const stopTelling = (waiter: Waiter): void => void (waiter.nextTellAt = Infinity);

function wakeAll({ waiting }: Waiter): void {
  if (waiting.size === 0) return;
  for (const wake of waiting) wake();
  waiting.clear();
}

/** When a request may be sent that does not wait yet. Those that waited until now come first. */
export function turnOf({ limits, queue, options: { clock } }: Waiter, asked: Asked): Turn {
  const now = clock.now();
  const isNext = ({ endpoint, until }: Pick<Wait, 'endpoint' | 'until'>) =>
    endpoint === asked.endpoint && until <= now;
  return asked.cost > 0 && queue.size > 0 && [...queue].some(isNext)
    ? { kind: 'reply' }
    : nextTurn(limits, asked, now);
}

/** Waits for the next reply that may change a turn. */
export const untilReply = ({ waiting }: Waiter): Promise<void> =>
  new Promise((resolve) => waiting.add(resolve));

/** Waits, and adds the time to the sum of the endpoint. Several requests may wait at once. */
export async function sleep(waiter: Waiter, { endpoint, until, why }: Wait): Promise<void> {
  const { waits, options } = waiter;
  const { clock, signal, onWait } = options;
  const now = clock.now();
  if (until <= now) return;
  const before = waits.get(endpoint) ?? { sumMs: 0, until: 0 };
  const from = Math.max(now, before.until);
  if (until > from) {
    waits.set(endpoint, { sumMs: before.sumMs + until - from, until });
    onWait?.({ endpoint, until, why });
  }
  if (waiter.changedAt !== undefined && until > now + SETTLED_MS) {
    await clock.sleep(SETTLED_MS, signal);
    tellLimits(waiter, SETTLED_MS);
  }
  await clock.sleep(until - clock.now(), signal);
}

/** Waits until a request may be sent, at most until `until` (ms). Returns trouble if it may not be sent. */
export async function admit(
  waiter: Waiter,
  asked: Asked,
  until = Number.POSITIVE_INFINITY,
): Promise<Trouble | undefined> {
  const { budget, deadline } = waiter.options;
  for (;;) {
    const end = budget.ended();
    if (end !== undefined) return end;
    const turn = nextTurn(waiter.limits, asked, waiter.options.clock.now());
    if (turn.kind === 'never') return trouble('rate-limited', turn.why);
    if (turn.kind === 'now') break;
    if (turn.kind === 'reply') await untilReply(waiter);
    // Fail at once instead of a wait that cannot succeed.
    else if (turn.at >= Math.min(until, deadline)) return trouble('rate-limited', LIMITED_UNTIL_END);
    else {
      const wait = { endpoint: asked.endpoint, until: turn.at, why: turn.why };
      waiter.queue.add(wait);
      await sleep(waiter, wait);
      waiter.queue.delete(wait);
      wakeAll(waiter);
    }
  }
  note(waiter, { ...asked, kind: 'sent' });
  return undefined;
}

/**
 * Records the reply to a request.
 *
 * @param counted whether it counted, judged by its answer
 * @param isAdmitted whether it waited for its turn
 */
export function recordReply(
  waiter: Waiter,
  asked: Asked,
  reply: Answer | undefined,
  counted: boolean,
  isAdmitted: boolean,
): void {
  const at = waiter.options.clock.now();
  waiter.lastAnswers.set(asked.endpoint, at);
  const ended = { ...asked, at, isAdmitted, counted };
  if (reply === undefined) return note(waiter, { ...ended, kind: 'lost', sentAt: at, policies: [] });
  const isRefused = reply.status === 429;
  note(waiter, {
    ...ended,
    kind: isRefused ? 'refused' : 'answered',
    sentAt: reply.sentAt,
    policies: policiesOf(reply),
    ...(isRefused ? { wanted: requestedWait(reply, at) } : { advertised: advertisedBy(reply, at) }),
  });
}

/** Allows another try for a key that was given up. */
export const allowRetry = (waiter: Waiter, asked: Asked): void => note(waiter, { ...asked, kind: 'retry' });

/** Waits until the run got no reply for `ms`. */
export async function waitForQuiet(waiter: Waiter, endpoint: Endpoint, ms: number): Promise<void> {
  const { clock, signal, deadline } = waiter.options;
  const end = () => Math.min(Math.max(...waiter.lastAnswers.values()) + ms + MARGIN_MS, deadline);
  while (end() > clock.now() && !signal.aborted) await sleep(waiter, { endpoint, until: end(), why: REST });
}

/** The longest window of an endpoint that was stated, or advertised or learned instead, in ms; 0 if none is known. */
export const longestWindowMs = ({ limits, options: { stated } }: Waiter, endpoint: Endpoint): number =>
  Math.max(stated[endpoint]?.windowMs ?? 0, limitOf(limits.endpoints[endpoint])?.windowMs ?? 0);

/** Whether the target showed that it does not have the stated limit. */
export const isContradicted = ({ limits }: Waiter, endpoint: Endpoint): boolean =>
  limits.remarks.some((one) => one.endpoint === endpoint && one.kind === 'contradiction');

/** What the run knows about limiters, for its record. */
export function figuresOf({ limits, waits }: Waiter): Omit<RunRecord['rateLimited'], 'answers'> {
  const endpoints = endpointNames.map((endpoint) => {
    const limit = limitOf(limits.endpoints[endpoint]);
    const own = limits.remarks.filter((one) => one.endpoint === endpoint);
    const remarks = own.filter(({ kind }) => kind !== 'contradiction').map(({ words }) => words);
    return {
      endpoint,
      waitedMs: Math.round(waits.get(endpoint)?.sumMs ?? 0),
      ...defined({
        limit:
          limit?.pace === undefined
            ? limit && { requests: limit.most, windowSeconds: limit.windowMs / 1000, source: limit.source }
            : undefined,
        contradiction: own.find(({ kind }) => kind === 'contradiction')?.words,
        remarks: remarks.length === 0 ? undefined : remarks,
      }),
    };
  });
  return {
    waitedMs: endpoints.reduce((sum, { waitedMs }) => sum + waitedMs, 0),
    endpoints,
    ...(limits.ignored.length > 0 && { ignored: [...limits.ignored] }),
  };
}

/** Whether two limits are the same, as far as a plan is concerned. */
const isLike = (one: RateLimit, other: RateLimit | undefined): boolean =>
  other !== undefined &&
  (one.scope ?? 'key') === (other.scope ?? 'key') &&
  [one.most / other.most, one.windowMs / other.windowMs].every((ratio) => ratio > 0.8 && ratio < 1.25);

const REST = 'a rest before a burst';
