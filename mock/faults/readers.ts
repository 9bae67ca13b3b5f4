import type { Endpoint } from '../../schemas/endpoints.ts';
import { accept, type Change } from '../change.ts';
import { both, deposit, rowsOf, user, type Faults } from './rows.ts';

/** Accepts what is well formed once it has been cleaned up, as that id. */
function cleaned(which: readonly Endpoint[], clean: (value: string) => string): Change {
  return (behaviour) =>
    accept(
      which,
      (value, endpoint) => behaviour.isId(endpoint, clean(value)),
      (value) => clean(value).toLowerCase(),
    )(behaviour);
}

const hyphenated = (hex: string) => hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');

const malformed = rowsOf('invalid-uuid', both, 'malformed');
const alternative = rowsOf('invalid-uuid', both, 'alternative-spelling');
const notV4 = rowsOf('invalid-uuid', user, 'not-v4');

/** Libraries that read more than the standard spelling (invalid-uuid). */
export const readerFaults: Faults = {
  'java-uuid-from-string': {
    what: 'Groups may be short, as for Java: 1-1-1-1-1.',
    fails: [...malformed, ...alternative, ...notV4],
    change: accept(
      both,
      (value) => /^[0-9a-f]{1,8}(-[0-9a-f]{1,4}){3}-[0-9a-f]{1,12}$/i.test(value),
      (value) =>
        value
          .toLowerCase()
          .split('-')
          .map((group, index) => group.padStart([8, 4, 4, 4, 12][index] ?? 0, '0'))
          .join('-'),
    ),
  },
  'python-uuid': {
    what: 'Braces, urn:uuid:, hyphens anywhere, underscores and digits of any script are read as Python does.',
    fails: [...malformed, ...alternative],
    change: cleaned(both, (value) =>
      hyphenated(
        value
          .replaceAll(/urn:|uuid:|^[{}]+|[{}]+$|-/g, '')
          .normalize('NFKC')
          .replaceAll('_', '0'),
      ),
    ),
  },
  'hyphens-anywhere': {
    what: 'Hyphens may stand anywhere.',
    fails: [...malformed, ...alternative],
    change: cleaned(both, (value) => hyphenated(value.replaceAll('-', ''))),
  },
  'compatibility-digits': {
    what: 'Full-width digits and letters are read as their ASCII forms.',
    fails: malformed,
    change: cleaned(both, (value) => value.normalize('NFKC')),
  },
  'nul-ends-text': {
    what: 'A NUL ends the value, as in C.',
    fails: malformed,
    change: cleaned(both, (value) => value.replace(/\0.*$/s, '')),
  },
  'controls-stripped': {
    what: 'Control characters in the value are ignored.',
    fails: [...malformed, ...alternative],
    change: cleaned(both, (value) => value.replaceAll(/\p{Cc}/gu, '')),
  },
  'white-space-trimmed': {
    what: 'White space around the value is trimmed, newlines as well.',
    fails: [...malformed, ...alternative],
    change: cleaned(both, (value) => value.trim()),
  },
  'spaces-trimmed': {
    what: 'Spaces around the value are trimmed.',
    fails: alternative,
    change: cleaned(both, (value) => value.replaceAll(/^ +| +$/g, '')),
  },
  'braces-accepted': {
    what: 'An id in braces is accepted.',
    fails: alternative,
    change: cleaned(both, (value) => value.replace(/^\{(.*)\}$/s, '$1')),
  },
  'urn-accepted': {
    what: 'An id after urn:uuid: is accepted.',
    fails: alternative,
    change: cleaned(both, (value) => value.replace(/^urn:uuid:/i, '')),
  },
  'bare-hex-user-id': {
    what: 'A user_id without hyphens is accepted.',
    fails: rowsOf('invalid-uuid', user, 'alternative-spelling'),
    change: cleaned(user, hyphenated),
  },
  'bare-hex-reference-id': {
    what: 'A reference_id without hyphens is accepted.',
    fails: rowsOf('invalid-uuid', deposit, 'alternative-spelling'),
    change: cleaned(deposit, hyphenated),
  },
};
