import { defined } from '../../schemas/values.ts';
import type { FixturePendingDeposit } from '../../schemas/generated/types.ts';
import { header, summary, type Answer, type Reply } from '../answer.ts';
import { executedAtIn, expectDeposit, expectError, fieldsOf } from '../rules/expectations.ts';
import { evenSample, withLetterCase } from '../inputs/uuids.ts';
import { type BecomingDeposit, type Known, type KnownKey, executionAt } from '../known.ts';
import { lookupOf, type Request } from '../request.ts';
import type { Endpoint } from '../../schemas/endpoints.ts';
import type { ScenarioResult } from '../rules/requirement.ts';
import type { Asking, Changed, Changes, Shared } from '../rules/scenario-context.ts';
import {
  blockedBy,
  failed,
  fixtureOutdated,
  inconclusive,
  judgeReply,
  pass,
  type Verdict,
  unanswered,
} from '../rules/verdict.ts';
import { afterHook, askAtOnce, askMeanwhile, isScarce, LOOKUPS_BESIDE, resultOf } from './changing.ts';

const isHidden = (endpoint: Endpoint, reply: Reply | undefined): boolean =>
  reply?.kind === 'answer' && expectError(endpoint, 404)(reply).kind === 'passed';

interface Execution {
  readonly amountInUsd: number;
  readonly executedAt?: number;
}

/** Lookups of a deposit with a key, in several spellings. */
const lookupsOf = (
  endpoint: Endpoint,
  { reference_id: id }: FixturePendingDeposit,
  key: KnownKey,
): readonly Request[] =>
  [id, withLetterCase(id, [true]), id.toLowerCase(), withLetterCase(id, [true, false])].map((spelled) =>
    lookupOf(endpoint, spelled, { credential: { as: 'key', key } }),
  );

/**
 * Looks up a deposit while its change is under way and when it is due: with keys of its owner, and without a key or
 * with that of another partner, whose answers other rows judge.
 *
 * @param tag of the answer before: a client that keeps answers sends it (RFC 9110 13.1.2)
 */
async function follow(
  endpoint: Endpoint,
  deposit: FixturePendingDeposit,
  execution: Execution,
  { dueAt, judged }: Pick<Changed, 'dueAt' | 'judged'>,
  context: Asking,
  { pending, failed: gone, executed, callerKeys: [first, second], otherKeys }: Known,
  tag?: string,
): Promise<ScenarioResult> {
  const own = lookupsOf(endpoint, deposit, first!);
  const early = await askMeanwhile(context, own.slice(0, 1), dueAt);
  const due = [
    ...(await askAtOnce(context, own)),
    ...(second ? await askAtOnce(context, lookupsOf(endpoint, deposit, second), LOOKUPS_BESIDE) : []),
    ...(tag ? await askAtOnce(context, [{ ...own[0]!, headers: { 'if-none-match': tag } }], 1) : []),
  ];
  // Other rows judge who else sees the deposit, and whether other deposits changed too.
  const noKey = lookupOf(endpoint, deposit.reference_id, { credential: { as: 'none' } });
  const rest = pending.filter((one) => one !== deposit);
  const ofUser = rest.find(({ user_id }) => user_id === deposit.user_id);
  const others = [ofUser ?? rest[0], gone[0], executed[0]];
  const beside = others.flatMap((one) => (one === undefined ? [] : [lookupOf(endpoint, one.reference_id)]));
  await judged(async () => {
    if (otherKeys[0] !== undefined) await askAtOnce(context, lookupsOf(endpoint, deposit, otherKeys[0]));
    await askAtOnce(context, [noKey, ...beside], 1 + beside.length);
  });
  const isRightOnce = [...early, ...due].some(
    ({ reply }) => reply.kind === 'answer' && expectDeposit(execution)(reply).kind === 'passed',
  );
  const result = resultOf(early, due, (request, answer) => {
    const isEarly = answer.sentAt < dueAt && isHidden(endpoint, answer);
    const verdict = expectDeposit(execution)(answer);
    // Other rows judge missing fields, and refusals of a key.
    if (isEarly || verdict.kind !== 'failed' || answer.status === 401) return pass;
    // What is wrong with other deposits too belongs to other rows.
    return isRightOnce && context.failsAnyway(request, answer) ? pass : verdict;
  });
  return result.finding.kind !== 'passed' || isRightOnce ? result : { ...result, finding: unclear };
}

const unclear = inconclusive(
  'depends',
  'not checked because no answer has all fields, which other rows report',
);

async function executeByHook(
  endpoint: Endpoint,
  deposit: FixturePendingDeposit,
  pendingId: string,
  context: Asking & Changes,
  known: Known,
): Promise<ScenarioResult> {
  const { graceMs, now, send, withState } = context;
  const keys = known.callerKeys.slice(0, 2);
  const [request] = lookupsOf(endpoint, deposit, keys[0]!) as [Request];
  const [reply] = (await send(request)) as [Reply];
  const ready = judgeReply(reply, () => (isHidden(endpoint, reply) ? pass : blockedBy(pendingId)));
  if (ready.kind !== 'passed') return { finding: ready, request, reply };
  // A cache may keep this.
  for (const key of keys) await askAtOnce(context, lookupsOf(endpoint, deposit, key), LOOKUPS_BESIDE);
  const executed = { ...deposit, state: 'EXECUTED', ...executionAt(now()) } as const;
  const change = { state: 'deposit executed', deposit: executed } as const;
  const after = await withState!(change, async (changed): Promise<ScenarioResult> => {
    const result = await follow(endpoint, deposit, executed, changed, context, known, tagOf(reply));
    return afterHook(result, `"${change.state}" of ${deposit.reference_id}`, changed, graceMs);
  });
  return 'kind' in after ? { finding: unanswered(after), request, reply: after } : after;
}

const tagOf = (reply: Reply) => (reply.kind === 'answer' ? header(reply, 'etag') : undefined);

type Polled = ScenarioResult & { readonly deposit: BecomingDeposit; readonly tag?: string | undefined };

/** Polls until the deposit is EXECUTED: as long as the fixture says, and the grace. */
async function pollUntilExecuted(
  endpoint: Endpoint,
  deposit: BecomingDeposit,
  pendingId: string,
  context: Asking,
  known: Known,
): Promise<Polled> {
  const { reference_id, becomes } = deposit;
  const { afterPolls, afterSeconds = 0 } = becomes;
  const { graceMs, now, send, wait } = context;
  const [, second] = known.callerKeys;
  const request = lookupOf(endpoint, reference_id);
  const startedAt = now();
  let endsAt = afterPolls === undefined ? startedAt + afterSeconds * 1000 + graceMs : Infinity;
  let tag: string | undefined;
  for (let polls = 1; ; polls++) {
    const [reply] = (await send(request)) as [Reply];
    const shown = { request, reply, deposit, tag };
    tag = tagOf(reply);
    if (reply.kind !== 'answer') return { finding: unanswered(reply), ...shown };
    // Lookups beside it may make the server fail.
    if (!isHidden(endpoint, reply) && reply.status < 500)
      return {
        finding: await judgeChange(endpoint, reply, polls, deposit, pendingId, context, known),
        ...shown,
      };
    // A cache may keep this for the second key.
    if (polls === 1 && second !== undefined) {
      await send(lookupsOf(endpoint, deposit, second)[0]!);
      polls++;
    }
    const { sentAt } = reply;
    if (afterPolls !== undefined && polls >= afterPolls) endsAt = Math.min(endsAt, now() + graceMs);
    if (sentAt >= endsAt) {
      const due = afterPolls === undefined ? `${afterSeconds} s` : `${afterPolls} polls`;
      const actual = `${summary(reply)} after ${polls} polls in ${((sentAt - startedAt) / 1000).toFixed(1)} s; raise --grace if your system promises this later`;
      return { finding: failed('status', `200 after ${due}`, actual), ...shown };
    }
    const pauseMs = afterSeconds * (isScarce(context, endpoint) ? 500 : 100);
    if (afterPolls === undefined) await wait(Math.max(pauseMs, graceMs / 10), 'change');
    else if (polls > afterPolls) await wait(graceMs / 10, 'change');
  }
}

/** Judges the first answer to a poll that is not 404. */
async function judgeChange(
  endpoint: Endpoint,
  reply: Answer,
  polls: number,
  { reference_id, becomes }: BecomingDeposit,
  pendingId: string,
  { send }: Asking,
  { pending: [staying] }: Known,
): Promise<Verdict> {
  const verdict = expectDeposit(becomes)(reply);
  const time = executedAtIn(reply, becomes.executedAt);
  const hasTime = Object.hasOwn(fieldsOf(reply) ?? {}, 'executedAt');
  if (verdict.kind === 'inconclusive' || (verdict.kind === 'passed' && !hasTime)) return unclear;
  if (polls > 1) {
    if (verdict.kind !== 'passed') return verdict;
    return time === undefined ? failed('value', '"executedAt": Unix milliseconds', summary(reply)) : pass;
  }
  const [again] = await send(lookupOf(endpoint, reference_id));
  if (again?.kind === 'trouble') return unanswered(again);
  const isSame = again !== undefined && executedAtIn(again, becomes.executedAt) === time;
  if (verdict.kind === 'passed' && time !== undefined && isSame) return fixtureOutdated;
  // The row of pending deposits judges this, unless only this deposit is affected.
  const [other] = staying === undefined ? [] : await send(lookupOf(endpoint, staying.reference_id));
  if (!isHidden(endpoint, other)) return blockedBy(pendingId);
  return reply.status === 200
    ? failed('status', '404 first, then 200', `${summary(reply)} at the first poll`)
    : expectError(endpoint, 404)(reply);
}

/** Maximum number of deposits to poll, and under a scarce limit. */
const [MAX_POLLED, FEW_POLLED] = [20, 2];

/** Polls the deposits with `becomes`, or an evenly spaced sample of them. One transition that was seen is enough. */
async function pollBecoming(
  endpoint: Endpoint,
  pendingId: string,
  context: Asking,
  known: Known,
): Promise<Polled | undefined> {
  const polled = await Promise.all(
    evenSample(known.becoming, isScarce(context, endpoint) ? FEW_POLLED : MAX_POLLED).map((one) =>
      pollUntilExecuted(endpoint, one, pendingId, context, known),
    ),
  );
  const first = (kind: Verdict['kind']) => polled.find(({ finding }) => finding.kind === kind);
  const found = first('failed') ?? first('passed') ?? polled[0];
  return found && { ...found, cases: polled.length };
}

export type Polls = Shared<Polled | undefined>;

/**
 * Polls the deposits that become EXECUTED by themselves, once per run, beside lookups.
 *
 * @param pendingId the row that judges pending deposits
 */
export const pollsOf = (endpoint: Endpoint, pendingId: string): Polls => ({
  id: 'deposits that become EXECUTED',
  reserves: true,
  // Without other pending deposits, the first poll is the lookup of a pending one.
  isAlone: ({ pending }) => pending.length > 0,
  make: (context, known) => pollBecoming(endpoint, pendingId, context, known),
});

/**
 * A deposit changes from 404 to 200: by the state hook, and those with `becomes` by themselves.
 *
 * @param pendingId the row that judges pending deposits
 */
export async function becomesExecuted(
  endpoint: Endpoint,
  polls: Polls,
  pendingId: string,
  context: Asking & Changes,
  known: Known,
): Promise<ScenarioResult> {
  const polled = await context.once(polls, known);
  const changed = known.spare ?? known.pending[0];
  const isByHook = context.withState !== undefined && changed !== undefined;
  // With few requests, one of the two deposits is enough.
  const isFollowed = polled !== undefined && (!isByHook || context.leftRequests() > FOR_BOTH);
  const itself = isFollowed ? orElse(polled, await followPolled(endpoint, polled, context, known)) : polled;
  if (!isByHook || itself?.finding.kind === 'failed') return itself!;
  const byHook = await executeByHook(endpoint, changed, pendingId, context, known);
  return itself === undefined ? byHook : orElse(itself, byHook);
}

/** Requests that are left if both a deposit with `becomes` and that of the state hook are followed. */
const FOR_BOTH = 300;

/** The second result, unless lookups have left nothing of a limit for it, and the first one passed. */
function orElse(first: ScenarioResult, second: ScenarioResult): ScenarioResult {
  const { finding } = second;
  const isLeftOut = finding.kind === 'inconclusive' && ['rate-limited', 'budget'].includes(finding.reason);
  return isLeftOut && first.finding.kind === 'passed' ? first : second;
}

/** Follows a deposit that became EXECUTED by itself. */
async function followPolled(
  endpoint: Endpoint,
  polled: Polled,
  context: Asking,
  known: Known,
): Promise<ScenarioResult> {
  const { deposit, finding, reply, cases = 1 } = polled;
  if (finding.kind !== 'passed' || reply?.kind !== 'answer') return polled;
  const { amountInUsd, executedAt } = deposit.becomes;
  const execution = defined({ amountInUsd, executedAt: executedAtIn(reply, executedAt) });
  const dueAt = reply.receivedAt + context.graceMs;
  const judged = { dueAt, judged: <Result>(ask: () => Promise<Result>) => ask() };
  return { ...(await follow(endpoint, deposit, execution, judged, context, known, polled.tag)), cases };
}
