import type { Endpoint } from '../../schemas/endpoints.ts';
import type { Reply } from '../answer.ts';
import type { Known } from '../known.ts';
import type { Context } from '../requirement.ts';
import { driveToLimit, timedRequestOf, stream, type Stream } from './burst.ts';
import type { Burst, TimedRequest } from './history.ts';
import { judgeBurst, judgeBursts, type LimitJudgement } from './judge-bursts.ts';
import {
  findableLookup,
  kinds,
  lookupsOfMembers,
  probeWhileLimited,
  supplyOf,
  type LimitedProbe,
  type Supply,
} from './kinds.ts';
import { burstSize, MAX_WINDOW_TO_COUNT, statedLimit, type RateLimit } from './limit.ts';

/** Maximum number of requests of one kind to find a limit that is not stated. */
const MAX_WITHOUT_LIMIT = 1000;

const MARGIN_MS = 50;

/** What a run found out about the limiter of an endpoint. Times are in ms. */
export interface Exploration {
  /** One stream for each kind of request, up to the first kind that got 429. */
  readonly streams: readonly Stream[];
  /** Bursts of the last kind and their judgement; missing without a stated limit or without enough time. */
  readonly bursts?: readonly Burst[];
  readonly judgement?: LimitJudgement;
  readonly limited?: Limited | undefined;
}

/** A limiter that answered 429. */
export interface Limited {
  readonly first: RefusedStream;
  readonly probe: LimitedProbe;
  /** The reply to a lookup after the wait. */
  readonly recovery: Reply;
  /** From the first counted request to the last one refused before recovery. */
  readonly refusedMs: number;
  /** From the first counted request to the first one after recovery. */
  readonly recoveryMs: number;
  /** Whether a request of the limited key passed before its window ended. */
  readonly passedEarly: boolean;
  /** Lookups of members: more than the limit of failed lookups. Only for user-status. */
  readonly members?: Stream | undefined;
  /** Whether other kinds of requests count too, by name; missing without enough time. */
  readonly counting?: Readonly<Record<string, boolean>> | undefined;
}

type RefusedStream = Stream & { readonly refusal: NonNullable<Stream['refusal']> };

const hasRefusal = (one: Stream): one is RefusedStream => one.refusal !== undefined;

interface Search {
  readonly endpoint: Endpoint;
  readonly context: Context;
  readonly known: Known;
  readonly supply: Supply;
}

/** What one kind of request showed. */
type KindResult = Omit<Exploration, 'streams'> & { readonly first: Stream };

/** Triggers the rate limit, probes which other keys are limited, and waits for recovery. Done once per run. */
export function explore(endpoint: Endpoint, { once }: Context, known: Known): Promise<Exploration> {
  return once(`limiter of ${endpoint}`, async (context) => {
    const limit = statedLimit(endpoint, known);
    // Without time to rest before a burst, an early 429 may be correct.
    const isCompared = limit !== undefined && context.leftMs() > 3 * limit.windowMs;
    const streams: Stream[] = [];
    let exploration: Exploration = { streams };
    for (const kind of kinds[endpoint]) {
      const search = { endpoint, context, known, supply: supplyOf(kind, known) };
      const { first, ...shown } = await (isCompared ? compareLimit(search, limit) : findLimit(search, limit));
      streams.push(first);
      exploration = { streams, ...shown };
      if (shown.limited !== undefined)
        return { ...exploration, limited: await countOthers(shown.limited, search, limit) };
      const finding = limit && shown.bursts && judgeBurst(shown.bursts.at(-1)!, limit);
      if (first.trouble !== undefined || finding?.kind === 'instead' || finding?.kind === 'lost') break;
    }
    return exploration;
  });
}

/** Only checks whether a 429 comes at all. */
async function findLimit(search: Search, limit: RateLimit | undefined): Promise<KindResult> {
  const { endpoint, context, known, supply } = search;
  if (limit === undefined) await context.waitForReset(endpoint);
  const startedAt = context.now();
  const most = limit === undefined ? MAX_WITHOUT_LIMIT : burstSize(limit);
  const findRefusal = () => stream(context, supply, { most, withinMs: 1000 });
  let first = await findRefusal();
  if (isCutOff(first) && (await isBack(search))) first = await findRefusal();
  if (!hasRefusal(first)) return { first };
  const probe = await probeWhileLimited(endpoint, context, known);
  const recovered = await recover(search, first.history, startedAt, limit);
  return { first, limited: { first, probe, ...recovered } };
}

/** Compares the limiter with the stated limit. */
async function compareLimit(search: Search, limit: RateLimit): Promise<KindResult> {
  const { endpoint, context, known, supply } = search;
  const bursts: Burst[] = [];
  let first: Stream | undefined;
  let limited: Limited | undefined;
  let probe: LimitedProbe | undefined;
  const probeOnce = async () => {
    if (probe !== undefined) return [];
    probe = await probeWhileLimited(endpoint, context, known);
    return probe.history;
  };
  let judgement = judgeBursts(bursts, limit);
  while (judgement.kind === 'again' && (bursts.length === 0 || hasTime(context, limit))) {
    await context.waitForQuiet(2 * limit.windowMs);
    await context.wait(untilPhase(bursts, limit, context.now()));
    const driven = await driveToLimit(context, limit, supply, judgement.oneAtATime, probeOnce);
    const { history, startedAt } = driven.burst;
    bursts.push(driven.burst);
    judgement = judgeBursts(bursts, limit);
    first = limited?.first ?? driven.first;
    if (judgement.kind === 'again' && isCutOff(driven.first) && !(await isBack(search)))
      judgement = { kind: 'open', finding: judgeBurst(driven.burst, limit) };
    if (!hasRefusal(driven.first)) continue;
    const recovered = await recover(search, history, startedAt, limit);
    limited ??= { first: driven.first, probe: probe!, ...recovered };
    if (recovered.recovery.kind === 'answer') continue;
    // The key may still be limited: another burst would show nothing.
    limited = { ...limited, recovery: recovered.recovery };
    break;
  }
  return { first: first!, bursts, judgement, limited };
}

/** Whether the target stopped answering before it refused a request. It may be gone, or restart. */
const isCutOff = ({ history, refusal }: Stream) =>
  refusal === undefined && history.at(-1)?.receivedAt === Infinity;

/** Whether the target answers again. */
const isBack = async ({ endpoint, context, known }: Search) => {
  const [reply] = await context.send(findableLookup(endpoint, known));
  return reply?.kind === 'answer';
};

/** Two windows of rest, one for a burst, and a margin. */
const hasTime = (context: Context, { windowMs }: RateLimit) => context.leftMs() > 3.5 * windowMs;

/** Phase shift between bursts, as a fraction of the window. It also shifts within a half to a sixth of the window. */
const PHASE = 0.57;

/** Time (ms) until the next burst may begin, at another phase of the window. */
function untilPhase(bursts: readonly Burst[], { windowMs }: RateLimit, now: number): number {
  const last = bursts.at(-1);
  if (last === undefined) return 0;
  const sinceWanted = now - last.startedAt - PHASE * windowMs;
  return Math.ceil(sinceWanted / windowMs) * windowMs - sinceWanted;
}

/** Waits for the end of a known window, then until a request passes. */
async function recover(
  { context, supply }: Search,
  history: readonly TimedRequest[],
  startedAt: number,
  limit: RateLimit | undefined,
): Promise<Pick<Limited, 'recovery' | 'refusedMs' | 'recoveryMs' | 'passedEarly'>> {
  const refusals = history.filter(({ result }) => result === 'refused');
  const refusedAt = refusals[0]!.receivedAt;
  const passedEarly = history.some(({ result, sentAt }) => result === 'passed' && sentAt > refusedAt);
  const leftMs = limit === undefined ? 0 : startedAt + limit.windowMs + MARGIN_MS - context.now();
  // If the run ends before the window, leave its time to the other endpoint.
  if (leftMs > 0 && leftMs < context.leftMs()) await context.wait(leftMs);
  const recovery = await context.sendUntilAllowed(supply.next(), (refused) =>
    refusals.push(timedRequestOf(refused)),
  );
  const refusedMs = Math.max(...refusals.map(({ sentAt }) => sentAt - startedAt));
  return { recovery, refusedMs, recoveryMs: context.now() - startedAt, passedEarly };
}

/** Checks whether lookups of members and other kinds of requests count. On deposit-check, every request counts. */
async function countOthers(limited: Limited, search: Search, limit: RateLimit | undefined): Promise<Limited> {
  const { endpoint, context, known } = search;
  const { first, recovery, recoveryMs } = limited;
  if (endpoint !== 'user-status' || recovery.kind !== 'answer') return limited;
  // The recovery request counts in the current window.
  let members = known.members.length > 0 ? await sendMembers(context, known, first.passed, limit) : undefined;
  if (members?.refusal !== undefined) {
    // Earlier requests may still count: rest and try again.
    await context.waitForQuiet(2 * (limit?.windowMs ?? recoveryMs));
    members = await sendMembers(context, known, first.passed, limit);
  }
  const counting =
    limit !== undefined && members?.refusal === undefined && hasTimeToCount(context, limit)
      ? await measureCounting(search, limit)
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
  return stream(context, supplyOf(lookupsOfMembers, known), { most, withinMs });
}

/** Fractions of the limit spent on two other kinds: all their sums differ, so the rest tells which kinds count. */
const FRACTIONS = [1 / 2, 1 / 4];

/** Minimum limit for distinct fractions. */
const MIN_LIMIT_TO_COUNT = 8;

const hasTimeToCount = (context: Context, { most, windowMs }: RateLimit) =>
  most >= MIN_LIMIT_TO_COUNT && windowMs <= MAX_WINDOW_TO_COUNT && context.leftMs() > 2 * windowMs;

/**
 * Which other kinds of requests count (Limits: not shown). Spends a fraction of the limit on each, then measures the
 * rest.
 *
 * @returns whether each kind counts, by name; undefined if the rest is ambiguous
 */
async function measureCounting({ endpoint, context, known, supply }: Search, { most }: RateLimit) {
  const others = kinds[endpoint]
    .filter(({ name }) => name !== supply.kind)
    .map((kind, at) => ({ kind, spent: Math.floor(most * FRACTIONS[at]!) }));
  for (const { kind, spent } of others) {
    const { next } = supplyOf(kind, known);
    await context.burst(...Array.from({ length: spent }, next));
  }
  const { passed } = await stream(context, supply, { most: most + 1 });
  // The recovery request may belong to an earlier window.
  const counted = [[], [0], [1], [0, 1]].find((some) =>
    [0, 1].includes(most - passed - some.reduce((sum, at) => sum + others[at]!.spent, 0)),
  );
  return counted && Object.fromEntries(others.map(({ kind }, at) => [kind.name, counted.includes(at)]));
}
