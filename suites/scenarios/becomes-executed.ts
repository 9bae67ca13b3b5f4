import type { FixturePendingDeposit } from '../../schemas/generated/types.ts';
import { summary, type Answer, type Reply } from '../answer.ts';
import { executionAt, isOfOtherRun } from '../model/changes.ts';
import { executionIn, expectDeposit, expectError } from '../expectations.ts';
import { evenSample, withLetterCase } from '../inputs/uuids.ts';
import type { BecomingDeposit, Known } from '../known.ts';
import { depositCheck, type Changes } from '../request.ts';
import type { ScenarioResult } from '../requirement.ts';
import type { ChangeTimes, Context } from '../scenario-context.ts';
import {
  blockedBy,
  earlierRun,
  failed,
  fixtureOutdated,
  inconclusive,
  judgeReply,
  otherRun,
  pass,
  type Verdict,
} from '../verdict.ts';
import { afterHook, askAtOnce, askMeanwhile, resultOf } from './changing.ts';

const notFound = expectError('deposit-check', 404);

/**
 * Looks up a deposit while its change is under way and afterwards: for its owner, and for another partner, whose
 * answers other rows judge.
 */
async function follow(
  deposit: FixturePendingDeposit,
  execution: { readonly amountInUsd: number; readonly executedAt?: number },
  { dueAt }: ChangeTimes,
  context: Context,
  known: Known,
): Promise<ScenarioResult> {
  const { reference_id } = deposit;
  const spellings = [
    reference_id,
    withLetterCase(reference_id, [true]),
    reference_id.toLowerCase(),
    withLetterCase(reference_id, [true, false]),
  ];
  const lookups = (changes: Changes) => spellings.map((id) => depositCheck(id, changes));
  const [own, [, second], [other]] = [lookups({ isStateChanged: true }), known.callerKeys, known.otherKeys];
  const ofSecond = second && lookups({ credential: { as: 'key', key: second }, isStateChanged: true });
  const meanwhile = await askMeanwhile(context, own.slice(0, 1), dueAt);
  const due = await askAtOnce(context, own);
  const exchanges = [...meanwhile, ...due, ...(await askAtOnce(context, ofSecond ?? [], spellings.length))];
  // Other rows judge who else sees the deposit, and whether other deposits changed too.
  if (other !== undefined) await askAtOnce(context, lookups({ credential: { as: 'key', key: other } }));
  const others = [known.pending.find((one) => one !== deposit), known.failed[0], known.executed[0]];
  const beside = others.flatMap((one) => (one === undefined ? [] : [depositCheck(one.reference_id)]));
  const noKey = depositCheck(reference_id, { credential: { as: 'none' } });
  await askAtOnce(context, [noKey, ...beside], 1 + beside.length);
  const isRightOnce = exchanges.some(
    ({ reply }) => reply.kind === 'answer' && expectDeposit(execution)(reply).kind === 'passed',
  );
  const result = resultOf(exchanges, (request, answer) => {
    const isEarly = answer.sentAt < dueAt && notFound(answer).kind === 'passed';
    const verdict = expectDeposit(execution)(answer);
    // Other rows judge missing fields, and refusals of the key.
    if (isEarly || verdict.kind !== 'failed' || answer.status === 401) return pass;
    // What is wrong with other deposits too belongs to other rows.
    if (isRightOnce && context.failsAnyway(request, answer)) return pass;
    const { executedAt } = execution;
    return executedAt !== undefined && isOfOtherRun(answer, { executedAt }) ? otherRun : verdict;
  });
  if (result.finding.kind !== 'passed') return result;
  const isRefused = exchanges.some(
    ({ request, reply }) =>
      request.credential.as === 'caller' && reply.kind === 'answer' && reply.status === 401,
  );
  const finding = isRefused ? refused : isRightOnce ? pass : judgeReply(due[0]!.reply, () => unclear);
  return { ...result, finding };
}

const unclear = inconclusive(
  'depends',
  'not checked because no answer has all fields, which other rows report',
);

const refused = inconclusive('key-refused', 'the key under test got 401 while another key was revoked');

/** A hook that revokes a key at the same time may take the caller's key along: then try again. */
const [MAX_TRIES, PAUSE_MS] = [3, 3000];

async function executeByHook(
  deposit: FixturePendingDeposit,
  pendingId: string,
  context: Context,
  known: Known,
): Promise<ScenarioResult> {
  const { reference_id } = deposit;
  const request = depositCheck(reference_id);
  const [first] = (await context.send(request)) as [Reply];
  const ready = judgeReply(first, (answer) =>
    notFound(answer).kind === 'passed' ? pass : isOfOtherRun(answer) ? earlierRun : blockedBy(pendingId),
  );
  if (ready.kind !== 'passed') return { finding: ready, request, reply: first };
  const { graceMs, now, wait, withState } = context;
  const executed = { ...deposit, state: 'EXECUTED', ...executionAt(now()) } as const;
  const change = { state: 'deposit executed', deposit: executed } as const;
  for (let tries = 1; ; tries++) {
    const after = await withState!(change, async (times): Promise<ScenarioResult> => {
      const result = await follow(deposit, executed, times, context, known);
      return afterHook(result, `"${change.state}" of ${reference_id}`, times, graceMs);
    });
    if ('kind' in after) return { finding: inconclusive(after.code, after.words), request, reply: after };
    if (after.finding !== refused || tries === MAX_TRIES) return after;
    await wait(PAUSE_MS);
  }
}

/** Polls until the deposit is EXECUTED: as long as the fixture says, and the grace. */
async function pollUntilExecuted(
  deposit: BecomingDeposit,
  pendingId: string,
  context: Context,
  known: Known,
): Promise<ScenarioResult> {
  const { reference_id, becomes } = deposit;
  const { afterPolls, afterSeconds = 0 } = becomes;
  const { graceMs, now, send, wait } = context;
  const request = depositCheck(reference_id, { isStateChanged: true });
  const startedAt = now();
  let polls = 0;
  let endsAt = afterPolls === undefined ? startedAt + afterSeconds * 1000 + graceMs : Infinity;
  for (;;) {
    // Without any other, the row of pending deposits judges the first look at this one.
    const isOnly = polls === 0 && known.pending.length === 0;
    const [reply] = (await send(isOnly ? depositCheck(reference_id) : request)) as [Reply];
    polls++;
    if (reply.kind !== 'answer') return { finding: inconclusive(reply.code, reply.words), request, reply };
    if (notFound(reply).kind !== 'passed') {
      const finding = await judgeChange(reply, polls, deposit, pendingId, context, known);
      return { finding, request, reply };
    }
    const at = now();
    if (afterPolls !== undefined && polls === afterPolls) endsAt = at + graceMs;
    if (at >= endsAt) {
      const due = afterPolls === undefined ? `${afterSeconds} s` : `${afterPolls} polls`;
      const actual = `${summary(reply)} after ${polls} polls in ${((at - startedAt) / 1000).toFixed(1)} s; raise --grace if your system promises this later`;
      return { finding: failed('status', `200 after ${due}`, actual), request, reply };
    }
    if (afterPolls === undefined) await wait(Math.max(afterSeconds * 100, graceMs / 10));
    else if (polls > afterPolls) await wait(graceMs / 10);
  }
}

/** Judges the first answer to a poll that is not 404. */
async function judgeChange(
  reply: Answer,
  polls: number,
  { reference_id, becomes }: BecomingDeposit,
  pendingId: string,
  { send }: Context,
  { pending: [staying] }: Known,
): Promise<Verdict> {
  const verdict = expectDeposit(becomes)(reply);
  const time = executionIn(reply, becomes.executedAt);
  if (polls > 1) {
    if (verdict.kind !== 'passed') return verdict;
    return time === undefined ? failed('value', '"executedAt": Unix milliseconds', summary(reply)) : pass;
  }
  const [again] = await send(depositCheck(reference_id, { isStateChanged: true }));
  if (again?.kind === 'trouble') return inconclusive(again.code, again.words);
  const isSame =
    again !== undefined && executionIn(again, becomes.executedAt)?.executedAt === time?.executedAt;
  if (verdict.kind === 'passed' && time !== undefined && isSame) return fixtureOutdated;
  // The row of pending deposits judges this, unless only this deposit is affected.
  const [other] = staying === undefined ? [] : await send(depositCheck(staying.reference_id));
  if (other?.kind !== 'answer' || notFound(other).kind !== 'passed') return blockedBy(pendingId);
  return reply.status === 200
    ? failed('status', '404 first, then 200', `${summary(reply)} at the first poll`)
    : notFound(reply);
}

/** Maximum number of deposits to poll: each takes as long as the fixture says. */
const MAX_POLLED = 20;

/** Polls the deposits with `becomes`, or an evenly spaced sample of them. One of them is followed. */
async function pollBecoming(
  pendingId: string,
  context: Context,
  known: Known,
  isFollowed: boolean,
): Promise<ScenarioResult | undefined> {
  let found: ScenarioResult | undefined;
  for (const [nth, deposit] of evenSample(known.becoming, MAX_POLLED).entries()) {
    let next = await pollUntilExecuted(deposit, pendingId, context, known);
    const isFirst = found?.finding.kind !== 'passed';
    const { finding, reply } = next;
    if (isFollowed && isFirst && finding.kind === 'passed') {
      await context.afterLookups('deposit-check');
      const askedAt = context.now();
      const times = { askedAt, dueAt: askedAt + context.graceMs };
      const { amountInUsd, executedAt } = deposit.becomes;
      const execution = { amountInUsd, ...executionIn(reply as Answer, executedAt) };
      const followed = await follow(deposit, execution, times, context, known);
      // Lookups may have left nothing of a limit: the poll is enough.
      const after = followed.finding;
      const isLeftOut = after.kind === 'inconclusive' && ['rate-limited', 'budget'].includes(after.reason);
      if (!isLeftOut) next = followed;
    }
    const result = { ...next, cases: nth + 1 };
    if (result.finding.kind === 'failed') return result;
    // One transition that was seen is enough.
    if (nth === 0 || (isFirst && result.finding.kind === 'passed')) found = result;
  }
  return found;
}

/**
 * A deposit changes from 404 to 200: by the state hook, and those with `becomes` by themselves.
 *
 * @param pendingId the row that judges pending deposits
 */
export async function becomesExecuted(
  pendingId: string,
  context: Context,
  known: Known,
): Promise<ScenarioResult> {
  const changed = known.spare ?? known.pending[0];
  const onRequest = context.withState && changed && (await executeByHook(changed, pendingId, context, known));
  if (onRequest !== undefined && onRequest.finding.kind !== 'passed') return onRequest;
  const byItself = await pollBecoming(pendingId, context, known, onRequest === undefined);
  return byItself?.finding.kind === 'failed' ? byItself : (onRequest ?? byItself)!;
}
