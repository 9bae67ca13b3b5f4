import { accept } from '../change.ts';
import { both, deposit, rowsOf, user, type Faults } from './rows.ts';
import { classes, groups, matching } from './uuid-pattern.ts';

const malformed = rowsOf('invalid-uuid', both, 'malformed');
const alternative = rowsOf('invalid-uuid', both, 'alternative-spelling');
const notV4 = rowsOf('invalid-uuid', user, 'not-v4');

/** Patterns that are not what they look like (invalid-uuid). */
export const patternFaults: Faults = {
  'dollar-before-newline': {
    what: 'The end of the pattern also matches before a final newline.',
    fails: malformed,
    change: matching(both, (endpoint) => `^${groups(endpoint)}\\n?$`),
  },
  'multi-line-mode': {
    what: 'The pattern is satisfied by one line of several.',
    fails: [...malformed, ...alternative],
    change: matching(both, (endpoint) => `^${groups(endpoint)}$`, 'im'),
  },
  'not-anchored-at-start': {
    what: 'Text before the id is accepted.',
    fails: [...malformed, ...alternative],
    change: matching(both, (endpoint) => `${groups(endpoint)}$`),
  },
  'not-anchored-at-end': {
    what: 'Text after the id is accepted.',
    fails: [...malformed, ...alternative, ...rowsOf('invalid-uuid', user, 'hostile')],
    change: matching(both, (endpoint) => `^${groups(endpoint)}`),
  },
  'length-only': {
    what: 'Anything of 36 characters is accepted.',
    fails: [...malformed, ...alternative, ...notV4],
    change: accept(both, (value) => value.length === 36),
  },
  'hyphens-only': {
    what: 'Anything with hyphens in the places of a UUID is accepted.',
    fails: [...malformed, ...alternative, ...notV4],
    change: accept(both, (value) => /^.{8}-.{4}-.{4}-.{4}-.{12}$/s.test(value)),
  },
  'any-letter-accepted': {
    what: 'Any letter is accepted for a hexadecimal digit.',
    fails: malformed,
    change: matching(both, (endpoint) => `^${groups(endpoint, classes('[0-9a-z]'))}$`),
  },
  'word-characters-accepted': {
    what: 'Any letter, digit or underscore is accepted for a hexadecimal digit.',
    fails: malformed,
    change: matching(both, (endpoint) => `^${groups(endpoint, classes('\\w'))}$`),
  },
  'class-from-digits-to-f': {
    what: 'The class of digits reads `[0-9A-f]`, which holds all capital letters and some punctuation.',
    fails: malformed,
    change: matching(both, (endpoint) => `^${groups(endpoint, classes('[0-9A-f]'))}$`, ''),
  },
  'unicode-digits-accepted': {
    what: 'Decimal digits of any script are accepted.',
    fails: malformed,
    change: matching(both, (endpoint) => `^${groups(endpoint, classes('[\\p{Nd}a-f]'))}$`, 'iu'),
  },
  'g-in-first-group-of-user-id': {
    what: 'The letter g is accepted in the first group of user_id.',
    fails: rowsOf('invalid-uuid', user, 'malformed'),
    change: matching(
      user,
      (endpoint) => `^${groups(endpoint, ['[0-9a-g]{8}', ...classes('[0-9a-f]').slice(1)])}$`,
    ),
  },
  'g-in-last-group-of-reference-id': {
    what: 'The letter g is accepted in the last group of reference_id.',
    fails: rowsOf('invalid-uuid', deposit, 'malformed'),
    change: matching(
      deposit,
      (endpoint) => `^${groups(endpoint, [...classes('[0-9a-f]').slice(0, 4), '[0-9a-g]{12}'])}$`,
    ),
  },
  'last-group-too-long': {
    what: 'The last group of user_id may have more than twelve digits.',
    fails: rowsOf('invalid-uuid', user, 'malformed', 'hostile'),
    change: matching(user, (endpoint) => `^${groups(endpoint)}[0-9a-f]*$`),
  },
  'last-group-too-short': {
    what: 'The last group of reference_id may have only eleven digits.',
    fails: rowsOf('invalid-uuid', deposit, 'malformed'),
    change: matching(deposit, (endpoint) => `^${groups(endpoint)}?$`.replace('{12}?', '{11}')),
  },
};
