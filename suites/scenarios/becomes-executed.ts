import type { FixturePendingDeposit } from '../../schemas/generated/types.ts';
import { summary, type Answer, type Reply } from '../answer.ts';
import { executionAt, isOfOtherRun } from '../model/changes.ts';
import { executionIn, expectDeposit, expectError } from '../expectations.ts';
import { evenSample, withLetterCase } from '../inputs/uuids.ts';
import type { BecomingDeposit, Known } from '../known.ts';
import { depositCheck, type Changes, type Request } from '../request.ts';
import type { ScenarioResult } from '../requirement.ts';
import type { Context, Exchange } from '../scenario-context.ts';
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
import {
  afterHook,
  askAtOnce,
  askMeanwhile,
  LOOKUPS_AFTER,
  repeated,
  unanswered,
  wrongOf,
} from './changing.ts';

const notFound = expectError('deposit-check', 404);

/** What a deposit that became EXECUTED showed. */
export interface Transition {
  readonly result: ScenarioResult;
  /** How long the change took, in ms, and whether old answers came after new ones; undefined if it never came. */
  readonly seen?: { readonly tookMs: number; readonly oldAfterNew: number } | undefined;
}

/** Lookups of a deposit in several spellings: of its owner, whose answers the scenario judges, and of another partner. */
function lookupsAfter({ reference_id }: FixturePendingDeposit, { otherKeys }: Known) {
  const spellings = [
    reference_id,
    withLetterCase(reference_id, [true]),
    reference_id.toLowerCase(),
    withLetterCase(reference_id, [true, false]),
  ];
  const asked = (changes: Changes) =>
    repeated(
      spellings.map((id) => depositCheck(id, changes)),
      LOOKUPS_AFTER,
    );
  const [other] = otherKeys;
  return {
    owner: asked({ isStateChanged: true }),
    other: other === undefined ? [] : asked({ credential: { as: 'key', key: other } }),
  };
}

/** A wrong answer about an executed deposit, if there is one. Until `dueAt` (ms of the clock), 404 is right too. */
function firstWrong(
  { failsAnyway }: Context,
  exchanges: readonly Exchange[],
  execution: { readonly amountInUsd: number; readonly executedAt?: number },
  dueAt: number,
): { readonly verdict: Verdict; readonly request?: Request; readonly reply?: Answer } {
  const { executedAt } = execution;
  const isOther = (answer: Answer) => executedAt !== undefined && isOfOtherRun(answer, { executedAt });
  const judge = (_: Request, answer: Answer): Verdict => {
    const isEarly = answer.sentAt < dueAt && notFound(answer).kind === 'passed';
    const verdict = expectDeposit(execution)(answer);
    // Other rows judge missing fields, and refusals of the key.
    if (isEarly || verdict.kind !== 'failed' || answer.status === 401) return pass;
    return isOther(answer) ? otherRun : verdict;
  };
  const wrong = wrongOf(exchanges, judge);
  const isRightOnce = exchanges.some(
    ({ reply }) => reply.kind === 'answer' && expectDeposit(execution)(reply).kind === 'passed',
  );
  // What is wrong with other deposits too belongs to other rows.
  if (isRightOnce) return wrong.find((one) => !failsAnyway(one.request, one.reply)) ?? { verdict: pass };
  return wrong[0] ?? { verdict: unanswered(exchanges) ?? unclear };
}

const unclear = inconclusive(
  'depends',
  'not checked because no answer has all fields, which other rows report',
);

const executionOf = (reply: Reply | undefined) => (reply?.kind === 'answer' ? executionIn(reply) : undefined);

/** How long a change took, by the answers since `since` (ms of the clock). */
function seenIn(exchanges: readonly Exchange[], since: number): Transition['seen'] {
  const answers = exchanges.flatMap(({ reply }) => (reply.kind === 'answer' ? [reply] : []));
  const first = answers.findIndex(({ status }) => status === 200);
  return first < 0
    ? undefined
    : {
        tookMs: Math.max(0, Math.round(answers[first]!.sentAt - since)),
        oldAfterNew: answers.slice(first).filter(({ status }) => status === 404).length,
      };
}

/** A hook that revokes a key at the same time may take the caller's key along: then try again. */
const [MAX_TRIES, PAUSE_MS] = [3, 3000];

async function executeByHook(
  deposit: FixturePendingDeposit,
  pendingId: string,
  context: Context,
  known: Known,
): Promise<Transition> {
  const { reference_id } = deposit;
  const request = depositCheck(reference_id);
  const [first] = (await context.send(request)) as [Reply];
  const ready = judgeReply(first, (answer) =>
    notFound(answer).kind === 'passed' ? pass : isOfOtherRun(answer) ? earlierRun : blockedBy(pendingId),
  );
  if (ready.kind !== 'passed') return { result: { finding: ready, request, reply: first } };
  const execution = executionAt(context.now());
  const executed = { ...deposit, state: 'EXECUTED', ...execution } as const;
  const { owner, other } = lookupsAfter(deposit, known);
  for (let tries = 1; ; tries++) {
    const after = await context.withState!(
      { state: 'deposit executed', deposit: executed },
      async (times): Promise<Transition> => {
        const meanwhile = await askMeanwhile(context, owner.slice(0, 1), times.dueAt);
        const later = await askAtOnce(context, owner);
        // Rows about other partners judge these.
        await askAtOnce(context, other);
        const exchanges = [...meanwhile, ...later];
        const wrong = firstWrong(context, exchanges, executed, times.dueAt);
        const { verdict: finding, request: asked = later[0]!.request, reply = later[0]!.reply } = wrong;
        const words = `"deposit executed" of ${reference_id}`;
        const result = {
          finding: afterHook(finding, words, times, context.graceMs, reply),
          request: asked,
          reply,
        };
        const isRefused = exchanges.some((one) => one.reply.kind === 'answer' && one.reply.status === 401);
        return finding.kind !== 'failed' && isRefused
          ? { result: { ...result, finding: refused } }
          : { result, seen: seenIn(exchanges, times.askedAt) };
      },
    );
    if ('kind' in after)
      return { result: { finding: inconclusive(after.code, after.words), request, reply: after } };
    if (after.result.finding !== refused || tries === MAX_TRIES) return after;
    await context.wait(PAUSE_MS);
  }
}

const refused = inconclusive('key-refused', 'the key under test got 401 while another key was revoked');

/** Polls until the deposit is EXECUTED: as long as the fixture says, and the grace. */
async function pollUntilExecuted(
  deposit: BecomingDeposit,
  pendingId: string,
  context: Context,
  known: Known,
): Promise<Transition> {
  const { reference_id, becomes } = deposit;
  const { afterPolls, afterSeconds = 0 } = becomes;
  const { graceMs, now, send, wait } = context;
  const request = depositCheck(reference_id, { isStateChanged: true });
  const startedAt = now();
  let polls = 0;
  let endsAt = afterPolls === undefined ? startedAt + afterSeconds * 1000 + graceMs : Infinity;
  for (;;) {
    const [reply] = (await send(request)) as [Reply];
    polls++;
    if (reply.kind !== 'answer')
      return { result: { finding: inconclusive(reply.code, reply.words), request, reply } };
    if (notFound(reply).kind !== 'passed') {
      const finding = await judgeChange(reply, polls, deposit, pendingId, context, known);
      return { result: { finding, request, reply }, seen: { tookMs: 0, oldAfterNew: 0 } };
    }
    const at = now();
    if (afterPolls !== undefined && polls === afterPolls) endsAt = at + graceMs;
    if (at >= endsAt) {
      const due = afterPolls === undefined ? `${afterSeconds} s` : `${afterPolls} polls`;
      const actual = `${summary(reply)} after ${polls} polls in ${((at - startedAt) / 1000).toFixed(1)} s; raise --grace if your system promises this later`;
      return { result: { finding: failed('status', `200 after ${due}`, actual), request, reply } };
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
  context: Context,
  known: Known,
): Promise<Verdict> {
  const verdict = expectDeposit(becomes)(reply);
  const time = executionIn(reply);
  if (polls > 1) {
    if (verdict.kind !== 'passed') return verdict;
    return time === undefined ? failed('value', '"executedAt": Unix milliseconds', summary(reply)) : pass;
  }
  const [again] = await context.send(depositCheck(reference_id, { isStateChanged: true }));
  if (again?.kind === 'trouble') return inconclusive(again.code, again.words);
  const isSame = again?.kind === 'answer' && executionIn(again)?.executedAt === time?.executedAt;
  if (verdict.kind === 'passed' && time !== undefined && isSame) return fixtureOutdated;
  return judgeFirstPoll(reply, context, known, pendingId);
}

/** The first poll is not 404: the row of pending deposits judges that, unless only this deposit is affected. */
async function judgeFirstPoll(
  reply: Answer,
  { send }: Context,
  { pending: staying }: Known,
  pendingId: string,
): Promise<Verdict> {
  const [answer] = await send(...staying.slice(0, 1).map(({ reference_id }) => depositCheck(reference_id)));
  if (answer?.kind !== 'answer' || notFound(answer).kind !== 'passed') return blockedBy(pendingId);
  return reply.status === 200
    ? failed('status', '404 first, then 200', `${summary(reply)} at the first poll`)
    : notFound(reply);
}

/** Asks again for a deposit that became EXECUTED by itself. */
async function followUp(
  deposit: BecomingDeposit,
  found: Transition,
  context: Context,
  known: Known,
): Promise<Transition> {
  const { owner, other } = lookupsAfter(deposit, known);
  const shownAt = context.now();
  const meanwhile = await askMeanwhile(context, owner.slice(0, 1), shownAt + context.graceMs);
  const later = await askAtOnce(context, owner);
  await askAtOnce(context, other);
  const exchanges = [...meanwhile, ...later];
  const seen = seenIn(exchanges, shownAt);
  const execution = { amountInUsd: deposit.becomes.amountInUsd, ...executionOf(found.result.reply) };
  const wrong = firstWrong(context, exchanges, execution, shownAt + context.graceMs);
  const { verdict: finding, ...proof } = wrong;
  return { result: { ...found.result, ...proof, finding }, seen };
}

/** Maximum number of deposits to poll: each takes as long as the fixture says. */
const MAX_POLLED = 20;

/** Polls the deposits with `becomes`, or an evenly spaced sample of them. One of them is followed. */
async function pollBecoming(
  pendingId: string,
  context: Context,
  known: Known,
  isFollowed: boolean,
): Promise<Transition | undefined> {
  let found: Transition | undefined;
  for (const [nth, deposit] of evenSample(known.becoming, MAX_POLLED).entries()) {
    let next = await pollUntilExecuted(deposit, pendingId, context, known);
    const isFirst = found === undefined || found.result.finding.kind !== 'passed';
    if (isFollowed && isFirst && next.result.finding.kind === 'passed')
      next = await followUp(deposit, next, context, known);
    const result = { ...next.result, cases: nth + 1 };
    if (result.finding.kind === 'failed') return { ...next, result };
    // One transition that was seen is enough.
    if (nth === 0 || (isFirst && result.finding.kind === 'passed')) found = { ...next, result };
  }
  return found;
}

/**
 * A deposit changes from 404 to 200: by the state hook, and those with `becomes` by themselves. All lookups of it are
 * made once per run.
 *
 * @param pendingId the row that judges pending deposits
 */
export const transitionOf = (pendingId: string, context: Context, known: Known): Promise<Transition> =>
  context.once('deposit executed', async (shared) => {
    const changed = known.spare ?? known.pending[0];
    const onRequest = shared.withState && changed && (await executeByHook(changed, pendingId, shared, known));
    if (onRequest !== undefined && onRequest.result.finding.kind !== 'passed') return onRequest;
    const byItself = await pollBecoming(pendingId, shared, known, onRequest === undefined);
    return byItself?.result.finding.kind === 'failed' ? byItself : (onRequest ?? byItself)!;
  });
