import type { RequirementResult } from '../../schemas/generated/types.ts';
import { defined } from '../../schemas/values.ts';
import { Problem } from '../../schemas/problem.ts';
import type { Table } from '../rules/table.ts';
import type { Known } from '../known.ts';
import { lackOf } from '../plan/needs.ts';
import { isLookupRow, type Monitor, type Requirement, type Scenario } from '../rules/requirement.ts';
import type { Context, Exchange } from '../rules/scenario-context.ts';
import { oddness, type Lookup } from '../plan/lookup.ts';
import { skipped, inconclusive, type Verdict } from '../rules/verdict.ts';
import type { Result } from './record.ts';
import { addAnswer, createTally, type Judgement } from './tally.ts';

/** A request that was sent, its reply, and its purpose. */
export interface RunExchange extends Exchange {
  /** Id of the requirement that asked, or `lookups`. */
  readonly of?: string | undefined;
  /** The lookup, if it is one of the plan. */
  readonly lookup?: Lookup | undefined;
  /** Set if the request only confirms or explains a failure. */
  readonly isAgain?: true | undefined;
  /** Set if a front end answered in place of the target. */
  readonly isLost?: true | undefined;
  /** Set if it was sent together with others. */
  readonly isAtOnce?: true | undefined;
  /** Whether rows about lookups do not judge the answer: the scenario that asked does. */
  readonly isUnjudged?: boolean | undefined;
}

interface EvaluationOptions {
  readonly known: Known;
  readonly requirements: readonly Requirement[];
  /** Ids to skip. */
  readonly skip: ReadonlySet<string>;
  /** Maximum number of burst requests in flight. */
  readonly burstConcurrency?: number | undefined;
  readonly hasStateHook: boolean;
  /** The catalogue. */
  readonly table: Table;
}

export type Evaluation = ReturnType<typeof createEvaluation>;

/** Evaluates requirements from the exchanges of a run. */
export function createEvaluation(options: EvaluationOptions) {
  const { known, requirements, skip, hasStateHook, burstConcurrency } = options;
  const tally = createTally(
    requirements.filter(isLookupRow).filter(({ id }) => !skip.has(id)),
    known,
    options.table,
  );
  const monitors = requirements
    .filter((one) => one.kind === 'monitor')
    .map((of) => {
      const found: Judgement = { verdict: of.ifUnseen, cases: 0 };
      // The plainest lookup is shown.
      return { of, sees: of.watch(known), found, odd: Infinity };
    });
  /** How long the answers took that a requirement judged, or that its scenario asked for, in ms. */
  const answersMs = new Map<string, number>();
  return {
    tally,
    /** Sees every exchange, for monitors. */
    watch: ({ request, reply, lookup }: RunExchange): void => {
      if (reply.kind !== 'answer') return;
      for (const monitor of monitors) {
        const { found, odd } = monitor;
        const hasFailed = found.verdict.kind === 'failed';
        const finding = hasFailed && oddness(lookup) >= odd ? undefined : monitor.sees(request, reply);
        if (finding === undefined || (hasFailed && finding.verdict.kind !== 'failed')) continue;
        const { verdict, evidence = { request, reply } } = finding;
        const isFailure = verdict.kind === 'failed';
        monitor.found = { verdict, cases: found.cases + (hasFailed ? 0 : 1), ...(isFailure && { evidence }) };
        if (isFailure) monitor.odd = oddness(evidence.request === request ? lookup : undefined);
      }
    },
    /** Judges an exchange. */
    judge: ({ request, reply, of = 'lookups', lookup, isAgain, isLost, isUnjudged }: RunExchange): void => {
      if (reply.kind !== 'answer' || isLost === true) return void tally.history.add(request);
      const found = addAnswer(tally, request, reply, lookup, isAgain === true || isUnjudged === true);
      for (const id of of === 'lookups' ? found.map(({ row }) => row.id) : [of])
        answersMs.set(id, (answersMs.get(id) ?? 0) + reply.tookMs);
    },
    /** The result of a requirement that cannot be checked or is skipped; undefined if it is checked. */
    earlyResult: (requirement: Requirement): Result | undefined => {
      if (skip.has(requirement.id)) return { verdict: skipped('skipped by --skip'), cases: 0 };
      const judgesConcurrency = requirement.kind === 'scenario' && requirement.judgesConcurrency === true;
      if (judgesConcurrency && burstConcurrency === 1)
        return { verdict: skipped('--concurrency 1 sends one request at a time'), cases: 0 };
      const lack = lackOf(requirement, known, hasStateHook);
      if (lack === undefined) return undefined;
      const { reason, words, fix } = lack;
      const verdict: Verdict =
        reason === 'no-state-hook' ? { kind: 'excluded', reason, words } : inconclusive(reason, words, fix);
      return { verdict, cases: 0 };
    },
    /** Adds how long the answers took, and `basis: "fixture"` to what passed only because the fixture says so. */
    completed: (results: readonly RequirementResult[]): readonly RequirementResult[] => {
      const passed = new Set(results.flatMap(({ id, outcome }) => (outcome === 'passed' ? [id] : [])));
      const byId = new Map(requirements.map((requirement) => [requirement.id, requirement]));
      const proves = (id: string) =>
        passed.has(id) && (byId.get(id)?.kind !== 'answer' || tally.states.get(id)?.showedEntity === true);
      return results.map((result) => {
        const { provedBy } = byId.get(result.id)!;
        const restsOnFixture = provedBy !== undefined && !provedBy.some(proves);
        const took = answersMs.get(result.id);
        const timed = { ...result, ...defined({ answersMs: took && Math.round(took) }) };
        return result.outcome === 'passed' && restsOnFixture ? { ...timed, basis: 'fixture' } : timed;
      });
    },
    monitorResult: (monitor: Monitor) => monitors.find(({ of }) => of === monitor)!.found,
  };
}

/** Runs a scenario. An exception is our own bug: the result is `broken`. */
export async function runScenario(scenario: Scenario, context: Context, known: Known): Promise<Result> {
  try {
    const { finding, request, reply, cases = 1, ...more } = await scenario.run(context, known);
    const evidence = request && reply && { request, reply };
    return { verdict: finding, cases, ...defined({ evidence, ...more }) };
  } catch (error) {
    if (error instanceof Problem) throw error;
    const words = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return { verdict: { kind: 'broken', words }, cases: 0 };
  }
}
