import type { Endpoint } from '../../schemas/endpoints.ts';
import { refuse, type Change } from '../change.ts';
import { both, deposit, rowsOf, user, type Faults } from './rows.ts';

/** The world's ids are in lower case: what keeps its letter case is not found. */
const keepingCase =
  (which: Endpoint): Change =>
  (behaviour) => ({
    ...behaviour,
    idOf: (endpoint, value) => (endpoint === which ? value : behaviour.idOf(endpoint, value)),
  });

const readingNumbers =
  (which: Endpoint): Change =>
  (behaviour) => ({
    ...behaviour,
    idOf: (endpoint, value) =>
      endpoint === which && /^\d+e\d/i.test(value)
        ? `${Number.parseFloat(value)}`
        : behaviour.idOf(endpoint, value),
  });

/** Well-formed ids that are not recognized (valid, uuid-case). */
export const letterCaseFaults: Faults = {
  'upper-case-user-unknown': {
    what: 'A user_id in upper case finds nobody.',
    fails: rowsOf('valid', user, 'uuid-case'),
    change: keepingCase('user-status'),
  },
  'upper-case-deposit-unknown': {
    what: 'A reference_id in upper case finds nothing.',
    fails: rowsOf('valid', deposit, 'uuid-case'),
    change: keepingCase('deposit-check'),
  },
  'upper-case-refused': {
    what: 'Ids with upper-case letters are refused.',
    fails: rowsOf('valid', both, 'uuid-case'),
    change: refuse(both, (value) => /[A-F]/.test(value)),
  },
  'mixed-case-refused': {
    what: 'Ids with letters of both cases are refused.',
    fails: rowsOf('valid', both, 'uuid-case'),
    change: refuse(both, (value) => /[A-F]/.test(value) && /[a-f]/.test(value)),
  },
  'user-id-read-as-number': {
    what: 'A user_id that begins like 1e500000 is read as that number and finds nobody.',
    fails: rowsOf('valid', user, 'member'),
    change: readingNumbers('user-status'),
  },
  'reference-id-read-as-number': {
    what: 'A reference_id that begins like 1e400000 is read as that number and finds nothing.',
    fails: rowsOf('valid', deposit, 'executed'),
    change: readingNumbers('deposit-check'),
  },
};
