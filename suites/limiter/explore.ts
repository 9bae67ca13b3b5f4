import type { Endpoint } from '../../schemas/endpoints.ts';
import type { Answer, Reply } from '../answer.ts';
import { findableId } from '../inputs/uuids.ts';
import type { Known } from '../known.ts';
import { lookupOf, type Request } from '../request.ts';
import type { Doors } from '../requirement.ts';
import { send, sendUntilRefused, sightingOf, type Burst } from './burst.ts';
import { LEAST_THRESHOLD, whatCounts } from './counting.ts';
import type { Rule, Sighting } from './history.ts';
import { judge, type Judgement } from './judge.ts';
import { asCaller, kindsOf, lookupsOfMembers, supplyOf, type Supply } from './kinds.ts';
import { beyond, statedRule, WINDOWS_OF_EXPLORATION } from './rule.ts';

/** Requests of one kind that are spent on finding a limiter whose threshold nobody stated. */
const MOST_WITHOUT_THRESHOLD = 1000;

/** How far into a window a limited key is tried once more: only a bucket that is refilled, or a new window, lets it in. */
const EARLY = 0.3;

/** A window, in ms, up to which it is worth another one to see what else counts. */
const LONGEST_TO_COUNT = 10_000;

/** Added to a window before it counts as over, in ms. */
const MARGIN = 50;

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
export function explore(endpoint: Endpoint, doors: Doors, known: Known): Promise<Exploration> {
  return doors.once(`limiter of ${endpoint}`, async () => {
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

const found = (endpoint: Endpoint, known: Known) =>
  asCaller(known, lookupOf(endpoint, findableId(endpoint, known)));

/** Until the limiter lets go, where there is time for it. */
async function isLetInAgain(
  doors: Doors,
  rule: Rule | undefined,
  history: Sighting[],
  supply: Supply,
): Promise<boolean> {
  if (doors.leftMs() < (rule?.windowMs ?? 0) + MARGIN) return false;
  return (await recover(doors, history, rule, supply)).kind === 'answer';
}

/** A second burst, and where that does not decide it a third, as long as there is time for it. */
async function decide(doors: Doors, rule: Rule, history: Sighting[], supply: Supply): Promise<Judgement> {
  const second = await sendUntilRefused(doors, supply, beyond(rule));
  history.push(...second.history);
  // Nothing but weights explains it: a burst that finds nothing to be weighed tells, elsewhere in a window than the first.
  const isWeighted = (judgement: Judgement) =>
    judgement.kind !== 'broken' && judgement.manners.every((manner) => manner === 'weighted');
  const isOpen = (judgement: Judgement) =>
    isWeighted(judgement) || (judgement.kind === 'open' && !judgement.isStrictEnough);
  let judgement = judge(history, rule);
  // A bucket looks like windows that end within the first burst; none of those ends now.
  if (isOpen(judgement) && !isWeighted(judgement) && doors.leftMs() > 1.5 * rule.windowMs) {
    history.push(...(await tryEarly(doors, rule, second.history[0]?.sentAt ?? doors.now(), supply)));
    judgement = judge(history, rule);
  }
  if (!isOpen(judgement) || doors.leftMs() < (isWeighted(judgement) ? 3 : 1.5) * rule.windowMs)
    return judgement;
  if (isWeighted(judgement)) await doors.wait(1.5 * rule.windowMs);
  const reply = await recover(doors, history, rule, supply);
  if (reply.kind !== 'answer') return judge(history, rule);
  history.push(...(await sendUntilRefused(doors, supply, beyond(rule))).history);
  return judge(history, rule);
}

/** One request well before the window may end, and more if it is let in: this tells windows from buckets. */
async function tryEarly(
  doors: Doors,
  rule: Rule,
  begun: number,
  supply: Supply,
): Promise<readonly Sighting[]> {
  const early = EARLY * rule.windowMs;
  // At once after a slow burst it would tell nothing: no bucket has won anything back.
  await doors.wait(Math.max(early / 2, begun + early - doors.now()));
  const { history, refusal, trouble } = await send(doors, supply, 1);
  if (refusal !== undefined || trouble !== undefined) return history;
  return [...history, ...(await sendUntilRefused(doors, supply, beyond(rule))).history];
}

/** Waits for a window without any request, where its length is known, and then until the key is let in. */
async function recover(
  doors: Doors,
  history: Sighting[],
  rule: Rule | undefined,
  supply: Supply,
): Promise<Reply> {
  if (rule !== undefined) await doors.wait(rule.windowMs + MARGIN);
  const reply = await doors.patiently(supply.next(1)[0]!, (refused) => history.push(sightingOf(refused)));
  if (reply.kind === 'answer') history.push(sightingOf(reply));
  return reply;
}

/** More lookups of members than there may be of anything that counts. */
export function sendMembers(doors: Doors, known: Known, passed: number): Promise<Burst> {
  const most = Math.min(2 * passed + 2, MOST_WITHOUT_THRESHOLD);
  return sendUntilRefused(doors, supplyOf(lookupsOfMembers, known), most);
}

/** What a limited key, and nobody's, is told about other requests. */
async function statusesMeanwhile(
  endpoint: Endpoint,
  doors: Doors,
  known: Known,
): Promise<Record<string, number>> {
  const asked = {
    'a lookup that finds': found(endpoint, known),
    'an invalid id': asCaller(known, lookupOf(endpoint, 'invalid')),
    'an unknown key': lookupOf(endpoint, findableId(endpoint, known), {
      credential: { as: 'header', value: 'Bearer nobody', shell: 'Bearer nobody' },
    }),
  };
  const replies = await doors.burst(...Object.values(asked));
  return Object.fromEntries(
    Object.keys(asked).flatMap((name, at) => {
      const reply = replies[at]!;
      return reply.kind === 'answer' ? [[name, reply.status] as const] : [];
    }),
  );
}

async function limitedOthers(
  endpoint: Endpoint,
  doors: Doors,
  known: Known,
): Promise<Record<string, boolean>> {
  const others = [...known.callerKeys.slice(1, 2), ...known.otherKeys.slice(0, 1)];
  const replies = await doors.burst(
    ...others.map((key) =>
      lookupOf(endpoint, findableId(endpoint, known), { credential: { as: 'key', key } }),
    ),
  );
  return Object.fromEntries(
    replies.flatMap((reply, nth) =>
      reply.kind === 'answer' ? [[others[nth]!.name, reply.status === 429] as const] : [],
    ),
  );
}
