import type { RequirementResult } from '../../schemas/generated/types.ts';
import { Problem } from '../../schemas/problem.ts';
import { expectExecuted, expectMember } from '../expectations.ts';
import { lackOf } from '../needs.ts';
import type { Context, Monitor, Requirement, Rule, Scenario } from '../requirement.ts';
import { skipped, inconclusive, type Verdict } from '../verdict.ts';
import type { RunExchange } from './events.ts';
import { createJudge, type Judgement } from './judge.ts';
import type { Result } from './record.ts';
import type { RunOptions } from './run-options.ts';

export interface EvaluationOptions extends Pick<
  RunOptions,
  'known' | 'requirements' | 'skip' | 'burstConcurrency'
> {
  readonly hasStateHook: boolean;
}

/** The concurrency requirement judges its own lookups: it compares them with the same lookups sent alone. */
const isConcurrencyCheck = (of: string | undefined): boolean => of === 'robustness/service/concurrency';

/** Evaluates requirements from the exchanges of a run, live or from a transcript. */
export function createEvaluation(options: EvaluationOptions) {
  const { known, requirements, skip, hasStateHook, burstConcurrency } = options;
  const judge = createJudge(
    requirements.filter((one): one is Rule => one.kind === 'rule' && !skip.has(one.id)),
    known,
  );
  const monitors = requirements
    .filter((one) => one.kind === 'monitor')
    .map((of) => {
      const found: Judgement = { verdict: of.ifUnseen, cases: 0 };
      return { of, sees: of.watch(known), found };
    });
  /** Requirements for which a member or an EXECUTED deposit was found. */
  const found = new Set<string>();
  return {
    judge,
    addExchange: ({ request, reply, of, path, isAgain, isLost }: RunExchange): void => {
      if (reply.kind !== 'answer') return;
      for (const monitor of monitors) {
        const { verdict: before, cases } = monitor.found;
        const finding = before.kind === 'failed' ? undefined : monitor.sees(request, reply);
        if (finding === undefined) continue;
        const { verdict, evidence = { request, reply } } = finding;
        const proof = verdict.kind === 'failed' ? { evidence } : {};
        monitor.found = { verdict, cases: cases + 1, ...proof };
      }
      if (isLost === true) return;
      const findings = judge.add(request, reply, path, isAgain === true || isConcurrencyCheck(of));
      if (expectMember(reply).kind === 'passed' || expectExecuted(reply).kind === 'passed')
        for (const { id, verdict } of findings) if (verdict.kind === 'passed') found.add(id);
    },
    /** The result of a requirement that cannot be checked or is skipped; undefined if it is checked. */
    earlyResult: (requirement: Requirement): Result | undefined => {
      if (skip.has(requirement.id)) return { verdict: skipped('skipped by --skip'), cases: 0 };
      if (isConcurrencyCheck(requirement.id) && burstConcurrency === 1)
        return { verdict: skipped('--concurrency 1 sends one request at a time'), cases: 0 };
      const lack = lackOf(requirement, known, hasStateHook);
      if (lack === undefined) return undefined;
      const { reason, words } = lack;
      const verdict: Verdict =
        reason === 'no-state-hook' ? { kind: 'excluded', reason, words } : inconclusive(reason, words);
      return { verdict, cases: 0 };
    },
    /** Runs a scenario. An exception is our own bug: the result is `broken`. */
    runScenario: async (scenario: Scenario, context: Context): Promise<Result> => {
      try {
        const { finding, request, reply, cases = 1 } = await scenario.run(context, known);
        const proof = request !== undefined && reply !== undefined ? { evidence: { request, reply } } : {};
        return { verdict: finding, cases, ...proof };
      } catch (error) {
        if (error instanceof Problem) throw error;
        const words = error instanceof Error ? (error.stack ?? error.message) : String(error);
        return { verdict: { kind: 'broken', words }, cases: 0 };
      }
    },
    /** Adds `basis: "fixture"` to results that passed only because the fixture says so. */
    withBasis: (results: readonly RequirementResult[]): readonly RequirementResult[] => {
      const passed = new Set(results.flatMap(({ id, outcome }) => (outcome === 'passed' ? [id] : [])));
      const proves = (id: string) => passed.has(id) && (!id.endsWith('/follows-key') || found.has(id));
      return results.map((result) => {
        const { provedBy } = requirements.find(({ id }) => id === result.id)!;
        const restsOnFixture = provedBy !== undefined && !provedBy.some(proves);
        return result.outcome === 'passed' && restsOnFixture ? { ...result, basis: 'fixture' } : result;
      });
    },
    monitorResult: (monitor: Monitor) => monitors.find(({ of }) => of === monitor)!.found,
  };
}
