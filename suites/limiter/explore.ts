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

/** Requests of one kind that are spent on finding a limiter whose threshold nobody stated. */
const MOST_WITHOUT_THRESHOLD = 1000;

/** Added to a window before it counts as over, in ms. */
const MARGIN = 50;

/** What is known of an endpoint's limiter after it was driven to its limit. Times are ms. */
export interface Exploration {
  /** Streams of each kind of requests, the last of which may have ended in 429. */
  readonly streams: readonly Stream[];
  /** Bursts of the last kind, from rest, and what they come to; missing where no limit is stated, or time was short. */
  readonly bursts?: readonly Burst[];
  readonly judgement?: Judgement;
  /** Set once a 429 came. */
  readonly limited?: Limited;
}

/** A limiter that set in. */
export interface Limited {
  /** The stream in which the first 429 came. */
  readonly first: RefusedStream;
  readonly meanwhile: Meanwhile;
  /** What a lookup gave after the wait. */
  readonly recovery: Reply;
  /** From the first counted request to the last one that was not let in before that. */
  readonly refusedMs: number;
  /** From the first counted request to the one that was let in again. */
  readonly recoveryMs: number;
  /** Whether the limited key was let in before its window ended. */
  readonly isLetInEarly: boolean;
  /** Lookups of members, more than the limiter lets through of the others; user-status only. */
  readonly members?: Stream;
  /** Whether other kinds of requests count as well, by name; where there was time to see. */
  readonly counting?: Readonly<Record<string, boolean>>;
}

type RefusedStream = Stream & { readonly refusal: NonNullable<Stream['refusal']> };

const isRefused = (one: Stream): one is RefusedStream => one.refusal !== undefined;

/** A limiter that is sought with requests of one kind. */
interface Search {
  readonly endpoint: Endpoint;
  readonly context: Context;
  readonly known: Known;
  readonly supply: Supply;
}

/** What requests of one kind showed. */
type Found = Omit<Exploration, 'streams'> & { readonly first: Stream };

/** Drives the limiter to its limit, looks which other keys it limits, and waits until it lets go; once a run. */
export function explore(endpoint: Endpoint, { once }: Context, known: Known): Promise<Exploration> {
  return once(`limiter of ${endpoint}`, async (context) => {
    const rule = statedRule(endpoint, known);
    // Without time to wait until all is forgotten, a 429 may come early and still be due.
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

/** Sees only whether a 429 comes at all. */
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

/** Compares the limiter with what the fixture states of it. */
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
    // A burst of a key that may still be limited would show nothing.
    limited = { ...limited, recovery: recovered.recovery };
    break;
  }
  return { first: first!, bursts, judgement, ...(limited === undefined ? {} : { limited }) };
}

/** Two windows of rest and one for a burst. */
const hasTime = (context: Context, { windowMs }: Rule) => context.leftMs() > 3.5 * windowMs;

/** Where in a window the next burst begins, after the last one: elsewhere in a half and in a third to a sixth of it, too. */
const PHASE = 0.57;

/** Time (ms) until the next burst may begin at another phase of the window than the last one. */
function untilPhase(bursts: readonly Burst[], { windowMs }: Rule, now: number): number {
  const last = bursts.at(-1);
  if (last === undefined) return 0;
  const sinceWanted = now - last.startedAt - PHASE * windowMs;
  return Math.ceil(sinceWanted / windowMs) * windowMs - sinceWanted;
}

/** Waits for the end of the window, where its length is known, and then until the key is let in. */
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
  // The other endpoint needs what is left of a run that ends before the window does.
  if (leftMs > 0 && leftMs < context.leftMs()) await context.wait(leftMs);
  const recovery = await context.sendUntilAllowed(supply.next(), (refused) =>
    refusals.push(sightingOf(refused)),
  );
  const refusedMs = Math.max(...refusals.map(({ sentAt }) => sentAt - startedAt));
  return { recovery, refusedMs, recoveryMs: context.now() - startedAt, isLetInEarly };
}

/** Sees that lookups of members do not count, and what other requests do. Any request to deposit-check counts. */
async function countOthers(limited: Limited, search: Search, rule: Rule | undefined): Promise<Limited> {
  const { endpoint, context, known } = search;
  const { first, recovery, recoveryMs } = limited;
  if (endpoint !== 'user-status' || recovery.kind !== 'answer') return limited;
  // The key has spent one request of its window.
  let members = known.members.length > 0 ? await sendMembers(context, known, first.passed, rule) : undefined;
  if (members?.refusal !== undefined) {
    // A limiter that lets in few at first may have refused them for what was counted before.
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

/** More lookups of members than there may be of anything that counts. */
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

/** Parts of a limit that are spent on two further kinds: every sum of some of them is another. */
const PARTS = [1 / 2, 1 / 4];

/** A limit below which the parts are too small to be told apart, and a window (ms) up to which it is worth another one. */
const [LEAST_TO_COUNT, LONGEST_TO_COUNT] = [8, 10_000];

const hasTimeToCount = (context: Context, { most, windowMs }: Rule) =>
  most >= LEAST_TO_COUNT && windowMs <= LONGEST_TO_COUNT && context.leftMs() > 2 * windowMs;

/**
 * Which kinds of requests count beside the one that is known to: spends a part of the limit on each of them, and
 * sees how much of it is left (Limits: not shown).
 *
 * @returns whether each kind counts, by its name; undefined where what was left does not tell
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
  // The request that went before may be in a window of its own.
  const counted = [[], [0], [1], [0, 1]].find((some) =>
    [0, 1].includes(most - passed - some.reduce((sum, at) => sum + others[at]!.spent, 0)),
  );
  return counted && Object.fromEntries(others.map(({ kind }, at) => [kind.name, counted.includes(at)]));
}

/** What the bursts showed, for people. */
export const storyOf = (bursts: readonly Burst[], { windowMs }: Rule) =>
  bursts
    .map(({ history, startedAt, inFlight }) => {
      const together = inFlight === 1 ? 'one at a time' : `at most ${inFlight} in flight`;
      return `${story(history, startedAt, windowMs)} (${together})`;
    })
    .join('. Next burst after a pause: ');
