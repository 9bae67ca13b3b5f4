import { defined } from '../../schemas/defined.ts';
import type { RequirementResult, RunRecord, TranscriptTrouble } from '../../schemas/generated/types.ts';
import { trouble, type Answer, type Reply } from '../answer.ts';
import type { Change, ChangeStep } from '../model/changes.ts';
import { createEvaluation, runScenario } from '../engine/evaluation.ts';
import type { CallName, LineOf, RunExchange } from '../engine/events.ts';
import type { Known } from '../known.ts';
import { createDescriber, makeRecord, type Figures, type Result } from '../engine/record.ts';
import {
  addMissing,
  excuse,
  findingsOf,
  judgementOf,
  verdictsOn,
  type Judgement,
  type Tally,
} from '../engine/tally.ts';
import { createTraffic } from '../engine/traffic.ts';
import type { Request } from '../request.ts';
import { tableOf } from '../judge.ts';
import { isLookupRow, type Requirement } from '../requirement.ts';
import type { Context } from '../scenario-context.ts';
import { skipped, inconclusive, type Reason } from '../verdict.ts';
import { requestOf, type Transcript } from './transcript.ts';

/**
 * Judges a recorded run again, without the target. With the same catalogue, the record is the same.
 *
 * @param catalogue every current requirement
 * @param version of ib-conformance
 */
export async function judgeTranscript(
  transcript: Transcript,
  catalogue: readonly Requirement[],
  version: string,
): Promise<RunRecord> {
  const { start, known, exchanges, lookups, explained, end } = transcript;
  const asked = new Set(start.requirements);
  const requirements = catalogue.filter(({ id }) => start.selection.whole || asked.has(id));
  const skip = new Set(start.selection.skip);
  const table = tableOf(catalogue.filter(isLookupRow));
  const graceMs = start.graceMs ?? 0;
  const evaluation = createEvaluation({
    known,
    requirements,
    skip,
    table,
    hasStateHook: start.stateHook,
    graceMs,
  });
  const { tally } = evaluation;
  for (const one of lookups) {
    if ('reply' in one) evaluation.addExchange(one);
    else if (one.line === 'company') excuse(tally, one.of, exchanges[one.n]!.reply);
    else if (one.line === 'change') evaluation.changes.take(one.nth, stepOf(one, known));
    else addMissing(tally, requestOf(one.request, known), { kind: 'trouble', ...one.trouble });
  }
  /** The recorded explanation of a failure, with the current verdict on its answer. */
  const explanationOf = (id: string): Partial<Judgement> => {
    const { n = -1, path, where, suspected, separation, intermittent } = explained.get(id) ?? {};
    const evidence = exchanges[n];
    const found =
      evidence?.reply.kind === 'answer'
        ? findingsOf(tally, evidence.reply).find((one) => one.row.id === id && one.verdict.kind === 'failed')
        : undefined;
    const conditions = { where, suspected, separation, intermittent };
    return defined({ ...conditions, ...(found && { verdict: found.verdict, evidence, path }) });
  };
  const contextOf = createRecordedContexts(transcript, tally);
  const resultOf = (requirement: Requirement): Result | Promise<Result> => {
    const early = evaluation.earlyResult(requirement) ?? recordedResult(requirement, transcript);
    if (early !== undefined) return early;
    if (requirement.kind === 'monitor') return evaluation.monitorResult(requirement);
    if (requirement.kind === 'scenario') return runScenario(requirement, contextOf(requirement.id), known);
    return judgementOf(tally, requirement, end?.keyWorks, end?.isCut ?? true, explanationOf(requirement.id));
  };
  const describe = createDescriber(optionsOf(transcript, version));
  const list: RequirementResult[] = [];
  for (const requirement of requirements) list.push(describe(requirement, await resultOf(requirement)));
  return recordOf(transcript, version, evaluation.withBasis(list));
}

/** The record that the run itself made. */
export function recordedResults(transcript: Transcript): RunRecord {
  const { start, outcomes } = transcript;
  const list = start.requirements.flatMap((id) => outcomes.get(id) ?? []);
  return recordOf(transcript, start.version, list);
}

function recordOf(transcript: Transcript, version: string, list: readonly RequirementResult[]): RunRecord {
  const { start, end, exchanges } = transcript;
  const startedAt = Date.parse(start.startedAt);
  const traffic = createTraffic(startedAt);
  for (const { request, reply } of exchanges) traffic.add(request, reply);
  const unfinished: Figures = {
    startedAt,
    keyWorks: undefined,
    durationMs: 0,
    requests: exchanges.length,
    rateLimited: { answers: 0, waitedMs: 0, endpoints: [] },
    phases: [],
    strength: 0,
    coverage: { pairs: [0, 0], triples: [0, 0], missing: [] },
    isCut: true,
    interrupted: true,
  };
  const figures: Figures = { ...unfinished, ...(end && figuresIn(end)) };
  return makeRecord(optionsOf(transcript, version), list, figures, traffic.figures());
}

const optionsOf = ({ start, known }: Transcript, version: string) => ({ ...start, known, version });

const figuresIn = ({ line: _, lines: __, verdict: ___, ...figures }: LineOf<'end'>) => figures;

/** The result of a requirement that the transcript cannot decide; else undefined. */
function recordedResult(
  { id, kind }: Requirement,
  { stopped, outcomes, start }: Transcript,
): Result | undefined {
  const why = stopped.get(id);
  if (why !== undefined) return { verdict: inconclusive(why.reason as Reason, why.words), cases: 0 };
  const outcome = outcomes.get(id);
  if (outcome?.outcome === 'broken') return { verdict: { kind: 'broken', words: outcome.words }, cases: 0 };
  // Skipped by a flag that the transcript does not contain.
  if (outcome?.outcome === 'excluded' && outcome.reason === 'skipped')
    return { verdict: skipped(outcome.words), cases: 0 };
  const wasAsked = start.requirements.includes(id);
  if (outcome !== undefined || (kind === 'monitor' && !wasAsked)) return undefined;
  return wasAsked
    ? { verdict: inconclusive('interrupted', 'the transcript ends before this check'), cases: 0 }
    : { verdict: inconclusive('not-recorded', 'the recorded run did not select it'), cases: 0 };
}

/** A step of a change, as the run took it. */
function stepOf({ step, at, deposit, key }: LineOf<'change'>, { everyKey }: Known): ChangeStep {
  if (step !== 'begins') return { step, at };
  const revoked = everyKey.find((one) => one.key === key);
  const change: Change =
    revoked === undefined
      ? { state: 'deposit executed', deposit: { ...deposit!, state: 'EXECUTED' } }
      : { state: 'key revoked', key: revoked };
  return { step, at, change };
}

const notRecorded = trouble('not-recorded', 'the transcript has no answer for this request');

/** A misplaced key has several encodings, so query and body are not compared then. */
const isSame = ({ request }: RunExchange, asked: Request) =>
  request.method === asked.method &&
  (asked.misplaced !== undefined || (request.target === asked.target && request.body === asked.body));

/** Contexts that replay a transcript: each call returns what it returned in the run. */
function createRecordedContexts(
  { exchanges, calls, start }: Transcript,
  tally: Tally,
): (of: string) => Context {
  const { graceMs = 0 } = start;
  const shared = new Map<string, Promise<unknown>>();
  /** The reply at a place in the transcript, if it belongs to the same request. */
  const replyAt = (reference: number | TranscriptTrouble | undefined, asked: Request): Reply => {
    if (typeof reference === 'object') return { kind: 'trouble', ...reference };
    const exchange = reference === undefined ? undefined : exchanges[reference];
    return exchange !== undefined && isSame(exchange, asked) ? exchange.reply : notRecorded;
  };
  return contextOf;

  function contextOf(of: string): Context {
    const list = calls.filter((call) => call.of === of);
    let nth = 0;
    const next = (name: CallName): Partial<LineOf<'call'>> => (list[nth]?.call === name ? list[nth++]! : {});
    const repliesOf =
      (name: CallName) =>
      async (...requests: readonly Request[]) => {
        const { replies = [] } = next(name);
        return requests.map((request, at) => replyAt(replies[at], request));
      };
    return {
      send: repliesOf('send'),
      sendAtOnce: repliesOf('sendAtOnce'),
      burst: repliesOf('burst'),
      stream: async (make) =>
        (next('burst').replies ?? []).map((reference) => {
          const request = make();
          return { request, reply: replyAt(reference, request) };
        }),
      sendUntilAllowed: async (request, onRefused) => {
        const { refused = [], replies } = next('sendUntilAllowed');
        for (const n of refused) onRefused(exchanges[n]!.reply as Answer);
        return replyAt(replies?.[0], request);
      },
      ...(start.stateHook
        ? {
            withState: async (_change, during) => {
              const { replies: [failure] = [], value } = next('withState');
              const dueAt = Number(value ?? 0);
              const times = { askedAt: dueAt - graceMs, dueAt };
              return typeof failure === 'object' ? { kind: 'trouble', ...failure } : during(times);
            },
          }
        : {}),
      waitForQuiet: () => Promise.resolve(),
      wait: () => Promise.resolve(),
      alone: (work) => work(),
      now: () => Number(next('now').value ?? 0),
      leftMs: () => Number(next('leftMs').value ?? Number.POSITIVE_INFINITY),
      wholeRunMs: () => Number(next('wholeRunMs').value ?? 0),
      afterLookups: () => Promise.resolve(),
      longestWindowMs: () => Number(next('longestWindowMs').value ?? 0),
      isContradicted: () => next('isContradicted').value === true,
      isGiven: () => next('isGiven').value === true,
      failsAnyway: () => next('failsAnyway').value === true,
      keyWorks: () => next('keyWorks').value as boolean | undefined,
      cases: start.cases,
      graceMs,
      verdictsOn: (request, answer) => verdictsOn(tally, request, answer),
      once: <Found>(name: string, make: (context: Context) => Promise<Found>) => {
        const result = shared.get(name) ?? make(contextOf(name));
        shared.set(name, result);
        return result as Promise<Found>;
      },
    };
  }
}
