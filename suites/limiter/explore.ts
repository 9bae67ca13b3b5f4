import type { Endpoint } from '../../schemas/endpoints.ts';
import type { Answer, Reply } from '../answer.ts';
import type { Known } from '../known.ts';
import type { Request } from '../request.ts';
import type { Doors } from '../requirement.ts';
import { sendUntilRefused, type Burst } from './burst.ts';
import { LEAST_THRESHOLD, whatCounts } from './counting.ts';
import { decide, isLetInAgain, recover, tryEarly } from './decide.ts';
import type { Rule, Sighting } from './history.ts';
import { judge, type Judgement } from './judge.ts';
import { found, kindsOf, lookupsOfMembers, supplyOf, type Supply } from './kinds.ts';
import { limitedOthers, statusesMeanwhile } from './meanwhile.ts';
import { beyond, statedRule, WINDOWS_OF_EXPLORATION } from './rule.ts';

/** Requests of one kind that are spent on finding a limiter whose threshold nobody stated. */
const MOST_WITHOUT_THRESHOLD = 1000;

/** A window, in ms, up to which it is worth another one to see what else counts. */
const LONGEST_TO_COUNT = 10_000;

/** What is known of an endpoint's limiter after it was driven to its limit. Times are ms. */
export interface Exploration {
  /** Kinds of requests that were sent, the last of which may have ended in 429. */
  readonly bursts: readonly Burst[];
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
  /** Every counted request of the key under test. */
  readonly history: readonly Sighting[];
  /** What the history says of the limit that is stated; undefined where none is, or the time did not suffice. */
  readonly judgement?: Judgement;
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
  /** Lookups of members, more than the limiter lets through of the others; user-status only. */
  readonly members?: Burst;
  /** Whether other kinds of requests count as well, by name; where there was time to see. */
  readonly counting?: Readonly<Record<string, boolean>>;
}

/** Drives the limiter to its limit, looks whom else it limits, and waits until it lets go; once a run. */
export function explore(endpoint: Endpoint, { once }: Doors, known: Known): Promise<Exploration> {
  return once(`limiter of ${endpoint}`, async (doors) => {
    const rule = statedRule(endpoint, known);
    const most = rule === undefined ? MOST_WITHOUT_THRESHOLD : beyond(rule);
    const bursts: Burst[] = [];
    // Where there is no time to wait until all is forgotten, a 429 may come early and still be due.
    const isSettled = rule === undefined || doors.leftMs() > 1.2 * rule.windowMs;
    for (const kind of kindsOf(endpoint)) {
      const forget = async () => {
        if (isSettled) await doors.settle(endpoint);
        // Some limiters still count the window before the last one.
        if (rule !== undefined && doors.leftMs() > (WINDOWS_OF_EXPLORATION + 1) * rule.windowMs)
          await doors.wait(rule.windowMs);
      };
      const supply = supplyOf(kind, known);
      await forget();
      let burst = await sendUntilRefused(doors, supply, most);
      if (
        rule !== undefined &&
        isTooSlow(burst, rule) &&
        doors.leftMs() > WINDOWS_OF_EXPLORATION * rule.windowMs
      ) {
        await forget();
        burst = await sendUntilRefused(doors, supply, most);
      }
      bursts.push(burst);
      if (burst.refusal !== undefined)
        return { bursts, limited: await follow(endpoint, doors, known, burst, supply, isSettled) };
      if (burst.trouble !== undefined) break;
    }
    return { bursts };
  });
}

/** Whether a window ended, by little, before a limiter had to set in: quicker, it may. */
const isTooSlow = ({ refusal, trouble, elapsedMs }: Burst, { windowMs }: Rule) =>
  refusal === undefined && trouble === undefined && elapsedMs >= windowMs && elapsedMs < 2 * windowMs;

/** What comes after the first 429. */
async function follow(
  endpoint: Endpoint,
  doors: Doors,
  known: Known,
  first: Burst,
  supply: Supply,
  isSettled: boolean,
): Promise<Limited> {
  const rule = isSettled ? statedRule(endpoint, known) : undefined;
  const { request, answer } = first.refusal!;
  const history = [...first.history];
  const begun = first.history[0]!.sentAt;
  if (rule !== undefined) history.push(...(await tryEarly(doors, rule, begun, supply)));
  // Some of it may count, as nobody knows: no counted request may come soon after it.
  const meanwhile = await statusesMeanwhile(endpoint, doors, known);
  const others = await limitedOthers(endpoint, doors, known);
  const recovery = await recover(doors, history, rule, supply);
  const recoveryMs = doors.now() - begun;
  const refusedMs = Math.max(
    0,
    ...history.filter(({ passed }) => !passed).map(({ sentAt }) => sentAt - begun),
  );
  const isLetIn = recovery.kind === 'answer';
  const judgement =
    rule === undefined
      ? undefined
      : isLetIn
        ? await decide(doors, rule, history, supply)
        : judge(history, rule);
  // Leaves the key usable.
  const isUsable = isLetIn && (await isLetInAgain(doors, rule, history, supply));
  const hasMembers = endpoint === 'user-status' && known.members.length > 0;
  const members = hasMembers && isUsable ? await sendMembers(doors, known, first.passed) : undefined;
  const counting =
    rule !== undefined && isUsable && members?.refusal === undefined && hasTimeToCount(doors, rule)
      ? await whatCounts(doors, supply, otherKinds(endpoint, known, supply.kind), rule.most)
      : undefined;
  if (members?.refusal !== undefined || counting !== undefined) await doors.send(found(endpoint, known));
  return {
    kind: first.kind,
    request,
    answer,
    passed: first.passed,
    history,
    meanwhile,
    others,
    recovery,
    refusedMs,
    recoveryMs,
    ...(judgement === undefined ? {} : { judgement }),
    ...(members === undefined ? {} : { members }),
    ...(counting === undefined ? {} : { counting }),
  };
}

/** What else counts is worth a short window, and no long one. */
const hasTimeToCount = (doors: Doors, { most, windowMs }: Rule) =>
  most >= LEAST_THRESHOLD && windowMs <= LONGEST_TO_COUNT && doors.leftMs() > 2 * windowMs;

const otherKinds = (endpoint: Endpoint, known: Known, counted: string) =>
  kindsOf(endpoint)
    .filter(({ name }) => name !== counted)
    .map((kind) => supplyOf(kind, known));

/** More lookups of members than there may be of anything that counts. */
export function sendMembers(doors: Doors, known: Known, passed: number): Promise<Burst> {
  const most = Math.min(2 * passed + 2, MOST_WITHOUT_THRESHOLD);
  return sendUntilRefused(doors, supplyOf(lookupsOfMembers, known), most);
}
