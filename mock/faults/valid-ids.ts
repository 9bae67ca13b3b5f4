import type { Endpoint } from '../../schemas/endpoints.ts';
import type { Behaviour } from '../behaviour.ts';
import type { Change } from './change.ts';
import { at, both, deposit, failing, rowsOf, type Faults } from './table.ts';

/** Changes the id under which a value is looked up. The world's ids are in lower case. */
const idOf =
  (which: Endpoint, read: (value: string) => string | undefined): Change =>
  (behaviour) => ({
    ...behaviour,
    idOf: (endpoint, value) =>
      (endpoint === which ? read(value) : undefined) ?? behaviour.idOf(endpoint, value),
  });

const asNumber = (value: string) => (/^\d+e\d/i.test(value) ? `${Number.parseFloat(value)}` : undefined);

const undecoded =
  (which: Endpoint): Change =>
  (behaviour): Behaviour => ({
    ...behaviour,
    isId: (endpoint, value) => behaviour.isId(endpoint, endpoint === which ? value : behaviour.decode(value)),
    idOf: (endpoint, value) => behaviour.idOf(endpoint, behaviour.decode(value)),
    decode: (text) => text,
  });

const refused = (which: readonly Endpoint[]) => ({
  change:
    (pattern: RegExp): Change =>
    (behaviour) => ({
      ...behaviour,
      isId: (endpoint, value) =>
        behaviour.isId(endpoint, value) && !(which.includes(endpoint) && pattern.test(value)),
    }),
});

/** Well-formed ids that are not recognized (valid: uuid-case, percent-encoding, any-uuid-version). */
export const validIdFaults: Faults = {
  ...failing(['valid/user-status/uuid-case'], {
    'upper-case-user-unknown': [
      'A user_id in upper case finds nobody',
      idOf('user-status', (value) => value),
    ],
  }),
  ...failing(['valid/deposit-check/uuid-case'], {
    'upper-case-deposit-unknown': [
      'A reference_id in upper case finds nothing',
      idOf('deposit-check', (value) => value),
    ],
  }),
  ...at(refused(both), rowsOf('valid', both, 'uuid-case'), {
    'upper-case-refused': ['Ids with upper-case letters are refused', /[A-F]/],
    'mixed-case-refused': ['Ids with letters of both cases are refused', /[A-F].*[a-f]|[a-f].*[A-F]/],
  }),
  ...failing(['valid/user-status/member'], {
    'user-id-read-as-number': [
      'A user_id that begins like 1e500000 is read as that number and finds nobody',
      idOf('user-status', asNumber),
    ],
  }),
  // The one EXECUTED deposit with such an id is of version 1.
  ...failing(['valid/deposit-check/any-uuid-version'], {
    'reference-id-read-as-number': [
      'A reference_id that begins like 1e400000 is read as that number and finds nothing',
      idOf('deposit-check', asNumber),
    ],
  }),
  ...failing(['valid/user-status/percent-encoding'], {
    'user-id-not-decoded': ['Percent-encoding in user_id is not decoded', undecoded('user-status')],
  }),
  ...failing(['valid/deposit-check/percent-encoding'], {
    'reference-id-not-decoded': [
      'Percent-encoding in reference_id is not decoded',
      undecoded('deposit-check'),
    ],
  }),
  ...at(refused(deposit), ['valid/deposit-check/any-uuid-version'], {
    'reference-id-up-to-version-5': ['Only reference_ids of versions 1 to 5 are accepted', /^.{14}[678]/],
    'reference-id-of-version-4-only': ['Only reference_ids of version 4 are accepted', /^.{14}[^4]/],
    'reference-id-not-of-version-8': ['reference_ids of version 8 are refused', /^.{14}8/],
  }),
};
