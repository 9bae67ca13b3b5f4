import type { RequirementResult, RunRecord } from '../schemas/generated/types.ts';
import { isKnownFailure } from '../schemas/known-failure.ts';
import { html as xml, toText, text, type Markup } from './markup.ts';
import { bySuite, conditionOf, factsOf, factLines, MAX_COMMAND, failureRate, wordsOf } from './results.ts';
import { compact } from './text.ts';
import { isLowStrength, narrowedBy, strengthSentences } from './strength.ts';

const MAX_NAME = 300;
const MAX_MESSAGE = 1_300;
const MAX_LEVELS = 20;
const MAX_LINE = MAX_COMMAND + 100;

/** The JUnit element for an outcome; undefined for passed. */
const kinds = {
  passed: undefined,
  failed: 'failure',
  inconclusive: 'error',
  broken: 'error',
  excluded: 'skipped',
  observed: 'skipped',
} as const satisfies Record<RequirementResult['outcome'], string | undefined>;

/** A test case. Without `kind`, it passed. */
interface Case {
  readonly name: string;
  readonly kind: 'failure' | 'error' | 'skipped' | undefined;
  readonly type: string;
  readonly message: string;
  readonly lines: readonly string[];
}

interface Suite {
  readonly name: string;
  /** Its properties. */
  readonly facts: Readonly<Record<string, string | number | undefined>>;
  readonly startedAt: string;
  readonly cases: readonly Case[];
}

/**
 * Renders the record as JUnit: a suite is a test suite, a requirement a test case. An unjudged requirement is
 * an error, so that it does not count as passed. A known failure is skipped. A mistake in the baseline is a
 * failure, because it fails the run.
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
  const [strength, missing] = strengthSentences(record, MAX_LEVELS);
  const facts = { verdict, target, partner, seed, 'ib-conformance': version, coverage: strength, missing };
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

/** Returns cases for limitations of the verdict: skipped, or errors if they make the run incomplete. */
function runCases(record: RunRecord): readonly Case[] {
  const { verdict, counts, mock } = record;
  const remark = (name: string, lines: readonly string[], isError = false): readonly Case[] => {
    const [type, kind] = isError ? (['incomplete', 'error'] as const) : ([name, 'skipped'] as const);
    return lines.map((message) => ({ name: `run/${name}`, kind, type, message, lines }));
  };
  const [strength = ''] = strengthSentences(record, MAX_LEVELS);
  const isEmpty = verdict === 'incomplete' && counts.required.passed === 0;
  return [
    ...remark('strength', isLowStrength(record) ? [strength] : []),
    ...remark('selection', compact(narrowedBy(record)), isEmpty),
    ...remark('target', compact(mock === true && 'no URL was given, so the built-in mock was verified')),
  ];
}

function testSuite({ name: suite, facts, startedAt, cases }: Suite): Markup {
  const properties = Object.entries(facts)
    .filter(([, value]) => value !== undefined)
    .map(
      ([name, value]) => xml`
      <property name="${name}" value="${text(String(value), MAX_NAME)}"/>`,
    );
  const countOf = (wanted: string) => cases.filter(({ kind }) => kind === wanted).length;
  const name = text(suite, MAX_NAME);
  return xml`
  <testsuite name="${name}" tests="${cases.length}" failures="${countOf('failure')}" errors="${countOf('error')}" skipped="${countOf('skipped')}" time="0" timestamp="${text(startedAt, MAX_NAME)}">
    <properties>${properties}
    </properties>${cases.map((one) => testCase(name, one))}
  </testsuite>`;
}

/** Renders a test case. Jenkins shows the class name up to its last dot as the package. */
function testCase(suite: Markup, { name, kind, type, message, lines }: Case): Markup {
  const attributes = xml`classname="ib-conformance.${suite}" name="${text(name, MAX_NAME)}" time="0"`;
  if (kind === undefined)
    return xml`
    <testcase ${attributes}/>`;
  const content = lines.map((line, at) => xml`${at === 0 ? undefined : xml`\n`}${text(line, MAX_LINE)}`);
  return xml`
    <testcase ${attributes}>
      <${kind} type="${type}" message="${text(message, MAX_MESSAGE)}">${content}</${kind}>
    </testcase>`;
}

function caseOf(record: RunRecord, result: RequirementResult): Case {
  const { id, level, outcome } = result;
  const isKnown = isKnownFailure(result);
  const kind = isKnown ? 'skipped' : kinds[outcome];
  return {
    name: id,
    kind,
    type: level === 'recommended' ? `${outcome}, recommended` : outcome,
    message: messageOf(result),
    lines: kind === 'skipped' && !isKnown ? [] : factLines(factsOf(record, result)),
  };
}

function messageOf(result: RequirementResult): string {
  if (result.outcome === 'broken') return result.words;
  if (result.outcome !== 'failed') return wordsOf(result);
  const { baseline, level, aspect, expected, actual } = result;
  const warning = level === 'required' ? '' : `${level}, warning only: `;
  const remark = baseline === undefined ? warning : `known failure: ${baseline}: `;
  const condition = conditionOf(result);
  const when = compact(
    condition !== undefined && `fails when ${condition}`,
    result.intermittent && failureRate(result.intermittent),
  );
  const start = when.length === 0 ? '' : `${when.join(', ')}: `;
  return `${start}${remark}${aspect}: expected ${expected}, actual ${actual}`;
}
