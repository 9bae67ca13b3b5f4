import { endpoints, type Endpoint } from '../../schemas/endpoints.ts';
import type { Difference } from './edits.ts';
import { define, both, deposit, perEndpoint, idsIn, type Faults } from './define.ts';

/** Changes the id under which a value is looked up. The world's ids are in lower case. */
const lookedUpAs =
  (which: Endpoint) =>
  (read: (value: string) => string | undefined): Difference =>
  ({ normalizeId }) => ({
    normalizeId: (endpoint, value) =>
      (endpoint === which ? read(value) : undefined) ?? normalizeId(endpoint, value),
  });

const asNumber = (value: string) => (/^\d+e\d/i.test(value) ? `${Number.parseFloat(value)}` : undefined);

const undecoded =
  (which: Endpoint): Difference =>
  ({ isValidId, normalizeId, decode }) => ({
    isValidId: (endpoint, value) => isValidId(endpoint, endpoint === which ? value : decode(value)),
    normalizeId: (endpoint, value) => normalizeId(endpoint, decode(value)),
    decode: (text) => text,
  });

const refused = (which: readonly Endpoint[]) => ({
  change:
    (pattern: RegExp): Difference =>
    ({ isValidId }) => ({
      isValidId: (endpoint, value) =>
        isValidId(endpoint, value) && !(which.includes(endpoint) && pattern.test(value)),
    }),
});

/** Well-formed ids that are not recognized (valid: uuid-case, percent-encoding, any-uuid-version). */
export const validIdFaults: Faults = {
  ...perEndpoint((endpoint) => {
    const { parameter } = endpoints[endpoint];
    const [thing, id] = [endpoint.split('-')[0], parameter.replace('_', '-')];
    const lookup = { what: `A ${parameter}`, change: lookedUpAs(endpoint) };
    // The one EXECUTED deposit with such an id is of version 1.
    const ofNumber = endpoint === 'user-status' ? 'member' : 'any-uuid-version';
    return {
      ...define(lookup, idsIn('valid', [endpoint], 'uuid-case'), {
        [`upper-case-${thing}-unknown: in upper case is not found`]: (value) => value,
      }),
      ...define(lookup, idsIn('valid', [endpoint], ofNumber), {
        [`${id}-read-as-number: that begins like 1e500000 is read as that number`]: asNumber,
      }),
      ...define({ change: undecoded }, idsIn('valid', [endpoint], 'percent-encoding'), {
        [`${id}-not-decoded: Percent-encoding in ${parameter} is not decoded`]: endpoint,
      }),
    };
  }),
  ...define(refused(both), idsIn('valid', both, 'uuid-case'), {
    'upper-case-refused: Ids with upper-case letters are refused': /[A-F]/,
    'mixed-case-refused: Ids with letters of both cases are refused': /[A-F].*[a-f]|[a-f].*[A-F]/,
  }),
  ...define(refused(deposit), ['valid/deposit-check/any-uuid-version'], {
    'reference-id-up-to-version-5: Only reference_ids of versions 1 to 5 are accepted': /^.{14}[678]/,
    'reference-id-of-version-4-only: Only reference_ids of version 4 are accepted': /^.{14}[^4]/,
    'reference-id-not-of-version-8: reference_ids of version 8 are refused': /^.{14}8/,
  }),
};
