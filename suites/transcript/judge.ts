import { defined } from '../../schemas/defined.ts';
import type { RequirementResult, RunRecord, TranscriptTrouble } from '../../schemas/generated/types.ts';
import { trouble, type Answer, type Reply } from '../answer.ts';
import { createEvaluation } from '../engine/evaluation.ts';
import type { CallName, NotedExchange } from '../engine/events.ts';
import type { Judgement } from '../engine/judge.ts';
import { drawAt } from '../model/path.ts';
import { createDescriber, makeRecord, type Figures, type Result } from '../engine/record.ts';
import { createTraffic } from '../engine/traffic.ts';
import type { Request } from '../request.ts';
import type { Context, Requirement } from '../requirement.ts';
import { skipped, unjudged, type Reason } from '../verdict.ts';
import type { LineOf, Transcript } from './transcript.ts';

/**
 * Derives the record of a run again from its transcript, without the target: with the same catalogue
 * the same, with a newer one what that makes of the same answers.
 *
 * @param catalogue every requirement that there is now
 * @param version of ib-conformance, that judges
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
  const evaluation = createEvaluation({ known, requirements, skip, hasStateHook: start.stateHook });
  const { judge } = evaluation;
  for (const one of lookups) {
    if ('reply' in one) evaluation.see(one);
    else {
      // With the key that it was sent with; what was not sent is drawn again.
      const sent = exchanges.findLast((exchange) => exchange.path === one.path);
      judge.miss(sent?.request ?? drawAt(one.path, known, start.seed), { kind: 'trouble', ...one.trouble });
    }
  }
  /** What the run found out about a failure, with the verdict that the answer gets now. */
  const explanationOf = (id: string): Partial<Judgement> => {
    const { n = -1, path, where, intermittent } = explained.get(id) ?? {};
    const evidence = exchanges[n];
    const found =
      evidence?.reply.kind === 'answer'
        ? judge.findings(evidence.reply).find((one) => one.id === id && one.verdict.kind === 'failed')
        : undefined;
    return defined({ where, intermittent, ...(found && { verdict: found.verdict, evidence, path }) });
  };
  const contextOf = createRecordedContexts(transcript);
  const resultOf = (requirement: Requirement): Result | Promise<Result> => {
    const early = evaluation.withoutRequest(requirement) ?? lost(requirement, transcript);
    if (early !== undefined) return early;
    if (requirement.kind === 'monitor') return evaluation.monitored(requirement);
    if (requirement.kind === 'scenario')
      return evaluation.runScenario(requirement, contextOf(requirement.id));
    return judge.judgement(requirement, end?.keyWorks, end?.isCut ?? true, explanationOf(requirement.id));
  };
  const describe = createDescriber(optionsOf(transcript, version));
  const list: RequirementResult[] = [];
  for (const requirement of requirements) list.push(describe(requirement, await resultOf(requirement)));
  return recordOf(transcript, version, evaluation.withBasis(list));
}

/** The record that the run itself made, as far as it came. */
export function recordedResults(transcript: Transcript): RunRecord {
  const { start, outcomes } = transcript;
  const list = start.requirements.flatMap((id) => outcomes.get(id) ?? []);
  return recordOf(transcript, start.version, list);
}

function recordOf(transcript: Transcript, version: string, list: readonly RequirementResult[]): RunRecord {
  const { start, end, exchanges } = transcript;
  const startedAt = Date.parse(start.startedAt);
  const traffic = createTraffic(startedAt);
  for (const { request, reply } of exchanges) traffic.see(request, reply);
  const unfinished: Figures = {
    startedAt,
    keyWorks: undefined,
    durationMs: 0,
    requests: exchanges.length,
    rateLimited: { answers: 0, waitedMs: 0 },
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

/** Why a transcript does not tell what a requirement comes to; undefined where it may. */
function lost({ id, kind }: Requirement, { stopped, outcomes, start }: Transcript): Result | undefined {
  const why = stopped.get(id);
  if (why !== undefined) return { verdict: unjudged(why.reason as Reason, why.words), cases: 0 };
  const outcome = outcomes.get(id);
  if (outcome?.outcome === 'broken') return { verdict: { kind: 'broken', words: outcome.words }, cases: 0 };
  // What a flag left out that a transcript does not name.
  if (outcome?.outcome === 'excluded' && outcome.reason === 'skipped')
    return { verdict: skipped(outcome.words), cases: 0 };
  const wasAsked = start.requirements.includes(id);
  if (outcome !== undefined || (kind === 'monitor' && !wasAsked)) return undefined;
  return wasAsked
    ? { verdict: unjudged('interrupted', 'the transcript ends before this check'), cases: 0 }
    : { verdict: unjudged('not-recorded', 'the recorded run did not select it'), cases: 0 };
}

/** Evidence that a transcript does not hold. */
const notRecorded = trouble('not-recorded', 'the transcript has no answer for this request');

/** A key in the place of the query or the body is written in many ways: there, the rest has to do. */
const isSame = ({ request }: NotedExchange, asked: Request) =>
  request.method === asked.method &&
  (asked.misplaced !== undefined || (request.target === asked.target && request.body === asked.body));

/** Contexts that answer from a transcript: each call gets what the same call got in the run. */
function createRecordedContexts({ exchanges, calls, start }: Transcript): (of: string) => Context {
  const shared = new Map<string, Promise<unknown>>();
  /** What came of a request by its place in the transcript; of another request than that it tells nothing. */
  const replyAt = (reference: number | TranscriptTrouble | undefined, asked: Request): Reply => {
    if (typeof reference === 'object') return { kind: 'trouble', ...reference };
    const exchange = reference === undefined ? undefined : exchanges[reference];
    return exchange !== undefined && isSame(exchange, asked) ? exchange.reply : notRecorded;
  };
  return contextOf;

  function contextOf(of: string): Context {
    const list = calls.filter((call) => call.of === of);
    let nth = 0;
    /** The next call, if it has that name. */
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
            withState: async (_state, _params, during) => {
              const failure = next('withState').replies?.[0];
              return typeof failure === 'object' ? { kind: 'trouble', ...failure } : during();
            },
          }
        : {}),
      rest: () => Promise.resolve(),
      settle: () => Promise.resolve(),
      wait: () => Promise.resolve(),
      now: () => Number(next('now').value ?? 0),
      leftMs: () => Number(next('leftMs').value ?? Number.POSITIVE_INFINITY),
      keyWorks: () => next('keyWorks').value as boolean | undefined,
      cases: start.cases,
      once: <Found>(name: string, make: (context: Context) => Promise<Found>) => {
        const result = shared.get(name) ?? make(contextOf(name));
        shared.set(name, result);
        return result as Promise<Found>;
      },
    };
  }
}
