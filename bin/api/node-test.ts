import { randomInt } from 'node:crypto';
import { describe, test, type TestContext } from 'node:test';
import type { RequirementResult, RunRecord } from '../../schemas/generated/types.ts';
import { factLines } from '../../reports/document.ts';
import { factsOf } from '../../reports/failure.ts';
import { failsRun, isExcused } from '../../reports/judgement.ts';
import { verify, type VerifyOptions } from './index.ts';
import { select } from '../run-options.ts';

/** Options of `conformance`. */
export interface ConformanceOptions extends Omit<VerifyOptions, 'url' | 'signal'> {
  /** `{base_url}`, or a function that returns it when the first test begins, after the `before` hooks. */
  readonly url: string | URL | (() => string | URL | Promise<string | URL>);
}

/**
 * Registers one `test()` for each requirement against a server. A test fails if its required requirement failed, or
 * could not be judged and `allowIncomplete` does not excuse that. A failed recommended requirement fails its test with
 * `strict`, and else is a diagnostic. An excluded one is skipped with its reason.
 *
 * @throws Problem at once if a filter has an unknown name or leaves nothing to check
 */
export function conformance(options: ConformanceOptions): void {
  const { requirements } = select(options, options.stateUrl !== undefined);
  const seed = options.seed ?? randomInt(2 ** 31);
  let running: Promise<RunRecord> | undefined;
  const start = async () => {
    const { url } = options;
    const target = typeof url === 'function' ? await url() : url;
    return (await verify({ ...options, url: target, seed })).record;
  };
  describe(`IB conformance, seed ${seed}`, () => {
    for (const [index, { id, title }] of requirements.entries())
      test(`${id}: ${title}`, async (context) => {
        running ??= start();
        const record = await running;
        report(context, record, record.requirements[index]!);
      });
  });
}

/** Facts that are enough to see a failure. */
const shown: ReadonlySet<string> = new Set(['request', 'key']);

function report(context: TestContext, record: RunRecord, result: RequirementResult): void {
  switch (result.outcome) {
    case 'passed':
      return;
    case 'observed':
      return context.diagnostic(result.words);
    case 'excluded':
      return context.skip(`${result.reason}: ${result.words}`);
    case 'failed': {
      const facts = factsOf(record, result).filter(
        (one) => one.kind === 'comparison' || shown.has(one.label),
      );
      const words = factLines(facts).join('\n');
      if (failsRun(record, result)) throw new Error(words);
      return context.diagnostic(`recommended, not met: ${words}`);
    }
    case 'inconclusive':
      if (record.targetLost === true || (result.level === 'required' && !isExcused(record, result)))
        throw new Error(`could not be judged (${result.reason}): ${result.words}`);
      return context.diagnostic(`could not be judged (${result.reason}): ${result.words}`);
    case 'broken':
      throw new Error(`this is a bug of ib-conformance. Please report it: ${result.words}`);
  }
}
