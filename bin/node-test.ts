import { randomInt } from 'node:crypto';
import { describe, test, type TestContext } from 'node:test';
import type { Fixture, RequirementResult, RunRecord } from '../schemas/generated/types.ts';
import { knowledge, realClock, run, stateHookAt } from '../suites/index.ts';
import { defaults, ourHeaders } from './defaults.ts';
import { select } from './select.ts';
import { targetUrl } from './values.ts';
import { version } from './version.ts';

/** What a node:test suite says about the server under test. */
export interface ConformanceOptions {
  /** `{base_url}`, or a function that gives it when the first test begins: for servers that a `before` hook starts. */
  readonly url: string | (() => string | Promise<string>);
  readonly fixture: Fixture;
  /** Id of the partner whose key makes the calls; without one, that of the first active key. */
  readonly partner?: string;
  /** Inputs per requirement; 100 without it. */
  readonly cases?: number;
  /** A whole number; equal seeds draw equal inputs. */
  readonly seed?: number;
  /** Suites, requirements to check, and requirements to leave out; all of them without these. */
  readonly suite?: readonly string[];
  readonly only?: readonly string[];
  readonly skip?: readonly string[];
  /** URL that changes the server's state on request. */
  readonly stateUrl?: string;
  /** Bound on each request, in ms; 5000 without it. */
  readonly timeoutMs?: number;
  /** Bound on the run, in ms; five minutes without it. */
  readonly maxDurationMs?: number;
}

/**
 * Registers one `test()` for each requirement against a server. A failed required one fails its
 * test, and so does one that could not be judged; a failed recommended one is a diagnostic; what is
 * excluded is skipped with its reason.
 *
 * @throws Problem at once for a filter that names what there is not, or leaves nothing to check
 */
export function conformance(options: ConformanceOptions): void {
  const { requirements, skip } = select({
    suite: options.suite ?? [],
    only: options.only ?? [],
    skip: options.skip ?? [],
    hasStateHook: options.stateUrl !== undefined,
  });
  const seed = options.seed ?? randomInt(2 ** 31);
  let running: Promise<RunRecord> | undefined;
  const start = async () => {
    const { url } = options;
    return run({
      target: targetUrl(typeof url === 'string' ? url : await url()),
      known: knowledge(options.fixture, options.partner),
      requirements,
      skip,
      seed,
      cases: options.cases ?? defaults.cases,
      concurrency: defaults.concurrency,
      timeoutMs: options.timeoutMs ?? defaults.timeoutMs,
      maxDurationMs: options.maxDurationMs ?? defaults.maxDurationMs,
      maxRequests: Number.POSITIVE_INFINITY,
      headers: ourHeaders,
      tls: { insecure: false },
      ...(options.stateUrl === undefined
        ? {}
        : { stateHook: stateHookAt(targetUrl(options.stateUrl), options.timeoutMs ?? defaults.timeoutMs) }),
      clock: realClock,
      random: Math.random,
      signal: new AbortController().signal,
      version,
    });
  };
  describe(`IB conformance, seed ${seed}`, () => {
    for (const [index, { id, title }] of requirements.entries())
      test(`${id}: ${title}`, async (context) => {
        running ??= start();
        report(context, (await running).requirements[index]!);
      });
  });
}

function report(context: TestContext, result: RequirementResult): void {
  switch (result.outcome) {
    case 'passed':
      return;
    case 'observed':
      return context.diagnostic(result.words);
    case 'excluded':
      return context.skip(`${result.reason}: ${result.words}`);
    case 'failed': {
      const curl = result.counterexample === undefined ? '' : `\n${result.counterexample.curl}`;
      const words = `expected ${result.expected}\nactual   ${result.actual}${curl}`;
      if (result.level === 'required') throw new Error(words);
      return context.diagnostic(`recommended, not met: ${words}`);
    }
    case 'inconclusive':
      if (result.level === 'required')
        throw new Error(`could not be judged (${result.reason}): ${result.words}`);
      return context.diagnostic(`could not be judged (${result.reason}): ${result.words}`);
    case 'broken':
      throw new Error(`a bug of ib-conformance, please report it: ${result.words}`);
  }
}
