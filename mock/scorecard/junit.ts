import { element, xmlDocument, type XmlElement } from '../../schemas/xml.ts';
import type { Grade, Scorecard } from '../scorecard.ts';
import { evidence } from './evidence.ts';

/** A scorecard as JUnit: a rule is a test case, a broken one a failure, one that was not seen is skipped. */
export function scorecardJunit(card: Scorecard): string {
  const count = (kind: Grade['outcome']['kind']) =>
    card.filter(({ outcome }) => outcome.kind === kind).length;
  const suite = element(
    'testsuite',
    {
      name: 'scorecard',
      tests: card.length,
      failures: count('broken'),
      errors: 0,
      skipped: count('notSeen'),
    },
    card.map(testCase),
  );
  // Without counts: readers would take what those that the outermost element may have leave over for passed.
  return xmlDocument(element('testsuites', { name: 'scorecard' }, [suite]));
}

function testCase({ rule, outcome }: Grade): XmlElement {
  const clause = rule.clause === undefined ? '' : ` (${rule.clause})`;
  const subject = { classname: `scorecard.${rule.id}`, name: rule.title + clause, time: '0' };
  switch (outcome.kind) {
    case 'kept':
      return element('testcase', subject);
    case 'notSeen':
      return element('testcase', subject, [element('skipped', { message: `not seen: needs ${rule.needs}` })]);
    case 'broken':
      return element('testcase', subject, [
        element('failure', { message: rule.advice }, [evidence(outcome.entries).join('\n')]),
      ]);
  }
}
