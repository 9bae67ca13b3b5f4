import type { RequirementResult, RunRecord } from '../schemas/generated/types.ts';
import { isKnownFailure } from '../schemas/known-failure.ts';
import { html as xml, toText, text, type Markup } from './markup.ts';
import { failsRun, headlineOf, judgementOf, outcomeWords } from './judgement.ts';
import { MAX_COMMAND, MAX_LIST } from './document.ts';
import { factLines, factsOf, wordsOf } from './failure.ts';
import { bySuite } from './similar.ts';
import { describeStrength, isLowStrength, narrowedBy } from './strength.ts';
import { compact } from './text.ts';
import { fixOf } from './unverified.ts';
import { conditionOf, failureRate } from './when.ts';

const MAX_NAME = 300;
const MAX_LINE = MAX_COMMAND + 100;

/** A test case. Without `kind`, it passed. */
interface Case {
  readonly name: string;
  readonly kind: 'failure' | 'error' | 'skipped' | undefined;
  readonly type: string;
  readonly message: string;
  readonly lines: readonly string[];
  /** In ms; undefined if it was not measured. */
  readonly durationMs?: number;
  /** What is worth knowing of a case that passed. */
  readonly remark?: string;
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
  const wrong = (record.baseline?.wrong ?? []).map((message, at): Case => ({
    name: `baseline ${at + 1}`,
    kind: 'failure',
    type: 'baseline',
    message,
    lines: [message],
  }));
  const suites = new Map(
    [...bySuite(record.requirements)].map(([name, rows]) => [name, rows.map((row) => caseOf(record, row))]),
  );
  const all = [...suites, ['baseline', wrong] as const, ['run', runCases(record)] as const];
  const { target, partner, seed, version, verdict, startedAt } = record;
  const facts = { verdict, target, partner, seed, 'ib-conformance': version };
  return junitDocument(all.map(([name, cases]) => ({ name, facts, startedAt, cases })));
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

/** Returns the case of the verdict, and skipped ones for what limits it. */
function runCases(record: RunRecord): readonly Case[] {
  const { mock, durationMs } = record;
  const skipped = (name: string, message: string | false | undefined): readonly Case[] =>
    message === undefined || message === false
      ? []
      : [{ name: `run/${name}`, kind: 'skipped', type: name, message, lines: [] }];
  return [
    { ...verdictCase(record), durationMs },
    ...skipped('strength', isLowStrength(record) && describeStrength(record)),
    ...skipped('selection', narrowedBy(record)),
    ...skipped('target', mock === true && 'no URL was given, so the built-in mock was verified'),
  ];
}

/** The case that says why a run is neither conformant nor nonconformant. Requirements that failed are failures. */
function verdictCase(record: RunRecord): Case {
  const { ending } = judgementOf(record);
  const headline = headlineOf(record);
  const bugs = record.requirements.flatMap((row) =>
    row.outcome === 'broken' ? [`${row.id}: ${row.words}`] : [],
  );
  const isError = ending !== 'conformant' && ending !== 'nonconformant';
  return {
    name: 'verdict',
    kind: isError ? 'error' : undefined,
    type: ending,
    message: headline,
    lines: isError ? compact(headline, ...bugs) : [],
    ...(!isError && { remark: headline }),
  };
}

function testSuite({ name: suite, facts, startedAt, cases }: Suite): Markup {
  const properties = Object.entries(facts)
    .filter(([, value]) => value !== undefined)
    .map(
      ([name, value]) => xml`
      <property name="${name}" value="${text(String(value), MAX_NAME)}"/>`,
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
function testCase(suite: Markup, { name, kind, type, message, lines, durationMs, remark }: Case): Markup {
  const time = durationMs === undefined ? undefined : xml` time="${secondsOf(durationMs)}"`;
  const attributes = xml`classname="ib-conformance.${suite}" name="${text(name, MAX_NAME)}"${time}`;
  const output =
    remark === undefined
      ? undefined
      : xml`
      <system-out>${text(remark, MAX_LINE)}</system-out>`;
  if (kind === undefined && output === undefined)
    return xml`
    <testcase ${attributes}/>`;
  const content = lines.map((line, at) => xml`${at === 0 ? undefined : xml`\n`}${text(line, MAX_LINE)}`);
  const finding =
    kind === undefined
      ? undefined
      : xml`
      <${kind} type="${type}" message="${text(message, MAX_LIST)}">${content}</${kind}>`;
  return xml`
    <testcase ${attributes}>${finding}${output}
    </testcase>`;
}

function caseOf(record: RunRecord, result: RequirementResult): Case {
  const { id, level, outcome } = result;
  const isFailure = failsRun(record, result);
  const isWarning = outcome === 'failed' && !isFailure && !isKnownFailure(result);
  const message = messageOf(record, result);
  return {
    name: id,
    kind: isFailure ? 'failure' : outcome === 'passed' || isWarning ? undefined : 'skipped',
    type: level === 'recommended' ? `${outcome}, recommended` : outcome,
    message,
    lines: outcome === 'failed' ? factLines(factsOf(record, result)) : [],
    ...(isWarning && { remark: message }),
  };
}

function messageOf(record: RunRecord, result: RequirementResult): string {
  const fix = 'reason' in result ? fixOf(result.reason) : undefined;
  if (result.outcome !== 'failed') return `${wordsOf(record, result)}${fix === undefined ? '' : `; ${fix}`}`;
  const { baseline, aspect, expected, actual } = result;
  const words = outcomeWords(record, result);
  const remark =
    baseline === undefined ? (words === 'failed' ? '' : `${words}: `) : `known failure: ${baseline}: `;
  const condition = conditionOf(result);
  const when = compact(
    condition !== undefined && `when ${condition}`,
    result.intermittent && failureRate(result.intermittent),
  );
  const start = when.length === 0 ? '' : `${when.join(', ')}: `;
  return `${start}${remark}${aspect}: expected ${expected}, actual ${actual}`;
}
