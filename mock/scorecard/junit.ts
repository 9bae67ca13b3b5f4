import type { Grade, Scorecard } from '../scorecard.ts';
import { evidence } from './evidence.ts';

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Text as XML, in an attribute as well as between tags. What XML cannot hold at all, evidence has made visible. */
const xml = (text: string) => text.replaceAll(/[&<>"]/g, (character) => entities[character] ?? '');

/** A scorecard as JUnit: a rule is a test case, a broken one a failure, one that was not seen is skipped. */
export function scorecardJunit(card: Scorecard): string {
  const count = (kind: Grade['outcome']['kind']) =>
    card.filter(({ outcome }) => outcome.kind === kind).length;
  const counts = `tests="${card.length}" failures="${count('broken')}" skipped="${count('notSeen')}" errors="0"`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="scorecard" ${counts}>`,
    `  <testsuite name="scorecard" ${counts}>`,
    ...card.map(testCase),
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n');
}

function testCase({ rule, outcome }: Grade): string {
  const clause = rule.clause === undefined ? '' : ` (${rule.clause})`;
  const start = `    <testcase classname="scorecard.${xml(rule.id)}" name="${xml(rule.title + clause)}" time="0"`;
  if (outcome.kind === 'kept') return `${start}/>`;
  const inner =
    outcome.kind === 'notSeen'
      ? `<skipped message="${xml(`not seen: needs ${rule.needs}`)}"/>`
      : `<failure message="${xml(rule.advice)}">${xml(evidence(outcome.entries).join('\n'))}</failure>`;
  return `${start}>${inner}</testcase>`;
}
