import { accept, crash, refuse } from '../change.ts';
import { both, deposit, noServerErrors, rowsOf, user, type Faults } from './rows.ts';
import { groups, matching } from './uuid-pattern.ts';

const malformed = rowsOf('invalid-uuid', both, 'malformed');
const alternative = rowsOf('invalid-uuid', both, 'alternative-spelling');
const notV4 = rowsOf('invalid-uuid', user, 'not-v4');

/** Versions and variants, and values that are taken for something else (invalid-uuid; valid, any-uuid-version). */
export const versionFaults: Faults = {
  'any-variant-accepted': {
    what: 'Wrong variant bits are accepted.',
    fails: alternative,
    change: matching(both, (endpoint) => `^${groups(endpoint)}$`.replace('[89ab]', '[0-9a-f]')),
  },
  'any-version-of-user-id': {
    what: 'A user_id of any version is accepted.',
    fails: notV4,
    change: (behaviour) => accept(user, (value) => behaviour.isId('deposit-check', value))(behaviour),
  },
  'version-7-of-user-id': {
    what: 'A user_id of version 7 is accepted.',
    fails: notV4,
    change: matching(user, (endpoint) => `^${groups(endpoint)}$`.replace('-4', '-7')),
  },
  'reference-id-up-to-version-5': {
    what: 'Only reference_ids of versions 1 to 5 are accepted.',
    fails: rowsOf('valid', deposit, 'executed', 'any-uuid-version'),
    change: refuse(deposit, (value) => /^.{14}[678]/.test(value)),
  },
  'reference-id-of-version-4-only': {
    what: 'Only reference_ids of version 4 are accepted.',
    fails: rowsOf('valid', deposit, 'executed', 'any-uuid-version'),
    change: refuse(deposit, (value) => /^.{14}[^4]/.test(value)),
  },
  'reference-id-not-of-version-8': {
    what: 'reference_ids of version 8 are refused.',
    fails: rowsOf('valid', deposit, 'any-uuid-version'),
    change: refuse(deposit, (value) => /^.{14}8/.test(value)),
  },
  'whole-numbers-accepted': {
    what: 'A whole number is accepted for an id.',
    fails: [...malformed, ...alternative],
    change: accept(both, (value) => /^\d+$/.test(value)),
  },
  'quote-crashes': {
    what: 'A quotation mark in the value breaks the statement and crashes.',
    fails: [...malformed, noServerErrors],
    change: crash({ where: ({ call }) => /'/.test(call?.value ?? '') }),
  },
  'nul-crashes': {
    what: 'A NUL in the value crashes.',
    fails: [...malformed, ...rowsOf('invalid-uuid', both, 'hostile'), noServerErrors],
    change: crash({ where: ({ call }) => call?.value?.includes('\0') ?? false }),
  },
};
