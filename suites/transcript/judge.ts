import type { RequirementResult, RunRecord } from '../../schemas/generated/types.ts';
import { checkPreconditions } from '../engine/preconditions.ts';
import { guarded, runScenario } from '../engine/run-scenario.ts';
import { createDescriber, makeRecord, type RecordOptions, type Result } from '../engine/record.ts';
import { createTraffic } from '../engine/traffic.ts';
import { createMonitors } from '../engine/monitors.ts';
import type { Requirement, Rule, Monitor } from '../requirement.ts';
import { unjudged, type Reason } from '../verdict.ts';
import { createJudge, isCrowd, type Judgement } from '../engine/judge.ts';
import { drawAt, originOf } from '../engine/lookups.ts';
import { createRecordedContexts } from './recorded-context.ts';
import type { Transcript } from './transcript.ts';

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
  const { start, known, exchanges } = transcript;
  const ids = new Set(start.requirements);
  const requirements = catalogue.filter(({ id }) => start.selection.whole || ids.has(id));
  const isMonitor = (requirement: Requirement): requirement is Monitor => requirement.kind === 'monitor';
  const monitors = createMonitors(requirements.filter(isMonitor), known);
  const isRule = (requirement: Requirement): requirement is Rule => requirement.kind === 'rule';
  const skip = new Set(start.selection.skip);
  const judge = createJudge(
    requirements.filter(isRule).filter(({ id }) => !skip.has(id)),
    known,
  );
  const missed = [...transcript.missed];
  const missUpTo = (count: number) => {
    while (missed.length > 0 && missed[0]!.after <= count) {
      const { path, trouble } = missed.shift()!;
      // With the key that it was sent with; what was not sent is drawn again.
      const sent = exchanges.findLast((one) => one.path === path);
      judge.miss(sent?.request ?? drawAt(path, known, start.seed), { kind: 'trouble', ...trouble });
    }
  };
  for (const [n, { of, request, reply, path, isAgain, isLost }] of exchanges.entries()) {
    missUpTo(n);
    if (reply.kind !== 'answer') continue;
    monitors.see(request, reply);
    if (isLost !== true)
      judge.see(
        request,
        reply,
        path === undefined ? undefined : originOf(path, known),
        isAgain === true || isCrowd(of),
      );
  }
  missUpTo(exchanges.length);
  const contextOf = createRecordedContexts(transcript);
  const describe = createDescriber(optionsOf(transcript, version));
  const preconditions = { known, skip, hasStateHook: start.stateHook };
  const judged = async (requirement: Requirement): Promise<Result> => {
    const early = checkPreconditions(requirement, preconditions) ?? lost(requirement, transcript);
    if (early !== undefined) return early;
    if (requirement.kind === 'monitor') return monitors.judgement(requirement);
    if (requirement.kind === 'scenario') return runScenario(requirement, contextOf(requirement.id), known);
    const judgement = judge.judgement(requirement, transcript.end?.keyWorks, transcript.end?.isCut ?? true);
    return judgement.verdict.kind === 'failed'
      ? { ...judgement, ...explanationOf(requirement.id) }
      : judgement;
  };
  /** What the run found out about a failure, with the verdict that the answer gets now. */
  const explanationOf = (id: string): Partial<Judgement> => {
    const line = transcript.explained.get(id);
    const exchange = line?.n === undefined ? undefined : exchanges[line.n];
    const found =
      exchange?.reply.kind === 'answer'
        ? judge.findings(exchange.reply).find((one) => one.id === id && one.verdict.kind === 'failed')
        : undefined;
    return {
      ...(line?.where === undefined ? {} : { where: line.where }),
      ...(line?.intermittent === undefined ? {} : { intermittent: line.intermittent }),
      ...(found === undefined ? {} : { verdict: found.verdict, evidence: exchange! }),
      ...(found === undefined || line?.path === undefined ? {} : { path: line.path }),
    };
  };
  const list: RequirementResult[] = [];
  for (const requirement of requirements)
    list.push(describe(requirement, (await guarded(() => judged(requirement)))!));
  return recordOf(transcript, version, list);
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
  const figures = {
    startedAt,
    durationMs: end?.durationMs ?? 0,
    requests: end?.requests ?? exchanges.length,
    rateLimited: end?.rateLimited ?? { answers: 0, waitedMs: 0 },
    keyWorks: end?.keyWorks,
    strength: end?.strength ?? 0,
    coverage: end?.coverage ?? { pairs: [0, 0], triples: [0, 0], missing: [] },
    isCut: end?.isCut ?? true,
    interrupted: end?.interrupted ?? true,
    ...(end?.interruptedBy === undefined ? {} : { interruptedBy: end.interruptedBy }),
  };
  const record = makeRecord(optionsOf(transcript, version), list, figures, traffic.figures());
  return start.canary === undefined ? record : { ...record, canary: start.canary };
}

function optionsOf({ start, known }: Transcript, version: string): RecordOptions {
  const { target, seed, cases, minStrength, rerun, notes, selection } = start;
  return {
    known,
    target,
    seed,
    cases,
    version,
    notes,
    selection,
    ...(minStrength === undefined ? {} : { minStrength }),
    ...(rerun === undefined ? {} : { rerun }),
  };
}

/** Why a transcript does not tell what a requirement comes to; undefined where it may. */
function lost({ id, kind }: Requirement, { stopped, outcomes, start }: Transcript): Result | undefined {
  const why = stopped.get(id);
  if (why !== undefined) return { verdict: unjudged(why.reason as Reason, why.words), cases: 0 };
  const outcome = outcomes.get(id);
  if (outcome?.outcome === 'broken') return { verdict: { kind: 'broken', words: outcome.words }, cases: 0 };
  if (outcome !== undefined) return undefined;
  if (kind === 'monitor' && !start.requirements.includes(id)) return undefined;
  return start.requirements.includes(id)
    ? { verdict: unjudged('interrupted', 'the transcript ends before it was judged'), cases: 0 }
    : { verdict: unjudged('not-recorded', 'the run that was recorded did not ask for it'), cases: 0 };
}
