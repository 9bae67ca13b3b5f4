import type { Endpoint } from '../../schemas/endpoints.ts';
import type { Answer, Reply } from '../answer.ts';
import type { Known } from '../known.ts';
import type { Request } from '../request.ts';
import type { Context } from '../requirement.ts';
import { drive, sightingOf, stream, type Stream } from './burst.ts';
import { LEAST_THRESHOLD, whatCounts } from './counting.ts';
import { story, type Rule, type Sighting } from './history.ts';
import { judgeBurst, judgeBursts, type Burst, type Judgement } from './judge.ts';
import { found, kindsOf, lookupsOfMembers, supplyOf, type Supply } from './kinds.ts';
import { limitedOthers, statusesMeanwhile } from './meanwhile.ts';
import { beyond, statedRule } from './rule.ts';

/** Requests of one kind that are spent on finding a limiter whose threshold nobody stated. */
const MOST_WITHOUT_THRESHOLD = 1000;

/** A window, in ms, up to which it is worth another one to see what else counts. */
const LONGEST_TO_COUNT = 10_000;

/** Added to a window before it counts as over, in ms. */
const MARGIN = 50;

/** A burst that took longer than the window is tried so many times in all: the target's latency is known then. */
const TRIES_WHEN_SLOW = 3;

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
  readonly kind: string;
  readonly request: Request;
  readonly answer: Answer;
  /** Counted requests before it. */
  readonly passed: number;
  /** Every counted request of the key under test until it was let in again. */
  readonly history: readonly Sighting[];
  /** Statuses of other requests while the key was limited, by what was asked. */
  readonly meanwhile: Readonly<Record<string, number>>;
  /** Whether other keys are limited too, by name. */
  readonly others: Readonly<Record<string, boolean>>;
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
    const first = await stream(context, supply, {
      most: rule === undefined ? MOST_WITHOUT_THRESHOLD : beyond(rule),
      withinMs: 1000,
    });
    streams.push(first);
    if (first.refusal !== undefined) {
      const meanwhile = await statusesMeanwhile(endpoint, context, known);
      const others = await limitedOthers(endpoint, context, known);
      const limited = await follow({
        endpoint,
        context,
        known,
        rule,
        supply,
        startedAt,
        meanwhile,
        others,
        history: [...first.history],
        first: { ...first, refusal: first.refusal },
      });
      return { streams, limited };
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
  let unlimited: Exploration = { streams };
  /** Bursts in which no 429 came, by kind. */
  const before: Record<string, readonly Burst[]> = {};
  // What passes beside others in flight may be refused one at a time.
  for (const oneAtATime of [false, true]) {
    for (const kind of kindsOf(endpoint)) {
      const supply = supplyOf(kind, known);
      const meanwhile: Record<string, number> = {};
      const others: Record<string, boolean> = {};
      // A key that is still limited from before would show nothing.
      await context.settle(endpoint);
      const rested = async (isSlow: boolean, whileLimited?: () => Promise<void>) => {
        for (let tries = 1; ; tries++) {
          await context.rest(2 * rule.windowMs);
          const driven = await drive(context, rule, supply, isSlow, whileLimited);
          const finding = judgeBurst(driven.burst, rule);
          // A quicker burst says more: a slow one passes as a bucket that refills.
          const isSlowFit = finding.kind === 'fits' && !finding.isExact && !driven.isRefilled;
          const isWorthAnother = finding.kind === 'tooSlow' || isSlowFit;
          if (!isWorthAnother || isSlow || tries === TRIES_WHEN_SLOW || !hasTime(context, rule))
            return driven;
        }
      };
      const { first, burst } = await rested(oneAtATime, async () => {
        Object.assign(meanwhile, await statusesMeanwhile(endpoint, context, known));
        Object.assign(others, await limitedOthers(endpoint, context, known));
      });
      streams.push(first);
      const bursts = [...(before[kind.name] ?? []), burst];
      before[kind.name] = bursts;
      if (first.refusal !== undefined) {
        const limited = await follow({
          endpoint,
          context,
          known,
          rule,
          supply,
          meanwhile,
          others,
          startedAt: burst.startedAt,
          history: [...burst.history],
          first: { ...first, refusal: first.refusal },
          again: async () => {
            const judgement = judgeBursts(bursts, rule);
            if (judgement.kind !== 'again' || !hasTime(context, rule)) return false;
            await context.rest(2 * rule.windowMs);
            await context.wait(untilPhase(bursts, rule, context.now()));
            bursts.push((await drive(context, rule, supply, oneAtATime || judgement.oneAtATime)).burst);
            return true;
          },
        });
        return { streams, bursts, judgement: judgeBursts(bursts, rule), limited };
      }
      const finding = judgeBurst(burst, rule);
      // Where 429 was due, something else came: it has to recur.
      if (finding.kind === 'instead' && hasTime(context, rule)) bursts.push((await rested(oneAtATime)).burst);
      const judgement = judgeBursts(bursts, rule);
      unlimited = { streams, bursts, judgement };
      if (finding.kind === 'instead' || finding.kind === 'lost') return unlimited;
    }
    if (unlimited.judgement?.kind !== 'again') break;
  }
  return unlimited;
}

/** Two windows of rest and one for a burst. */
const hasTime = (context: Context, { windowMs }: Rule) => context.leftMs() > 3.5 * windowMs;

/** Where in a window the next burst begins, after the last one: a boundary seen in that comes late in this one. */
const PHASE = 0.65;

/** Time (ms) until the next burst may begin at another phase of the window than the last one. */
function untilPhase(bursts: readonly Burst[], { windowMs }: Rule, now: number): number {
  const wanted = bursts.at(-1)!.startedAt + PHASE * windowMs;
  return (((wanted - now) % windowMs) + windowMs) % windowMs;
}

interface Following {
  readonly endpoint: Endpoint;
  readonly context: Context;
  readonly known: Known;
  readonly rule: Rule | undefined;
  readonly supply: Supply;
  readonly startedAt: number;
  readonly history: Sighting[];
  readonly first: Stream & { readonly refusal: NonNullable<Stream['refusal']> };
  readonly meanwhile: Readonly<Record<string, number>>;
  readonly others: Readonly<Record<string, boolean>>;
  /** Sends another burst from rest, where it takes one. */
  readonly again?: () => Promise<boolean>;
}

/** What comes after the first 429. */
async function follow(following: Following): Promise<Limited> {
  const { endpoint, context, known, rule, supply, startedAt, history, first, meanwhile, others } = following;
  const isLetInEarly = isPassedAfterRefusal(history);
  const recovery = await recover(context, history, startedAt, rule, supply);
  const recoveryMs = context.now() - startedAt;
  const refusedMs = Math.max(
    0,
    ...history.filter(({ result }) => result === 'refused').map(({ sentAt }) => sentAt - startedAt),
  );
  let isUsable = recovery.kind === 'answer';
  while (isUsable && (await following.again?.()) === true)
    isUsable = (await recover(context, [], context.now(), rule, supply)).kind === 'answer';
  const hasMembers = endpoint === 'user-status' && known.members.length > 0;
  // The key has spent one request of its window.
  let members = hasMembers && isUsable ? await sendMembers(context, known, first.passed) : undefined;
  if (members?.refusal !== undefined) {
    // A limiter that lets in few at first may have refused them for what was counted before.
    await context.rest(2 * (rule?.windowMs ?? recoveryMs));
    members = await sendMembers(context, known, first.passed);
  }
  const counting =
    rule !== undefined && isUsable && members?.refusal === undefined && hasTimeToCount(context, rule)
      ? await whatCounts(context, supply, otherKinds(endpoint, known, supply.kind), rule.most)
      : undefined;
  if (members?.refusal !== undefined || counting !== undefined) await context.send(found(endpoint, known));
  return {
    kind: first.kind,
    ...first.refusal,
    passed: first.passed,
    history,
    meanwhile,
    others,
    recovery,
    refusedMs,
    recoveryMs,
    isLetInEarly,
    ...(members === undefined ? {} : { members }),
    ...(counting === undefined ? {} : { counting }),
  };
}

function isPassedAfterRefusal(history: readonly Sighting[]): boolean {
  const refusedAt =
    history.find(({ result }) => result === 'refused')?.receivedAt ?? Number.POSITIVE_INFINITY;
  return history.some(({ result, sentAt }) => result === 'passed' && sentAt > refusedAt);
}

/** Waits for the end of the window, where its length is known, and then until the key is let in. */
async function recover(
  context: Context,
  history: Sighting[],
  startedAt: number,
  rule: Rule | undefined,
  supply: Supply,
): Promise<Reply> {
  const leftMs = rule === undefined ? 0 : startedAt + rule.windowMs + MARGIN - context.now();
  // The other endpoint needs what is left of a run that ends before the window does.
  if (leftMs > 0 && leftMs < context.leftMs()) await context.wait(leftMs);
  const reply = await context.patiently(supply.next(1)[0]!, (refused) => history.push(sightingOf(refused)));
  if (reply.kind === 'answer') history.push(sightingOf(reply));
  return reply;
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
