import { endpoints, type Endpoint } from '../../schemas/endpoints.ts';
import type { Difference } from './change.ts';
import { at, both, deposit, onEachEndpoint, rowsOf, type Faults } from './table.ts';

/** Changes the id under which a value is looked up. The world's ids are in lower case. */
const lookedUpAs =
  (which: Endpoint) =>
  (read: (value: string) => string | undefined): Difference =>
  ({ idOf }) => ({
    idOf: (endpoint, value) => (endpoint === which ? read(value) : undefined) ?? idOf(endpoint, value),
  });

const asNumber = (value: string) => (/^\d+e\d/i.test(value) ? `${Number.parseFloat(value)}` : undefined);

const undecoded =
  (which: Endpoint): Difference =>
  ({ isId, idOf, decode }) => ({
    isId: (endpoint, value) => isId(endpoint, endpoint === which ? value : decode(value)),
    idOf: (endpoint, value) => idOf(endpoint, decode(value)),
    decode: (text) => text,
  });

const refused = (which: readonly Endpoint[]) => ({
  change:
    (pattern: RegExp): Difference =>
    ({ isId }) => ({
      isId: (endpoint, value) => isId(endpoint, value) && !(which.includes(endpoint) && pattern.test(value)),
    }),
});

/** Well-formed ids that are not recognized (valid: uuid-case, percent-encoding, any-uuid-version). */
export const validIdFaults: Faults = {
  ...onEachEndpoint((endpoint) => {
    const { parameter } = endpoints[endpoint];
    const [thing, id] = [endpoint.split('-')[0], parameter.replace('_', '-')];
    const lookup = { what: `A ${parameter}`, change: lookedUpAs(endpoint) };
    // The one EXECUTED deposit with such an id is of version 1.
    const ofNumber = endpoint === 'user-status' ? 'member' : 'any-uuid-version';
    return {
      ...at(lookup, rowsOf('valid', [endpoint], 'uuid-case'), {
        [`upper-case-${thing}-unknown: in upper case is not found`]: (value) => value,
      }),
      ...at(lookup, rowsOf('valid', [endpoint], ofNumber), {
        [`${id}-read-as-number: that begins like 1e500000 is read as that number`]: asNumber,
      }),
      ...at({ change: undecoded }, rowsOf('valid', [endpoint], 'percent-encoding'), {
        [`${id}-not-decoded: Percent-encoding in ${parameter} is not decoded`]: endpoint,
      }),
    };
  }),
  ...at(refused(both), rowsOf('valid', both, 'uuid-case'), {
    'upper-case-refused: Ids with upper-case letters are refused': /[A-F]/,
    'mixed-case-refused: Ids with letters of both cases are refused': /[A-F].*[a-f]|[a-f].*[A-F]/,
  }),
  ...at(refused(deposit), ['valid/deposit-check/any-uuid-version'], {
    'reference-id-up-to-version-5: Only reference_ids of versions 1 to 5 are accepted': /^.{14}[678]/,
    'reference-id-of-version-4-only: Only reference_ids of version 4 are accepted': /^.{14}[^4]/,
    'reference-id-not-of-version-8: reference_ids of version 8 are refused': /^.{14}8/,
  }),
};
