import type { Endpoint } from '../../schemas/endpoints.ts';
import type { Reply } from '../answer.ts';
import type { Known } from '../known.ts';
import type { Context } from '../requirement.ts';
import { drive, sightingOf, stream, type Stream } from './burst.ts';
import { LEAST_THRESHOLD, whatCounts } from './counting.ts';
import { story, type Burst, type Rule, type Sighting } from './history.ts';
import { judgeBurst, judgeBursts, type Judgement } from './judge.ts';
import { found, kindsOf, lookupsOfMembers, supplyOf, type Supply } from './kinds.ts';
import { lookAround, type Meanwhile } from './meanwhile.ts';
import { beyond, statedRule } from './rule.ts';

/** Requests of one kind that are spent on finding a limiter whose threshold nobody stated. */
const MOST_WITHOUT_THRESHOLD = 1000;

/** A window, in ms, up to which it is worth another one to see what else counts. */
const LONGEST_TO_COUNT = 10_000;

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

/** Drives the limiter to its limit, looks which other keys it limits, and waits until it lets go; once a run. */
export function explore(endpoint: Endpoint, { once }: Context, known: Known): Promise<Exploration> {
  return once(`limiter of ${endpoint}`, (context) => {
    const rule = statedRule(endpoint, known);
    // Without time to wait until all is forgotten, a 429 may come early and still be due.
    const isSettled = rule !== undefined && context.leftMs() > 3 * rule.windowMs;
    return isSettled
      ? compareLimit(endpoint, context, known, rule)
      : seekLimit(endpoint, context, known, rule);
  });
}

/** Sees only whether a 429 comes at all. */
async function seekLimit(
  endpoint: Endpoint,
  context: Context,
  known: Known,
  rule: Rule | undefined,
): Promise<Exploration> {
  const streams: Stream[] = [];
  for (const kind of kindsOf(endpoint)) {
    const supply = supplyOf(kind, known);
    if (rule === undefined) await context.settle(endpoint);
    const startedAt = context.now();
    const most = rule === undefined ? MOST_WITHOUT_THRESHOLD : beyond(rule);
    const first = await stream(context, supply, { most, withinMs: 1000 });
    streams.push(first);
    if (isRefused(first)) {
      const meanwhile = await lookAround(endpoint, context, known);
      const recovered = await recover(context, [...first.history], startedAt, rule, supply);
      const limited = { first, meanwhile, ...recovered };
      return { streams, limited: await spared(limited, endpoint, context, known, rule, supply) };
    }
    if (first.trouble !== undefined) break;
  }
  return { streams };
}

/** Compares the limiter with what the fixture states of it. */
async function compareLimit(
  endpoint: Endpoint,
  context: Context,
  known: Known,
  rule: Rule,
): Promise<Exploration> {
  const streams: Stream[] = [];
  let exploration: Exploration = { streams };
  for (const kind of kindsOf(endpoint)) {
    const supply = supplyOf(kind, known);
    const bursts: Burst[] = [];
    let limited: Omit<Limited, 'members' | 'counting'> | undefined;
    let meanwhile: Meanwhile | undefined;
    const lookOnce = async () => {
      if (meanwhile !== undefined) return [];
      meanwhile = await lookAround(endpoint, context, known);
      return meanwhile.history;
    };
    // A key that is still limited from before would show nothing.
    await context.settle(endpoint);
    let judgement = judgeBursts(bursts, rule);
    while (judgement.kind === 'again' && (bursts.length === 0 || hasTime(context, rule))) {
      await context.rest(2 * rule.windowMs);
      await context.wait(untilPhase(bursts, rule, context.now()));
      const { first, burst } = await drive(context, rule, supply, judgement.oneAtATime, lookOnce);
      bursts.push(burst);
      judgement = judgeBursts(bursts, rule);
      if (bursts.length === 1) streams.push(first);
      if (!isRefused(first)) continue;
      const recovered = await recover(context, [...burst.history], burst.startedAt, rule, supply);
      const { recovery } = recovered;
      if (limited === undefined) streams.splice(-1, 1, first);
      limited ??= { first, meanwhile: meanwhile!, ...recovered };
      if (recovery.kind === 'answer' || recovery.code !== 'rate-limited') continue;
      limited = { ...limited, recovery };
      break;
    }
    exploration = { streams, bursts, judgement };
    if (limited !== undefined)
      return {
        ...exploration,
        limited: await spared(limited, endpoint, context, known, rule, supply),
      };
    const finding = judgeBurst(bursts.at(-1)!, rule);
    if (finding.kind === 'instead' || finding.kind === 'lost') break;
  }
  return exploration;
}

/** Two windows of rest and one for a burst. */
const hasTime = (context: Context, { windowMs }: Rule) => context.leftMs() > 3.5 * windowMs;

/** Where in a window the next burst begins, after the last one: elsewhere in a half and in a third to a sixth of it, too. */
const PHASE = 0.57;

/** Time (ms) until the next burst may begin at another phase of the window than the last one. */
function untilPhase(bursts: readonly Burst[], { windowMs }: Rule, now: number): number {
  const wanted = (bursts.at(-1)?.startedAt ?? now - PHASE * windowMs) + PHASE * windowMs;
  return (((wanted - now) % windowMs) + windowMs) % windowMs;
}

/** What other requests count, and that lookups of members do not. */
async function spared(
  limited: Omit<Limited, 'members' | 'counting'>,
  endpoint: Endpoint,
  context: Context,
  known: Known,
  rule: Rule | undefined,
  supply: Supply,
): Promise<Limited> {
  const { first, recovery, recoveryMs } = limited;
  // Any request to deposit-check counts.
  if (endpoint !== 'user-status' || recovery.kind !== 'answer') return limited;
  // The key has spent one request of its window.
  let members = known.members.length > 0 ? await sendMembers(context, known, first.passed) : undefined;
  if (members?.refusal !== undefined) {
    // A limiter that lets in few at first may have refused them for what was counted before.
    await context.rest(2 * (rule?.windowMs ?? recoveryMs));
    members = await sendMembers(context, known, first.passed);
  }
  const counting =
    rule !== undefined && members?.refusal === undefined && hasTimeToCount(context, rule)
      ? await whatCounts(context, supply, otherKinds(endpoint, known, supply.kind), rule.most)
      : undefined;
  if (members?.refusal !== undefined || counting !== undefined) await context.send(found(endpoint, known));
  return {
    ...limited,
    ...(members === undefined ? {} : { members }),
    ...(counting === undefined ? {} : { counting }),
  };
}

/** Waits for the end of the window, where its length is known, and then until the key is let in. */
async function recover(
  context: Context,
  history: Sighting[],
  startedAt: number,
  rule: Rule | undefined,
  supply: Supply,
): Promise<Pick<Limited, 'recovery' | 'refusedMs' | 'recoveryMs' | 'isLetInEarly'>> {
  const refusedAt =
    history.find(({ result }) => result === 'refused')?.receivedAt ?? Number.POSITIVE_INFINITY;
  const isLetInEarly = history.some(({ result, sentAt }) => result === 'passed' && sentAt > refusedAt);
  const leftMs = rule === undefined ? 0 : startedAt + rule.windowMs + MARGIN - context.now();
  // The other endpoint needs what is left of a run that ends before the window does.
  if (leftMs > 0 && leftMs < context.leftMs()) await context.wait(leftMs);
  const recovery = await context.patiently(supply.next(1)[0]!, (refused) =>
    history.push(sightingOf(refused)),
  );
  const refused = history.filter(({ result }) => result === 'refused');
  const refusedMs = Math.max(0, ...refused.map(({ sentAt }) => sentAt - startedAt));
  return { recovery, refusedMs, recoveryMs: context.now() - startedAt, isLetInEarly };
}

/** What else counts is worth a short window, and no long one. */
const hasTimeToCount = (context: Context, { most, windowMs }: Rule) =>
  most >= LEAST_THRESHOLD && windowMs <= LONGEST_TO_COUNT && context.leftMs() > 2 * windowMs;

const otherKinds = (endpoint: Endpoint, known: Known, counted: string) =>
  kindsOf(endpoint)
    .filter(({ name }) => name !== counted)
    .map((kind) => supplyOf(kind, known));

/** More lookups of members than there may be of anything that counts. */
export function sendMembers(context: Context, known: Known, passed: number): Promise<Stream> {
  const most = Math.min(2 * passed + 2, MOST_WITHOUT_THRESHOLD);
  return stream(context, supplyOf(lookupsOfMembers, known), { most, withinMs: 1000 });
}

/** What the bursts showed, for people. */
export const storyOf = (bursts: readonly Burst[], { windowMs }: Rule) =>
  bursts
    .map(({ history, startedAt, inFlight }) => {
      const together = inFlight === 1 ? 'one at a time' : `at most ${inFlight} in flight`;
      return `${story(history, startedAt, windowMs)} (${together})`;
    })
    .join('. Again, after a rest: ');
