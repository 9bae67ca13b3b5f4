import type { Endpoint } from '../../schemas/endpoints.ts';
import type { Reply } from '../answer.ts';
import type { Known } from '../known.ts';
import type { Context } from '../requirement.ts';
import { drive, sightingOf, stream, type Stream } from './burst.ts';
import { story, type Burst, type Rule, type Sighting } from './history.ts';
import { judgeBurst, judgeBursts, type Judgement } from './judge.ts';
import { found, kinds, lookupsOfMembers, supplyOf, type Supply } from './kinds.ts';
import { probeWhileLimited, type Meanwhile } from './meanwhile.ts';
import { beyond, statedRule } from './rule.ts';

/** Maximum number of requests of one kind to find a limit that is not stated. */
const MOST_WITHOUT_THRESHOLD = 1000;

/** Added to the end of a window, in ms. */
const MARGIN = 50;

/** What a run found out about the limiter of an endpoint. Times are in ms. */
export interface Exploration {
  /** One stream for each kind of request, up to the first kind that got 429. */
  readonly streams: readonly Stream[];
  /** Bursts of the last kind and their judgement; missing without a stated limit or without enough time. */
  readonly bursts?: readonly Burst[];
  readonly judgement?: Judgement;
  /** Set if a 429 came. */
  readonly limited?: Limited;
}

/** A limiter that answered 429. */
export interface Limited {
  /** The stream with the first 429. */
  readonly first: RefusedStream;
  readonly meanwhile: Meanwhile;
  /** The reply to a lookup after the wait. */
  readonly recovery: Reply;
  /** From the first counted request to the last one refused before recovery. */
  readonly refusedMs: number;
  /** From the first counted request to the first one after recovery. */
  readonly recoveryMs: number;
  /** Whether a request of the limited key passed before its window ended. */
  readonly isLetInEarly: boolean;
  /** Lookups of members: more than the limit of failed lookups. Only for user-status. */
  readonly members?: Stream;
  /** Whether other kinds of requests count too, by name; missing without enough time. */
  readonly counting?: Readonly<Record<string, boolean>>;
}

type RefusedStream = Stream & { readonly refusal: NonNullable<Stream['refusal']> };

const isRefused = (one: Stream): one is RefusedStream => one.refusal !== undefined;

/** A search for a limiter, with requests of one kind. */
interface Search {
  readonly endpoint: Endpoint;
  readonly context: Context;
  readonly known: Known;
  readonly supply: Supply;
}

/** What one kind of request showed. */
type Found = Omit<Exploration, 'streams'> & { readonly first: Stream };

/** Triggers the rate limit, probes which other keys are limited, and waits for recovery. Done once per run. */
export function explore(endpoint: Endpoint, { once }: Context, known: Known): Promise<Exploration> {
  return once(`limiter of ${endpoint}`, async (context) => {
    const rule = statedRule(endpoint, known);
    // Without time to rest before a burst, an early 429 may be correct.
    const isCompared = rule !== undefined && context.leftMs() > 3 * rule.windowMs;
    const streams: Stream[] = [];
    let exploration: Exploration = { streams };
    for (const kind of kinds[endpoint]) {
      const search = { endpoint, context, known, supply: supplyOf(kind, known) };
      const { first, ...shown } = await (isCompared ? compareLimit(search, rule) : seekLimit(search, rule));
      streams.push(first);
      exploration = { streams, ...shown };
      if (shown.limited !== undefined)
        return { ...exploration, limited: await countOthers(shown.limited, search, rule) };
      const finding = rule && shown.bursts && judgeBurst(shown.bursts.at(-1)!, rule);
      if (first.trouble !== undefined || finding?.kind === 'instead' || finding?.kind === 'lost') break;
    }
    return exploration;
  });
}

/** Only checks whether a 429 comes at all. */
async function seekLimit(search: Search, rule: Rule | undefined): Promise<Found> {
  const { endpoint, context, known, supply } = search;
  if (rule === undefined) await context.settle(endpoint);
  const startedAt = context.now();
  const most = rule === undefined ? MOST_WITHOUT_THRESHOLD : beyond(rule);
  const first = await stream(context, supply, { most, withinMs: 1000 });
  if (!isRefused(first)) return { first };
  const meanwhile = await probeWhileLimited(endpoint, context, known);
  const recovered = await recover(search, first.history, startedAt, rule);
  return { first, limited: { first, meanwhile, ...recovered } };
}

/** Compares the limiter with the stated limit. */
async function compareLimit(search: Search, rule: Rule): Promise<Found> {
  const { endpoint, context, known, supply } = search;
  const bursts: Burst[] = [];
  let first: Stream | undefined;
  let limited: Limited | undefined;
  let meanwhile: Meanwhile | undefined;
  const lookOnce = async () => {
    if (meanwhile !== undefined) return [];
    meanwhile = await probeWhileLimited(endpoint, context, known);
    return meanwhile.history;
  };
  let judgement = judgeBursts(bursts, rule);
  while (judgement.kind === 'again' && (bursts.length === 0 || hasTime(context, rule))) {
    await context.rest(2 * rule.windowMs);
    await context.wait(untilPhase(bursts, rule, context.now()));
    const driven = await drive(context, rule, supply, judgement.oneAtATime, lookOnce);
    const { history, startedAt } = driven.burst;
    bursts.push(driven.burst);
    judgement = judgeBursts(bursts, rule);
    first = limited?.first ?? driven.first;
    if (!isRefused(driven.first)) continue;
    const recovered = await recover(search, history, startedAt, rule);
    limited ??= { first: driven.first, meanwhile: meanwhile!, ...recovered };
    if (recovered.recovery.kind === 'answer') continue;
    // The key may still be limited: another burst would show nothing.
    limited = { ...limited, recovery: recovered.recovery };
    break;
  }
  return { first: first!, bursts, judgement, ...(limited === undefined ? {} : { limited }) };
}

/** Two windows of rest, one for a burst, and a margin. */
const hasTime = (context: Context, { windowMs }: Rule) => context.leftMs() > 3.5 * windowMs;

/** Phase shift between bursts, as a fraction of the window. It also shifts within a half to a sixth of the window. */
const PHASE = 0.57;

/** Time (ms) until the next burst may begin, at another phase of the window. */
function untilPhase(bursts: readonly Burst[], { windowMs }: Rule, now: number): number {
  const last = bursts.at(-1);
  if (last === undefined) return 0;
  const sinceWanted = now - last.startedAt - PHASE * windowMs;
  return Math.ceil(sinceWanted / windowMs) * windowMs - sinceWanted;
}

/** Waits for the end of a known window, then until a request passes. */
async function recover(
  { context, supply }: Search,
  history: readonly Sighting[],
  startedAt: number,
  rule: Rule | undefined,
): Promise<Pick<Limited, 'recovery' | 'refusedMs' | 'recoveryMs' | 'isLetInEarly'>> {
  const refusals = history.filter(({ result }) => result === 'refused');
  const refusedAt = refusals[0]!.receivedAt;
  const isLetInEarly = history.some(({ result, sentAt }) => result === 'passed' && sentAt > refusedAt);
  const leftMs = rule === undefined ? 0 : startedAt + rule.windowMs + MARGIN - context.now();
  // If the run ends before the window, leave its time to the other endpoint.
  if (leftMs > 0 && leftMs < context.leftMs()) await context.wait(leftMs);
  const recovery = await context.sendUntilAllowed(supply.next(), (refused) =>
    refusals.push(sightingOf(refused)),
  );
  const refusedMs = Math.max(...refusals.map(({ sentAt }) => sentAt - startedAt));
  return { recovery, refusedMs, recoveryMs: context.now() - startedAt, isLetInEarly };
}

/** Checks whether lookups of members and other kinds of requests count. On deposit-check, every request counts. */
async function countOthers(limited: Limited, search: Search, rule: Rule | undefined): Promise<Limited> {
  const { endpoint, context, known } = search;
  const { first, recovery, recoveryMs } = limited;
  if (endpoint !== 'user-status' || recovery.kind !== 'answer') return limited;
  // The recovery request counts in the current window.
  let members = known.members.length > 0 ? await sendMembers(context, known, first.passed, rule) : undefined;
  if (members?.refusal !== undefined) {
    // Earlier requests may still count: rest and try again.
    await context.rest(2 * (rule?.windowMs ?? recoveryMs));
    members = await sendMembers(context, known, first.passed, rule);
  }
  const counting =
    rule !== undefined && members?.refusal === undefined && hasTimeToCount(context, rule)
      ? await whatCounts(search, rule)
      : undefined;
  if (members?.refusal !== undefined || counting !== undefined) await context.send(found(endpoint, known));
  return {
    ...limited,
    ...(members === undefined ? {} : { members }),
    ...(counting === undefined ? {} : { counting }),
  };
}

/** Sends more lookups of members than the limit of failed lookups. */
export function sendMembers(
  context: Context,
  known: Known,
  passed: number,
  rule: Rule | undefined,
): Promise<Stream> {
  const most = Math.min(2 * passed + 2, MOST_WITHOUT_THRESHOLD);
  const withinMs = Math.min(1000, (rule?.windowMs ?? 1000) / 2);
  return stream(context, supplyOf(lookupsOfMembers, known), { most, withinMs });
}

/** Fractions of the limit spent on two other kinds: all their sums differ, so the rest tells which kinds count. */
const PARTS = [1 / 2, 1 / 4];

/** Minimum limit for distinct fractions, and maximum window (ms) worth another wait. */
const [LEAST_TO_COUNT, LONGEST_TO_COUNT] = [8, 10_000];

const hasTimeToCount = (context: Context, { most, windowMs }: Rule) =>
  most >= LEAST_TO_COUNT && windowMs <= LONGEST_TO_COUNT && context.leftMs() > 2 * windowMs;

/**
 * Which other kinds of requests count (Limits: not shown). Spends a fraction of the limit on each, then measures the
 * rest.
 *
 * @returns whether each kind counts, by name; undefined if the rest is ambiguous
 */
async function whatCounts({ endpoint, context, known, supply }: Search, { most }: Rule) {
  const others = kinds[endpoint]
    .filter(({ name }) => name !== supply.kind)
    .map((kind, at) => ({ kind, spent: Math.floor(most * PARTS[at]!) }));
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

/** Describes bursts in one line. */
export const storyOf = (bursts: readonly Burst[], { windowMs }: Rule) =>
  bursts
    .map(({ history, startedAt, inFlight }) => {
      const together = inFlight === 1 ? 'one at a time' : `at most ${inFlight} in flight`;
      return `${story(history, startedAt, windowMs)} (${together})`;
    })
    .join('. Next burst after a pause: ');
