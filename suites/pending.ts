import type { FixturePendingDeposit } from '../schemas/generated/types.ts';
import { header, summary, type Answer, type Reply } from './answer.ts';
import { expectError, expectDeposit, fieldsOf } from './expectations.ts';
import { indistinguishable } from './indistinguishable.ts';
import type { BecomingDeposit, Known } from './known.ts';
import { depositCheck } from './request.ts';
import {
  observing,
  required,
  scenario,
  sendUntil,
  type Context,
  type Requirement,
  type Scenario,
} from './requirement.ts';
import { evenSample } from './inputs/uuids.ts';
import {
  blockedBy,
  failed,
  pass,
  judgeReply,
  observed,
  fixtureOutdated,
  inconclusive,
  type Verdict,
} from './verdict.ts';

const notFound = expectError('deposit-check', 404);

/** Extra polls after the stated ones before a transition counts as missing. */
const EXTRA_POLLS = 5;

/**
 * Whether a deposit was EXECUTED before the run: its time was over, or an earlier run polled it. Times are compared
 * by the target's clock.
 */
function wasExecutedBefore(answer: Answer, { becomes }: BecomingDeposit): boolean {
  const executedAt = fieldsOf(answer)?.['executedAt'];
  if (expectDeposit(becomes)(answer).kind !== 'passed' || !isPlausibleTime(executedAt)) return false;
  const date = Date.parse(header(answer, 'date') ?? '');
  return becomes.afterSeconds !== undefined || executedAt < (Number.isNaN(date) ? answer.sentAt : date);
}

/** Whether a value can be Unix milliseconds from 2001 to 2286. */
function isPlausibleTime(value: unknown): value is number {
  return typeof value === 'number' && value >= 1e12 && value < 1e13;
}

/** Polls until the deposit is EXECUTED, a bit longer than the fixture says. */
const pollUntilExecuted =
  (deposit: BecomingDeposit): Scenario['run'] =>
  async (context, known) => {
    const { reference_id, becomes } = deposit;
    const { afterPolls, afterSeconds = 0 } = becomes;
    const most = (afterPolls === undefined ? 10 : 2 * afterPolls) + EXTRA_POLLS;
    const request = depositCheck(reference_id);
    let reply: Reply;
    let polls = 0;
    do {
      if (polls > 0 && afterSeconds > 0) await context.wait(afterSeconds * 100);
      [reply] = (await context.send(request)) as [Reply];
      polls++;
    } while (judgeReply(reply, notFound).kind === 'passed' && polls <= most);
    const finding = async (answer: Answer): Promise<Verdict> => {
      const due = afterPolls === undefined ? `${afterSeconds} s` : `${afterPolls} polls`;
      if (notFound(answer).kind === 'passed')
        return failed('status', `200 after ${due}`, `${summary(answer)} after ${polls} polls`);
      if (polls > 1) return judgeTransition(answer, becomes);
      return wasExecutedBefore(answer, deposit) ? fixtureOutdated : judgeFirstPoll(answer, context, known);
    };
    const verdict = reply.kind === 'answer' ? await finding(reply) : inconclusive(reply.code, reply.words);
    return { finding: verdict, request, reply };
  };

/** The first poll is not 404: pending/deposit-check/pending judges that, unless only this deposit is affected. */
async function judgeFirstPoll(
  reply: Answer,
  { send }: Context,
  { pending: staying }: Known,
): Promise<Verdict> {
  const [answer] = await send(...staying.slice(0, 1).map(({ reference_id }) => depositCheck(reference_id)));
  if (answer?.kind !== 'answer' || notFound(answer).kind !== 'passed')
    return blockedBy('pending/deposit-check/pending');
  return reply.status === 200
    ? failed('status', '404 first, then 200', `${summary(reply)} at the first poll`)
    : notFound(reply);
}

function judgeTransition(reply: Answer, becomes: BecomingDeposit['becomes']): Verdict {
  const verdict = expectDeposit(becomes)(reply);
  if (verdict.kind !== 'passed') return verdict;
  const executedAt = fieldsOf(reply)?.['executedAt'];
  return isPlausibleTime(executedAt)
    ? pass
    : failed('value', '"executedAt": Unix milliseconds', `"executedAt": ${JSON.stringify(executedAt)}`);
}

/** Maximum number of deposits to poll: each takes as long as the fixture says. */
const MAX_POLLED = 20;

const becomesMissing: Verdict = {
  kind: 'excluded',
  reason: 'no-state-hook',
  words: 'no state hook was given (--state-url), and the fixture has no deposit of the IB with "becomes"',
};

/** Polls the deposits with `becomes`, or an evenly spaced sample of them. */
const pollBecoming: Scenario['run'] = async (context, known) => {
  let result: Awaited<ReturnType<Scenario['run']>> = { finding: becomesMissing };
  for (const [nth, deposit] of evenSample(known.becoming, MAX_POLLED).entries()) {
    const next = await pollUntilExecuted(deposit)(context, known);
    if (next.finding.kind === 'failed') return { ...next, cases: nth + 1 };
    // One transition that was seen is enough.
    if (nth === 0 || next.finding.kind === 'passed') result = { ...next, cases: nth + 1 };
  }
  return result;
};

const executeByHook =
  ({ reference_id }: FixturePendingDeposit): Scenario['run'] =>
  async (context) => {
    const request = depositCheck(reference_id, { isStateChanged: true });
    const [before] = (await context.send(request)) as [Reply];
    const ready = judgeReply(before, (answer) =>
      notFound(answer).kind === 'passed' ? pass : blockedBy('pending/deposit-check/pending'),
    );
    if (ready.kind !== 'passed') return { finding: ready, request, reply: before };
    // Not a whole second, so that lost milliseconds show. Whole milliseconds, because the clock has fractions.
    const executedAt = Math.floor(context.now() / 1000) * 1000 - 877;
    const execution = { amountInUsd: 123.45, executedAt };
    const after = await context.withState!('deposit executed', { reference_id, ...execution }, () =>
      sendUntil(context, request, ({ status }) => status !== 404),
    );
    return { finding: judgeReply(after, expectDeposit(execution)), request, reply: after };
  };

export const pending: readonly Requirement[] = [
  required({
    id: 'pending/deposit-check/pending',
    clause: 'States; GET deposit-check, 404',
    title: 'A pending deposit under the IB gets 404 with the exact error body',
    needs: 'pending deposit of a user under the IB',
    provedBy: ['pending/deposit-check/becomes-executed'],
  }),
  required({
    id: 'pending/deposit-check/failed',
    clause: 'States; GET deposit-check, 404',
    title: 'A failed deposit under the IB gets 404 with the exact error body',
    needs: 'failed deposit of a user under the IB',
    provedBy: [],
  }),
  indistinguishable({
    id: 'pending/deposit-check/indistinguishable',
    clause: 'States: answers 404 as for an unknown deposit',
    title: 'A pending or failed deposit is answered exactly like an unknown one',
    endpoint: 'deposit-check',
    needs: 'failed or permanently pending deposit of a user under the IB',
    provedBy: ['pending/deposit-check/becomes-executed'],
    hidden: ({ pending: waiting, failed: gone }) =>
      [...evenSample(waiting, 2), ...evenSample(gone, 2)].map(({ reference_id }) => reference_id),
  }),
  scenario({
    id: 'pending/deposit-check/becomes-executed',
    level: 'required',
    clause: 'States: can become visible later',
    title: 'A deposit that becomes EXECUTED changes from 404 to 200 with its amount and time',
    run: async (context, known) => {
      const [staying] = known.pending;
      const onRequest = context.withState && staying && (await executeByHook(staying)(context, known));
      if (onRequest !== undefined && onRequest.finding.kind !== 'passed') return onRequest;
      const byItself = await pollBecoming(context, known);
      return onRequest !== undefined && byItself.finding.kind !== 'failed' ? onRequest : byItself;
    },
  }),
  observing({
    id: 'pending/deposit-check/after-executed',
    clause: 'Transitions: not shown',
    title: 'Whether a deposit stays EXECUTED',
    needs: 'EXECUTED deposit of a user under the IB',
    run: async ({ send }, { executed }) => {
      const [reply] = await send(depositCheck(executed[0]!.reference_id));
      if (reply?.kind !== 'answer')
        return inconclusive(reply?.code ?? 'network', reply?.words ?? 'no answer');
      const stays = fieldsOf(reply)?.['status'] === 'EXECUTED';
      return observed(
        stays ? 'still EXECUTED at the end of the suite' : `no longer EXECUTED: ${summary(reply)}`,
        { stays },
      );
    },
  }),
];
