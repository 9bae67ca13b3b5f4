import type { RequirementResult, RunRecord } from '../schemas/generated/types.ts';
import { defined } from '../schemas/values.ts';
import {
  isKnownFailure,
  failsRun,
  headlineOf,
  judgementOf,
  outcomeWords,
  describeStrength,
  isLowStrength,
} from './judgement.ts';
import { html as xml, toText, text, type Markup } from './markup.ts';
import { factLines, MAX_COMMAND, MAX_LIST } from './document.ts';
import { factsOf, wordsOf } from './failure.ts';
import { runCommand } from './next-step.ts';
import { bySuite } from './similar.ts';
import { compact } from './text.ts';
import { fixOf } from './unverified.ts';
import { conditionOf, failureRate } from './when.ts';

const MAX_NAME = 300;
const MAX_LINE = MAX_COMMAND + 100;

/** A test case. Without `kind`, it passed, and the message goes to its output. */
interface Case {
  readonly name: string;
  readonly kind?: 'failure' | 'error' | 'skipped' | undefined;
  readonly type: string;
  readonly message: string;
  readonly lines?: readonly string[];
  /** In ms; undefined if it was not measured. */
  readonly durationMs?: number;
}

interface Suite {
  readonly name: string;
  /** Its properties. */
  readonly facts: Readonly<Record<string, string | number | undefined>>;
  readonly startedAt: string;
  readonly cases: readonly Case[];
}

/**
 * Renders the record as JUnit: a suite is a test suite, a requirement a test case. It agrees with the exit code: a
 * failure for each requirement, or mistake in the baseline, that fails the run; one error if the run ended in another
 * way; neither if the exit code is 0. What was not verified is skipped, and a warning is in the output of its case.
 */
export function renderJunit(record: RunRecord): string {
  const { target, partner, seed, version, verdict, startedAt, baseline } = record;
  const wrong = (baseline?.wrong ?? []).map((message, at): Case => ({
    name: `baseline ${at + 1}`,
    kind: 'failure',
    type: 'baseline',
    message,
    lines: [message],
  }));
  const suites = [...bySuite(record.requirements)].map(
    ([name, rows]) => [name, rows.map((row) => caseOf(record, row))] as const,
  );
  const facts = { verdict, target, partner, seed, 'ib-conformance': version };
  return junitDocument(
    [...suites, ['baseline', wrong] as const, ['run', runCases(record)] as const].map(([name, cases]) => ({
      name,
      facts,
      startedAt,
      cases,
    })),
  );
}

/**
 * Renders the non-empty suites as JUnit, valid against Jenkins' schema. The outermost element has no counts,
 * because the schema has no `skipped` there, so skipped cases would count as passed.
 */
export const junitDocument = (suites: readonly Suite[]): string =>
  toText(xml`<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="ib-conformance">${suites.filter(({ cases }) => cases.length > 0).map(testSuite)}
</testsuites>
`);

/** The case of the verdict, an error if the run is neither conformant nor nonconformant, and one for a short run. */
function runCases(record: RunRecord): readonly Case[] {
  const { ending } = judgementOf(record);
  const { durationMs, notes, requirements } = record;
  const message = headlineOf(record);
  const command = runCommand(record);
  const run = command === undefined ? [] : [`run: ${command}`];
  const bugs = requirements.flatMap((row) => (row.outcome === 'broken' ? [`${row.id}: ${row.words}`] : []));
  const isError = ending !== 'conformant' && ending !== 'nonconformant';
  const verdict: Case = isError
    ? { name: 'verdict', kind: 'error', type: ending, message, lines: [message, ...bugs, ...run], durationMs }
    : { name: 'verdict', type: ending, message: [message, ...notes, ...run].join('; '), durationMs };
  return compact(
    verdict,
    isLowStrength(record) && {
      name: 'run/strength',
      kind: 'skipped',
      type: 'strength',
      message: describeStrength(record),
    },
  );
}

function caseOf(record: RunRecord, result: RequirementResult): Case {
  const { id, level, outcome, answersMs } = result;
  const isFailure = failsRun(record, result);
  const isWarning = outcome === 'failed' && !isFailure && !isKnownFailure(result);
  return {
    name: id,
    kind: isFailure ? 'failure' : outcome === 'passed' || isWarning ? undefined : 'skipped',
    type: level === 'recommended' ? `${outcome}, recommended` : outcome,
    message: messageOf(record, result),
    lines: outcome === 'failed' ? factLines(factsOf(record, result)) : [],
    ...defined({ durationMs: answersMs }),
  };
}

function messageOf(record: RunRecord, result: RequirementResult): string {
  if (result.outcome !== 'failed')
    return compact(wordsOf(record, result), 'reason' in result && fixOf(result.reason)).join('; ');
  const { baseline, aspect, expected, actual, intermittent } = result;
  const words = outcomeWords(record, result);
  const condition = conditionOf(result);
  const when = compact(condition && `when ${condition}`, intermittent && failureRate(intermittent)).join(
    ', ',
  );
  return compact(
    when !== '' && when,
    baseline === undefined ? words !== 'failed' && words : `known failure: ${baseline}`,
    aspect,
    `expected ${expected}, actual ${actual}`,
  ).join(': ');
}

function testSuite({ name: suite, facts, startedAt, cases }: Suite): Markup {
  const properties = Object.entries(facts).flatMap(([name, value]) =>
    value === undefined
      ? []
      : [
          xml`
      <property name="${name}" value="${text(String(value), MAX_NAME)}"/>`,
        ],
  );
  const duration = cases.reduce((sum, { durationMs = 0 }) => sum + durationMs, 0);
  const countOf = (wanted: string) => cases.filter(({ kind }) => kind === wanted).length;
  const name = text(suite, MAX_NAME);
  return xml`
  <testsuite name="${name}" tests="${cases.length}" failures="${countOf('failure')}" errors="${countOf('error')}" skipped="${countOf('skipped')}" time="${secondsOf(duration)}" timestamp="${text(startedAt, MAX_NAME)}">
    <properties>${properties}
    </properties>${cases.map((one) => testCase(name, one))}
  </testsuite>`;
}

const secondsOf = (ms: number) => (ms / 1000).toFixed(3);

/** Renders a test case. Jenkins shows the class name up to its last dot as the package. */
function testCase(suite: Markup, one: Case): Markup {
  const { name, kind, type, message, lines = [], durationMs } = one;
  const time = durationMs === undefined ? undefined : xml` time="${secondsOf(durationMs)}"`;
  const content = lines.map((line, at) => xml`${at === 0 ? undefined : xml`\n`}${text(line, MAX_LINE)}`);
  const shown = text(message, MAX_LIST);
  const result =
    kind === undefined
      ? xml`<system-out>${shown}</system-out>`
      : xml`<${kind} type="${type}" message="${shown}">${content}</${kind}>`;
  return xml`
    <testcase classname="ib-conformance.${suite}" name="${text(name, MAX_NAME)}"${time}>
      ${result}
    </testcase>`;
}
