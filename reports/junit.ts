import type { RequirementResult, RunRecord } from '../schemas/generated/types.ts';
import { isKnownFailure } from '../schemas/known-failure.ts';
import { element, xmlDocument, type XmlElement } from './xml.ts';
import { bySuite, factLines, factsOf, wordsOf } from './results.ts';
import { printable } from './text.ts';

/** Columns of a name, and of a message, at most. */
const MAX_NAME = 300;
const MAX_MESSAGE = 1_300;

/** The element that an outcome makes of a test case; undefined where the case alone says it. */
const elementNames = {
  passed: undefined,
  failed: 'failure',
  inconclusive: 'error',
  broken: 'error',
  excluded: 'skipped',
  observed: 'skipped',
} as const satisfies Record<RequirementResult['outcome'], string | undefined>;

/**
 * The record as JUnit: a suite is a test suite, a requirement a test case. What could not be judged is
 * an error, so that no reader takes it for passed. A failure that the baseline knows is skipped, and
 * what is wrong with the baseline is a failure, as it fails the run. Valid against Jenkins' schema.
 *
 * The outermost element has no counts: the schema has none of skipped cases there, and readers take
 * what the counts leave over for passed.
 */
export function renderJunit(record: RunRecord): string {
  const wrong = record.baseline?.wrong ?? [];
  const suites = [...bySuite(record.requirements)].map(([name, rows]) =>
    suiteOf(record, printable(name, MAX_NAME), (suite) => rows.map((row) => caseOf(record, suite, row))),
  );
  const baseline = () => wrong.map((words, at) => baselineCase(words, at + 1));
  return xmlDocument(
    element('testsuites', { name: 'ib-conformance' }, [
      ...suites,
      ...(wrong.length === 0 ? [] : [suiteOf(record, 'baseline', baseline)]),
    ]),
  );
}

function suiteOf(
  record: RunRecord,
  name: string,
  casesOf: (suite: string) => readonly XmlElement[],
): XmlElement {
  const { target, partner, seed, version, verdict } = record;
  const all = { verdict, target, partner, seed, 'ib-conformance': version };
  const properties = Object.entries(all)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => element('property', { name: key, value: printable(String(value), MAX_NAME) }));
  const cases = casesOf(name);
  const having = (wanted: string) =>
    cases.filter(({ children: [child] }) => typeof child === 'object' && child.name === wanted).length;
  const counts = {
    tests: cases.length,
    failures: having('failure'),
    errors: having('error'),
    skipped: having('skipped'),
  };
  const timestamp = printable(record.startedAt, MAX_NAME);
  return element('testsuite', { name, ...counts, time: '0', timestamp }, [
    element('properties', {}, properties),
    ...cases,
  ]);
}

/** The run may fail because of its baseline alone: then there is a failure to see. */
function baselineCase(words: string, number: number): XmlElement {
  const message = printable(words, MAX_MESSAGE);
  const attributes = { classname: 'ib-conformance.baseline', name: `baseline ${number}`, time: '0' };
  return element('testcase', attributes, [element('failure', { type: 'baseline', message }, [message])]);
}

/** Jenkins shows what stands before the last dot of a class name as its package. */
function caseOf(record: RunRecord, suite: string, result: RequirementResult): XmlElement {
  const { outcome, level, id } = result;
  const isKnown = isKnownFailure(result);
  const subject = { classname: `ib-conformance.${suite}`, name: printable(id, MAX_NAME), time: '0' };
  const name = isKnown ? 'skipped' : elementNames[outcome];
  if (name === undefined) return element('testcase', subject);
  const attributes = {
    type: level === 'recommended' ? `${outcome}, recommended` : outcome,
    message: printable(messageOf(result), MAX_MESSAGE),
  };
  const text = factLines(factsOf(record, result)).join('\n');
  return element('testcase', subject, [
    element(name, attributes, name === 'skipped' && !isKnown ? [] : [text]),
  ]);
}

function messageOf(result: RequirementResult): string {
  if (result.outcome === 'broken') return result.words;
  if (result.outcome !== 'failed') return wordsOf(result);
  const { baseline, level, aspect, expected, actual } = result;
  const warning = level === 'required' ? '' : `${level}, this only warns: `;
  const remark = baseline === undefined ? warning : `known failure: ${baseline}: `;
  return `${remark}${aspect}: expected ${expected}, actual ${actual}`;
}
