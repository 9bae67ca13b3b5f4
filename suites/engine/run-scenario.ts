import { Problem } from '../../schemas/problem.ts';
import type { Known } from '../known.ts';
import type { Context, Scenario } from '../requirement.ts';
import type { Result } from './record.ts';

/** Runs a scenario in its context. */
export async function runScenario(scenario: Scenario, context: Context, known: Known): Promise<Result> {
  const { finding, request, reply, cases } = await scenario.run(context, known);
  const evidence = request !== undefined && reply !== undefined ? { evidence: { request, reply } } : {};
  return { verdict: finding, cases: cases ?? 1, ...evidence };
}

/** What goes wrong in here is our own bug, and is said to be. */
export async function guarded(work: () => Promise<Result | undefined>): Promise<Result | undefined> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Problem) throw error;
    const words = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return { verdict: { kind: 'broken', words }, cases: 0 };
  }
}
