import type { Failed, RequirementResult, RunRecord } from '../schemas/generated/types.ts';
import { isKnownFailure } from '../schemas/known-failure.ts';
import { element, xmlDocument, type XmlElement } from '../schemas/xml.ts';
import { bySuite } from './by-suite.ts';
import { factLines, factsOf } from './facts.ts';
import { printable } from './printable.ts';

/** Columns of a name, and of a message, at most. */
const MOST_NAME = 300;
const MOST_MESSAGE = 1_300;

/** The element that an outcome makes of a test case; undefined where the case alone says it. */
const ofOutcomes = {
  passed: undefined,
  failed: 'failure',
  inconclusive: 'error',
  broken: 'error',
  excluded: 'skipped',
  observed: 'skipped',
} as const satisfies Record<RequirementResult['outcome'], string | undefined>;

/** The same of a result: a failure that the baseline knows does not fail the run. */
const elementOf = (result: RequirementResult) =>
  isKnownFailure(result) ? 'skipped' : ofOutcomes[result.outcome];

/**
 * The record as JUnit: a suite is a test suite, a requirement a test case. What could not be judged is
 * an error, so that no reader takes it for passed; what is wrong with the baseline is a failure of its own,
 * as it fails the run. Valid against the schema that Jenkins has for them.
 *
 * The outermost element has no counts: the schema knows none of skipped cases there, and readers take
 * what the counts leave over for passed.
 */
export function renderJunit(record: RunRecord): string {
  const suites = [...bySuite(record.requirements)];
  return xmlDocument(
    element('testsuites', { name: 'ib-conformance' }, [
      ...suites.map(([suite, rows]) => suiteOf(record, suite, rows)),
      ...baselineSuite(record),
    ]),
  );
}

function suiteOf(record: RunRecord, suite: string, rows: readonly RequirementResult[]): XmlElement {
  const name = printable(suite, MOST_NAME);
  return element(
    'testsuite',
    { name, ...countsOf(rows), time: '0', timestamp: printable(record.startedAt, MOST_NAME) },
    [element('properties', {}, propertiesOf(record)), ...rows.map((row) => caseOf(record, name, row))],
  );
}

/** The run may fail of its baseline alone: then there is a failure to see. */
function baselineSuite(record: RunRecord): readonly XmlElement[] {
  const wrong = record.baseline?.wrong ?? [];
  if (wrong.length === 0) return [];
  const counts = { tests: wrong.length, failures: wrong.length, errors: 0, skipped: 0 };
  const cases = wrong.map((words, at) => {
    const message = printable(words, MOST_MESSAGE);
    return element(
      'testcase',
      { classname: 'ib-conformance.baseline', name: `baseline ${at + 1}`, time: '0' },
      [element('failure', { type: 'baseline', message }, [message])],
    );
  });
  return [
    element(
      'testsuite',
      { name: 'baseline', ...counts, time: '0', timestamp: printable(record.startedAt, MOST_NAME) },
      [element('properties', {}, propertiesOf(record)), ...cases],
    ),
  ];
}

function countsOf(rows: readonly RequirementResult[]) {
  const having = (wanted: string) => rows.filter((row) => elementOf(row) === wanted).length;
  return {
    tests: rows.length,
    failures: having('failure'),
    errors: having('error'),
    skipped: having('skipped'),
  };
}

function propertiesOf(record: RunRecord): readonly XmlElement[] {
  const { target, partner, seed, version, verdict } = record;
  const all = { verdict, target, partner, seed, 'ib-conformance': version };
  return Object.entries(all).flatMap(([name, value]) =>
    value === undefined ? [] : [element('property', { name, value: printable(String(value), MOST_NAME) })],
  );
}

/** Jenkins shows what stands before the last dot of a class name as its package. */
function caseOf(record: RunRecord, suite: string, result: RequirementResult): XmlElement {
  const subject = { classname: `ib-conformance.${suite}`, name: printable(result.id, MOST_NAME), time: '0' };
  const name = elementOf(result);
  if (name === undefined) return element('testcase', subject);
  const text = factLines(factsOf(record, result)).join('\n');
  const attributes = { type: typeOf(result), message: printable(messageOf(result), MOST_MESSAGE) };
  return element('testcase', subject, [
    element(name, attributes, name === 'skipped' && !isKnownFailure(result) ? [] : [text]),
  ]);
}

function typeOf(result: RequirementResult): string {
  return result.level === 'recommended' ? `${result.outcome}, recommended` : result.outcome;
}

function messageOf(result: RequirementResult): string {
  switch (result.outcome) {
    case 'passed':
      return '';
    case 'failed':
      return `${remarkOn(result)}${result.aspect}: expected ${result.expected}, actual ${result.actual}`;
    case 'inconclusive':
    case 'excluded':
      return `${result.reason}: ${result.words}`;
    case 'observed':
    case 'broken':
      return result.words;
  }
}

/** Why a failure is milder than it looks. */
function remarkOn(result: Failed): string {
  if (result.baseline !== undefined) return `known failure: ${result.baseline}: `;
  return result.level === 'required' ? '' : `${result.level}, this only warns: `;
}
