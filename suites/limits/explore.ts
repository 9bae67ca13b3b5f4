import { endpointNames, type Endpoint } from '../../schemas/endpoints.ts';
import type { Known } from '../known.ts';
import type { Request } from '../request.ts';
import type { Context } from '../scenario-context.ts';
import { requestedWait } from './advertised.ts';
import { askWhileLimited, type WhileLimited } from './limited.ts';
import {
  driveToLimit,
  hasRefusal,
  MAX_WITHOUT_LIMIT,
  stream,
  type RefusedStream,
  type Stream,
} from './burst.ts';
import { historyOf, type Burst } from './history.ts';
import { judgeBurst, judgeBursts, type LimitJudgement } from './judge-bursts.ts';
import { findableLookup, kinds, lookupsOfMembers, supplyOf, type Supply } from './kinds.ts';
import {
  BURST_WINDOWS,
  decidingMs,
  MAX_WINDOW_TO_COUNT,
  REST_WINDOWS,
  statedLimit,
  type RateLimit,
} from './limit.ts';

const MARGIN_MS = 50;

/** What a run found out about the limiter of an endpoint. Times are in ms. */
export interface Exploration {
  /** One stream for each kind of request, up to the first kind that got 429. */
  readonly streams: readonly Stream[];
  /** Bursts of the last kind. */
  readonly bursts: readonly Burst[];
  /** Missing without a stated limit or without enough time. */
  readonly judgement?: LimitJudgement | undefined;
  readonly limited?: Limited | undefined;
  /** Whether the limiter was at rest before the first request. */
  readonly isRested: boolean;
}

/** A limiter that answered 429. */
export interface Limited extends WhileLimited, Awaited<ReturnType<typeof recover>> {
  readonly first: RefusedStream;
  /** Lookups of members: more than the limit of failed lookups. Only for user-status. */
  readonly members?: Stream | undefined;
  /** Whether other kinds of requests count too, by name; missing without enough time. */
  readonly counting?: Readonly<Record<string, boolean>> | undefined;
}

interface Search {
  readonly endpoint: Endpoint;
  readonly context: Context;
  readonly known: Known;
  readonly supply: Supply;
  readonly stated: RateLimit | undefined;
  /** The stated limit, if there is time to compare it. */
  readonly limit: RateLimit | undefined;
  /** Rest before a burst, in ms. */
  readonly restMs: number;
}

/** Triggers the rate limit, probes which other keys are limited, and waits for recovery. Done once per run. */
export function explore(endpoint: Endpoint, { once }: Context, known: Known): Promise<Exploration> {
  return once(`limiter of ${endpoint}`, async (context) => {
    const stated = statedLimit(endpoint, known);
    // Without time to rest before a burst, an early 429 may be correct. Without a limit, assumes that of the other endpoint.
    const windows = [endpoint, ...endpointNames].map(context.longestWindowMs);
    const restMs = REST_WINDOWS * (windows.find((ms) => ms > 0) ?? 0);
    const isCompared = stated !== undefined && context.leftMs() > restMs + BURST_WINDOWS * stated.windowMs;
    const limit = isCompared ? stated : undefined;
    const streams: Stream[] = [];
    let exploration: Exploration = { streams, bursts: [], isRested: false };
    for (const kind of kinds[endpoint]) {
      const search = { endpoint, context, known, supply: supplyOf(kind, known), stated, limit, restMs };
      const { first, ...shown } = await sendBursts(search);
      streams.push(first);
      exploration = { streams, ...shown };
      if (shown.limited !== undefined)
        return { ...exploration, limited: await countOthers(shown.limited, search) };
      const finding = limit && judgeBurst(shown.bursts.at(-1)!, limit);
      if (first.trouble !== undefined || finding?.kind === 'instead' || finding?.kind === 'lost') break;
    }
    return exploration;
  });
}

/**
 * Sends bursts of one kind, each from rest, until they decide about a limit. Without one, a single burst shows whether
 * 429 comes at all.
 */
async function sendBursts(
  search: Search,
): Promise<Omit<Exploration, 'streams'> & { readonly first: Stream }> {
  const { endpoint, context, known, supply, limit, restMs } = search;
  const isRested = limit !== undefined || (restMs > 0 && restMs <= context.leftMs() / 4);
  const bursts: Burst[] = [];
  let judgement: LimitJudgement | undefined;
  let limited: Limited | undefined;
  let asked: WhileLimited | undefined;
  const askOnce = async () => {
    if (asked !== undefined) return [];
    asked = await askWhileLimited(endpoint, context, known, supply);
    return asked.history;
  };
  for (;;) {
    const isPaused = judgement?.kind === 'again' && judgement.isPaused;
    if (isRested) await context.waitForQuiet(endpoint, restMs);
    if (limit !== undefined) await context.wait(untilPhase(bursts, limit, isPaused, context.now()));
    const { first, burst } = await driveToLimit(context, limit, supply, isPaused, askOnce);
    bursts.push(burst);
    judgement = limit && judgeBursts(bursts, limit);
    const isCut = isCutOff(first);
    let isMore = limit === undefined ? isCut && bursts.length === 1 : judgement?.kind === 'again';
    if (isMore && isCut && !(await isBack(search))) {
      isMore = false;
      judgement = limit && { kind: 'open', finding: judgeBurst(burst, limit) };
    }
    if (hasRefusal(first)) {
      const recovered = await recover(search, asked!.plain, first, burst);
      limited = { first, ...asked!, ...recovered, ...limited, recovery: recovered.recovery };
      // The key may still be limited: another burst would show nothing.
      isMore &&= recovered.recovery.kind === 'answer';
    }
    if (isMore && (limit === undefined || hasTime(context, limit))) continue;
    if (judgement?.kind === 'again' && judgement.soFar !== undefined) judgement = judgement.soFar;
    return { first: limited?.first ?? first, bursts, judgement, limited, isRested };
  }
}

/** Whether the target stopped answering before it refused a request. It may be gone, or restart. */
const isCutOff = ({ history, refusal }: Stream) =>
  refusal === undefined && history.at(-1)?.receivedAt === Infinity;

/** Whether the target answers again. */
const isBack = async ({ endpoint, context, known }: Search) => {
  const [reply] = await context.send(findableLookup(endpoint, known));
  return reply?.kind === 'answer';
};

/** Whether there is time for two windows of rest and a burst. */
const hasTime = (context: Context, { windowMs }: RateLimit) =>
  context.leftMs() > (REST_WINDOWS + BURST_WINDOWS) * windowMs;

/** Phase shift between bursts, as a fraction of the window. It also shifts within a half to a sixth of the window. */
const PHASE = 0.57;

/** Time (ms) until the next burst may begin, at another phase of the window. */
function untilPhase(
  bursts: readonly Burst[],
  { windowMs }: RateLimit,
  isPaused: boolean,
  now: number,
): number {
  // After one with pauses, the same phase as before it would show nothing new.
  const last = bursts.findLast((one) => isPaused || !one.isPaused) ?? bursts.at(-1);
  if (last === undefined) return 0;
  const sinceWanted = now - last.startedAt - PHASE * windowMs;
  return Math.ceil(sinceWanted / windowMs) * windowMs - sinceWanted;
}

/**
 * Waits for the end of a known window, then until a request passes.
 *
 * @param plain the first request that passes. If it shows data, requirements about lookups judge that
 */
async function recover(
  { endpoint, context, stated }: Search,
  plain: Request,
  { refusal }: RefusedStream,
  { startedAt, history }: Burst,
) {
  const leftMs = stated === undefined ? 0 : startedAt + stated.windowMs + MARGIN_MS - context.now();
  // If the run ends before the window, leave its time to the other endpoint.
  if (leftMs > 0 && leftMs < context.leftMs()) await context.wait(leftMs);
  const refused = [refusal.reply];
  const recovery = await context.sendUntilAllowed(plain, (answer) => refused.push(answer));
  const last = refused.at(-1)!;
  const all = [...history, ...historyOf(refused.slice(1), startedAt)];
  const refusals = all.filter(({ result }) => result === 'refused');
  const windows = [stated?.windowMs, context.longestWindowMs(endpoint)];
  const wanted = requestedWait(last, last.receivedAt);
  const isKnown = wanted !== undefined || windows.some((ms = 0) => ms > 0);
  const gaps = refusals.slice(1).map(({ sentAt }, at) => sentAt - refusals[at]!.receivedAt);
  return {
    /** The reply to a lookup after the wait. */
    recovery,
    /** From the first counted request to the last one refused before recovery. */
    refusedMs: Math.max(...refusals.map(({ sentAt }) => sentAt - startedAt)),
    /** From the first counted request to the first one after recovery. */
    recoveryMs: context.now() - startedAt,
    /** The longest time between two refusals in which nothing was sent. */
    quietMs: Math.max(0, ...gaps),
    /** A key that is refused after so much time does not recover; undefined if no window is known. */
    decidingMs: isKnown ? decidingMs(windows, wanted?.ms) : undefined,
  };
}

/** Checks whether lookups of members and other kinds of requests count. On deposit-check, every request counts. */
async function countOthers(limited: Limited, search: Search): Promise<Limited> {
  const { endpoint, context, known, stated } = search;
  const { first, recovery, recoveryMs } = limited;
  if (endpoint !== 'user-status' || recovery.kind !== 'answer') return limited;
  // The recovery request counts in the current window.
  let members =
    known.members.length > 0 ? await sendMembers(context, known, first.passed, stated) : undefined;
  if (members?.refusal !== undefined) {
    // Earlier requests may still count, at another machine too: rest and try again.
    const { reply } = members.refusal;
    const askedMs = requestedWait(reply, reply.receivedAt)?.ms ?? 0;
    await context.waitForQuiet(endpoint, 2 * (stated?.windowMs ?? Math.max(recoveryMs, askedMs)));
    members = await sendMembers(context, known, first.passed, stated);
  }
  const counting =
    stated !== undefined && members?.refusal === undefined && hasTimeToCount(context, stated)
      ? await measureCounting(search, stated)
      : undefined;
  if (members?.refusal !== undefined || counting !== undefined)
    await context.send(findableLookup(endpoint, known));
  return { ...limited, members, counting };
}

/** Sends more lookups of members than the limit of failed lookups. */
export function sendMembers(
  context: Context,
  known: Known,
  passed: number,
  limit: RateLimit | undefined,
): Promise<Stream> {
  const most = Math.min(2 * passed + 2, MAX_WITHOUT_LIMIT);
  const withinMs = Math.min(1000, (limit?.windowMs ?? 1000) / 2);
  return stream(context, supplyOf(lookupsOfMembers, known), [{ most, withinMs }]);
}

/** Minimum limit of which a half and a quarter differ enough. */
const MIN_LIMIT_TO_COUNT = 8;

const hasTimeToCount = (context: Context, { most, windowMs }: RateLimit) =>
  most >= MIN_LIMIT_TO_COUNT && windowMs <= MAX_WINDOW_TO_COUNT && context.leftMs() > 2 * windowMs;

/**
 * Which other kinds of requests count (Limits: not shown). Spends half of the limit on one kind and a quarter on the
 * next, then measures the rest.
 *
 * @returns whether each kind counts, by name; undefined if the rest is ambiguous
 */
async function measureCounting({ endpoint, context, known, supply }: Search, { most }: RateLimit) {
  const others = kinds[endpoint]
    .filter(({ name }) => name !== supply.kind)
    .map((kind, at) => ({ kind, spent: Math.floor(most / 2 ** (at + 1)) }));
  for (const { kind, spent } of others)
    await context.burst(...Array.from({ length: spent }, supplyOf(kind, known).next));
  const { passed } = await stream(context, supply, [{ most: most + 1 }]);
  let used = most - passed;
  const counting = others.map(({ kind, spent }): readonly [string, boolean] => {
    const isCounted = used >= spent;
    if (isCounted) used -= spent;
    return [kind.name, isCounted];
  });
  // The recovery request may belong to this window or to an earlier one.
  return used === 0 || used === 1 ? Object.fromEntries(counting) : undefined;
}
