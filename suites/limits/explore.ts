import { endpointNames, type Endpoint } from '../../schemas/endpoints.ts';
import type { Reply } from '../answer.ts';
import type { Known } from '../known.ts';
import type { Request } from '../request.ts';
import type { Context } from '../scenario-context.ts';
import { plainRequest, tryWaysAround, type WaysAround } from './around.ts';
import { driveToLimit, timedRequestOf, stream, type Stream } from './burst.ts';
import { requestedWait } from './advertised.ts';
import type { Burst } from './history.ts';
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
import {
  BURST_WINDOWS,
  decidingMs,
  MAX_WINDOW_TO_COUNT,
  REST_WINDOWS,
  statedLimit,
  type RateLimit,
} from './limit.ts';

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
  /** Whether the limiter was at rest before the first request. */
  readonly isRested?: boolean;
}

/** A limiter that answered 429. */
export interface Limited {
  readonly first: RefusedStream;
  readonly probe: LimitedProbe;
  /** How other forms of a request were answered. */
  readonly around: WaysAround;
  /** The reply to a lookup after the wait. */
  readonly recovery: Reply;
  /** From the first counted request to the last one refused before recovery. */
  readonly refusedMs: number;
  /** From the first counted request to the first one after recovery. */
  readonly recoveryMs: number;
  /** The longest time between two refusals in which nothing was sent. */
  readonly quietMs: number;
  /** A key that is refused after so much time does not recover; undefined if no window is known. */
  readonly decidingMs: number | undefined;
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
  readonly limit: RateLimit | undefined;
  /** Rest before a burst, in ms. */
  readonly restMs: number;
}

/** What one kind of request showed. */
type KindResult = Omit<Exploration, 'streams'> & { readonly first: Stream };

/** Triggers the rate limit, probes which other keys are limited, and waits for recovery. Done once per run. */
export function explore(endpoint: Endpoint, { once }: Context, known: Known): Promise<Exploration> {
  return once(`limiter of ${endpoint}`, async (context) => {
    const limit = statedLimit(endpoint, known);
    // Without time to rest before a burst, an early 429 may be correct. Without a limit, assumes that of the other endpoint.
    const windows = [endpoint, ...endpointNames].map(context.longestWindowMs);
    const restMs = REST_WINDOWS * (windows.find((ms) => ms > 0) ?? 0);
    const isCompared = limit !== undefined && context.leftMs() > restMs + BURST_WINDOWS * limit.windowMs;
    const streams: Stream[] = [];
    let exploration: Exploration = { streams };
    for (const kind of kinds[endpoint]) {
      const search = { endpoint, context, known, supply: supplyOf(kind, known), limit, restMs };
      const { first, ...shown } = await (isCompared ? compareLimit(search, limit) : findLimit(search));
      streams.push(first);
      exploration = { streams, ...shown };
      if (shown.limited !== undefined)
        return { ...exploration, limited: await countOthers(shown.limited, search) };
      const finding = limit && shown.bursts && judgeBurst(shown.bursts.at(-1)!, limit);
      if (first.trouble !== undefined || finding?.kind === 'instead' || finding?.kind === 'lost') break;
    }
    return exploration;
  });
}

/** Only checks whether a 429 comes at all. Rests before it if a short window is known. */
async function findLimit(search: Search): Promise<KindResult> {
  const { endpoint, context, supply, restMs } = search;
  const isRested = restMs > 0 && restMs <= context.leftMs() / 4;
  if (isRested) await context.waitForQuiet(endpoint, restMs);
  const startedAt = context.now();
  const findRefusal = () => stream(context, supply, { most: MAX_WITHOUT_LIMIT, withinMs: 1000 });
  let first = await findRefusal();
  if (isCutOff(first) && (await isBack(search))) first = await findRefusal();
  if (!hasRefusal(first)) return { first };
  const { plain, ...shown } = await askWhileLimited(search);
  const recovered = await recover(search, plain, first, { startedAt, history: first.history });
  return { first, isRested, limited: { first, ...shown, ...recovered } };
}

/** Asks with other keys and in other forms. `plain` is a request that the limiter refuses. */
async function askWhileLimited({ endpoint, context, known, supply }: Search) {
  const probe = await probeWhileLimited(endpoint, context, known);
  const plain = plainRequest(endpoint, known, probe, supply);
  return { probe, around: await tryWaysAround(context, known, plain), plain };
}

/** Compares the limiter with the stated limit. */
async function compareLimit(search: Search, limit: RateLimit): Promise<KindResult> {
  const { endpoint, context, supply, restMs } = search;
  const bursts: Burst[] = [];
  let first: Stream | undefined;
  let limited: Limited | undefined;
  let probed: Awaited<ReturnType<typeof askWhileLimited>> | undefined;
  const probeOnce = async () => {
    if (probed !== undefined) return [];
    probed = await askWhileLimited(search);
    return [...probed.probe.history, ...probed.around.history];
  };
  let judgement = judgeBursts(bursts, limit);
  while (judgement.kind === 'again' && (bursts.length === 0 || hasTime(context, limit))) {
    await context.waitForQuiet(endpoint, restMs);
    await context.wait(untilPhase(bursts, limit, judgement.isPaused, context.now()));
    const driven = await driveToLimit(context, limit, supply, judgement.isPaused, probeOnce);
    bursts.push(driven.burst);
    judgement = judgeBursts(bursts, limit);
    first = limited?.first ?? driven.first;
    if (judgement.kind === 'again' && isCutOff(driven.first) && !(await isBack(search)))
      judgement = { kind: 'open', finding: judgeBurst(driven.burst, limit) };
    if (!hasRefusal(driven.first)) continue;
    const { plain, ...shown } = probed!;
    const recovered = await recover(search, plain, driven.first, driven.burst);
    limited ??= { first: driven.first, ...shown, ...recovered };
    if (recovered.recovery.kind === 'answer') continue;
    // The key may still be limited: another burst would show nothing.
    limited = { ...limited, recovery: recovered.recovery };
    break;
  }
  if (judgement.kind === 'again' && judgement.soFar !== undefined) judgement = judgement.soFar;
  return { first: first!, bursts, judgement, limited, isRested: true };
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
  const last = bursts.findLast(({ inFlight }) => isPaused || inFlight > 1) ?? bursts.at(-1);
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
  { endpoint, context, limit }: Search,
  plain: Request,
  { refusal }: RefusedStream,
  { startedAt, history }: Pick<Burst, 'startedAt' | 'history'>,
): Promise<Pick<Limited, 'recovery' | 'refusedMs' | 'recoveryMs' | 'quietMs' | 'decidingMs'>> {
  const refusals = history.filter(({ result }) => result === 'refused');
  const leftMs = limit === undefined ? 0 : startedAt + limit.windowMs + MARGIN_MS - context.now();
  // If the run ends before the window, leave its time to the other endpoint.
  if (leftMs > 0 && leftMs < context.leftMs()) await context.wait(leftMs);
  let last = refusal.answer;
  const recovery = await context.sendUntilAllowed(plain, (refused) => {
    last = refused;
    refusals.push(timedRequestOf(refused));
  });
  const windows = [limit?.windowMs, context.longestWindowMs(endpoint)];
  const wanted = requestedWait(last, last.receivedAt);
  const isKnown = wanted !== undefined || windows.some((ms = 0) => ms > 0);
  const gaps = refusals.slice(1).map(({ sentAt }, at) => sentAt - refusals[at]!.receivedAt);
  return {
    recovery,
    refusedMs: Math.max(...refusals.map(({ sentAt }) => sentAt - startedAt)),
    recoveryMs: context.now() - startedAt,
    quietMs: Math.max(0, ...gaps),
    decidingMs: isKnown ? decidingMs(windows, wanted?.ms) : undefined,
  };
}

/** Checks whether lookups of members and other kinds of requests count. On deposit-check, every request counts. */
async function countOthers(limited: Limited, search: Search): Promise<Limited> {
  const { endpoint, context, known, limit } = search;
  const { first, recovery, recoveryMs } = limited;
  if (endpoint !== 'user-status' || recovery.kind !== 'answer') return limited;
  // The recovery request counts in the current window.
  let members = known.members.length > 0 ? await sendMembers(context, known, first.passed, limit) : undefined;
  if (members?.refusal !== undefined) {
    // Earlier requests may still count, at another machine too: rest and try again.
    const { answer } = members.refusal;
    const askedMs = requestedWait(answer, answer.receivedAt)?.ms ?? 0;
    await context.waitForQuiet(endpoint, 2 * (limit?.windowMs ?? Math.max(recoveryMs, askedMs)));
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
