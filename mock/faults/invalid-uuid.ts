import { endpoints, type Endpoint } from '../../schemas/endpoints.ts';
import { accept, answerWith, crash, editResponse, type Change } from './change.ts';
import type { Exchange } from '../exchange.ts';
import {
  both,
  deposit,
  failing,
  failingBy,
  noServerErrors,
  onEachEndpoint,
  rowsOf,
  user,
  type Faults,
} from './table.ts';

const malformed = rowsOf('invalid-uuid', both, 'malformed');
const alternative = rowsOf('invalid-uuid', both, 'alternative-spelling');
const alternativeUser = rowsOf('invalid-uuid', user, 'alternative-spelling');
const hostile = rowsOf('invalid-uuid', both, 'hostile');
const notV4 = ['invalid-uuid/user-status/not-v4'];

/** An id that nobody has. */
const NOBODY = '5eed0000-0000-4000-8000-00000000dead';

/** Looks a parameter up although it is missing (undefined) or empty. */
const lookedUp =
  (endpoint: Endpoint, absent: string | undefined): Change =>
  (behaviour) => ({
    ...behaviour,
    value: (parameters, name) => {
      const value = behaviour.value(parameters, name);
      return name === endpoints[endpoint].parameter && value === absent ? NOBODY : value;
    },
  });

const isMissing = ({ call }: Exchange) => call?.value === undefined;

const absentFaults: Faults = {
  ...onEachEndpoint((endpoint) => {
    const { parameter } = endpoints[endpoint];
    const name = parameter.replace('_', '-');
    const thing = endpoint === 'user-status' ? 'user' : 'deposit';
    const rows = (...names: readonly string[]) => rowsOf('invalid-uuid', [endpoint], ...names);
    return {
      // user-status then answers 200, also for a user_id that is spelled as an array.
      ...failing(endpoint === 'user-status' ? rows('missing', 'hostile') : rows('missing'), {
        [`missing-${name}-unknown`]: [
          `A missing ${parameter} is answered as an unknown ${thing}.`,
          lookedUp(endpoint, undefined),
        ],
      }),
      ...failing(rows('empty'), {
        [`empty-${name}-unknown`]: [
          `An empty ${parameter} is answered as an unknown ${thing}.`,
          lookedUp(endpoint, ''),
        ],
      }),
      ...failing(rows('missing'), {
        [`missing-${name}-has-own-message`]: [
          `A missing ${parameter} has a message of its own.`,
          answerWith({ endpoint, status: 400, where: isMissing }, 400, { error: `Missing ${parameter}` }),
        ],
      }),
    };
  }),
  ...failing(rowsOf('invalid-uuid', both, 'empty'), {
    'empty-is-422': [
      'An empty parameter is answered with 422.',
      answerWith({ status: 400, where: ({ call }) => call?.value === '' }, 422),
    ],
  }),
};

const versions: Readonly<Record<Endpoint, string>> = { 'user-status': '4', 'deposit-check': '[1-8]' };

/** Source of a pattern for the ids of an endpoint, whose hexadecimal digits may be a wider class. */
function uuid(endpoint: Endpoint, hex = '[0-9a-f]', first = hex, last = hex): string {
  return `${first}{8}-${hex}{4}-${versions[endpoint]}${hex}{3}-[89ab]${hex}{3}-${last}{12}`;
}

/** Accepts what matches a pattern. */
const matching = (which: readonly Endpoint[], source: (endpoint: Endpoint) => string, flags = 'i') =>
  accept(which, (value, endpoint) => new RegExp(source(endpoint), flags).test(value));

const digits = (hex: string) => matching(both, (endpoint) => `^${uuid(endpoint, hex)}$`);

const patternFaults: Faults = {
  ...failing(malformed, {
    'dollar-before-newline': [
      'The end of the pattern also matches before a final newline.',
      matching(both, (endpoint) => `^${uuid(endpoint)}\\n?$`),
    ],
    'any-letter-accepted': ['Any letter is accepted for a hexadecimal digit.', digits('[0-9a-z]')],
    'word-characters-accepted': [
      'Any letter, digit or underscore is accepted for a hexadecimal digit.',
      digits('\\w'),
    ],
    'class-from-digits-to-f': [
      'The class of digits reads `[0-9A-f]`, which holds all capital letters and some punctuation.',
      matching(both, (endpoint) => `^${uuid(endpoint, '[0-9A-f]')}$`, ''),
    ],
    'unicode-digits-accepted': [
      'Decimal digits of any script are accepted.',
      matching(both, (endpoint) => `^${uuid(endpoint, '[\\p{Nd}a-f]')}$`, 'iu'),
    ],
  }),
  ...failing([...malformed, ...alternative], {
    'multi-line-mode': [
      'The pattern is satisfied by one line of several.',
      matching(both, (endpoint) => `^${uuid(endpoint)}$`, 'im'),
    ],
    'not-anchored-at-start': [
      'Text before the id is accepted.',
      matching(both, (endpoint) => `${uuid(endpoint)}$`),
    ],
    'whole-numbers-accepted': [
      'A whole number is accepted for an id.',
      accept(both, (value) => /^\d+$/.test(value)),
    ],
  }),
  ...failing([...malformed, ...alternative, ...rowsOf('invalid-uuid', user, 'hostile')], {
    'not-anchored-at-end': [
      'Text after the id is accepted.',
      matching(both, (endpoint) => `^${uuid(endpoint)}`),
    ],
  }),
  ...failing([...malformed, ...alternativeUser, ...notV4], {
    'length-only': ['Anything of 36 characters is accepted.', accept(both, (value) => value.length === 36)],
    'hyphens-only': [
      'Anything with hyphens in the places of a UUID is accepted.',
      accept(both, (value) => /^.{8}-.{4}-.{4}-.{4}-.{12}$/s.test(value)),
    ],
  }),
  ...failing(rowsOf('invalid-uuid', user, 'malformed'), {
    'g-in-first-group-of-user-id': [
      'The letter g is accepted in the first group of user_id.',
      matching(user, (endpoint) => `^${uuid(endpoint, '[0-9a-f]', '[0-9a-g]')}$`),
    ],
  }),
  ...failing(rowsOf('invalid-uuid', deposit, 'malformed'), {
    'g-in-last-group-of-reference-id': [
      'The letter g is accepted in the last group of reference_id.',
      matching(deposit, (endpoint) => `^${uuid(endpoint, '[0-9a-f]', '[0-9a-f]', '[0-9a-g]')}$`),
    ],
    'last-group-too-short': [
      'The last group of reference_id may have only eleven digits.',
      matching(deposit, (endpoint) => `^${uuid(endpoint).replace('{12}', '{11}')}$`),
    ],
  }),
  ...failing(rowsOf('invalid-uuid', user, 'malformed', 'hostile'), {
    'last-group-too-long': [
      'The last group of user_id may have more than twelve digits.',
      matching(user, (endpoint) => `^${uuid(endpoint)}[0-9a-f]*$`),
    ],
  }),
  ...failing(alternativeUser, {
    'any-variant-accepted': [
      'Wrong variant bits are accepted.',
      matching(both, (endpoint) => `^${uuid(endpoint)}$`.replace('[89ab]', '[0-9a-f]')),
    ],
  }),
  ...failing(notV4, {
    'any-version-of-user-id': [
      'A user_id of any version is accepted.',
      matching(user, () => `^${uuid('deposit-check')}$`),
    ],
    'version-7-of-user-id': [
      'A user_id of version 7 is accepted.',
      matching(user, (endpoint) => `^${uuid(endpoint)}$`.replace('-4', '-7')),
    ],
  }),
};

/** Accepts what is well formed after `clean`, as that id. */
const cleanedOn =
  (which: readonly Endpoint[]) =>
  (clean: (value: string) => string): Change =>
  (behaviour) =>
    accept(
      which,
      (value, endpoint) => behaviour.isId(endpoint, clean(value)),
      (value) => clean(value).toLowerCase(),
    )(behaviour);

const cleaned = cleanedOn(both);
const hyphenated = (hex: string) => hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');

/** Libraries that read more than the standard spelling. */
const readerFaults: Faults = {
  ...failing([...malformed, ...alternativeUser, ...notV4], {
    'java-uuid-from-string': [
      'Groups may be short, as for Java: 1-1-1-1-1.',
      accept(
        both,
        (value) => /^[0-9a-f]{1,8}(-[0-9a-f]{1,4}){3}-[0-9a-f]{1,12}$/i.test(value),
        (value) =>
          value
            .toLowerCase()
            .split('-')
            .map((group, index) => group.padStart([8, 4, 4, 4, 12][index] ?? 0, '0'))
            .join('-'),
      ),
    ],
  }),
  ...failingBy([...malformed, ...alternative], cleaned, {
    'python-uuid': [
      'Braces, urn:uuid:, hyphens anywhere, underscores and digits of any script are read as Python does.',
      (value) =>
        hyphenated(
          value
            .replaceAll(/urn:|uuid:|^[{}]+|[{}]+$|-/g, '')
            .normalize('NFKC')
            .replaceAll('_', '0'),
        ),
    ],
    'hyphens-anywhere': ['Hyphens may stand anywhere.', (value) => hyphenated(value.replaceAll('-', ''))],
    'controls-stripped': [
      'Control characters in the value are ignored.',
      (value) => value.replaceAll(/\p{Cc}/gu, ''),
    ],
    'white-space-trimmed': [
      'White space around the value is trimmed, newlines as well.',
      (value) => value.trim(),
    ],
  }),
  ...failingBy(malformed, cleaned, {
    'compatibility-digits': [
      'Full-width digits and letters are read as their ASCII forms.',
      (value) => value.normalize('NFKC'),
    ],
    'nul-ends-text': ['A NUL ends the value, as in C.', (value) => value.replace(/\0.*$/s, '')],
  }),
  ...failingBy(alternative, cleaned, {
    'spaces-trimmed': ['Spaces around the value are trimmed.', (value) => value.replaceAll(/^ +| +$/g, '')],
    'braces-accepted': ['An id in braces is accepted.', (value) => value.replace(/^\{(.*)\}$/s, '$1')],
    'urn-accepted': ['An id after urn:uuid: is accepted.', (value) => value.replace(/^urn:uuid:/i, '')],
  }),
  ...failing(alternativeUser, {
    'bare-hex-user-id': ['A user_id without hyphens is accepted.', cleanedOn(user)(hyphenated)],
  }),
  ...failing(rowsOf('invalid-uuid', deposit, 'alternative-spelling'), {
    'bare-hex-reference-id': ['A reference_id without hyphens is accepted.', cleanedOn(deposit)(hyphenated)],
  }),
};

const crashesOn = (text: string) => crash({ where: ({ call }) => call?.value?.includes(text) ?? false });
const queryOf = ({ request }: Exchange) => request.target.split('?')[1] ?? '';
const hasArray = ({ call }: Exchange) => call?.parameters.some(([name]) => name.includes('[')) ?? false;
const isLong = (exchange: Exchange) => queryOf(exchange).length > 4000;
const isBroken = (exchange: Exchange) => {
  try {
    decodeURIComponent(queryOf(exchange));
    return false;
  } catch {
    return true;
  }
};

/** Values that break the server. */
const hostileFaults: Faults = {
  ...failing([...malformed, noServerErrors], {
    'quote-crashes': ['A quotation mark in the value breaks the statement and crashes.', crashesOn("'")],
  }),
  ...failing([...malformed, ...hostile, noServerErrors], {
    'value-of-600-characters-crashes': [
      'A value of 600 characters or more crashes.',
      crash({ where: ({ call }) => (call?.value?.length ?? 0) >= 600 }),
    ],
    'nul-crashes': ['A NUL in the value crashes.', crashesOn('\0')],
  }),
  ...failing([...hostile, noServerErrors], {
    'array-crashes': ['An array parameter crashes.', crash({ where: hasArray })],
    'broken-encoding-crashes': ['Broken percent-encoding crashes.', crash({ where: isBroken })],
    'long-value-crashes': ['A value of several thousand characters crashes.', crash({ where: isLong })],
  }),
  ...failing(rowsOf('invalid-uuid', user, 'hostile'), {
    'array-read-as-unknown-user': [
      'user_id[] is answered 200 without being read.',
      answerWith({ endpoint: 'user-status', status: 400, where: hasArray }, 200, {
        is_under_ib: false,
        date_joined: null,
      }),
    ],
    'long-user-id-drops-connection': [
      'A user_id of several thousand characters ends the connection without an answer.',
      editResponse({ endpoint: 'user-status', where: isLong }, () => ({ transportFault: 'reset' })),
    ],
  }),
  ...failing(rowsOf('invalid-uuid', deposit, 'hostile'), {
    'broken-reference-id-drops-connection': [
      'Broken percent-encoding in reference_id ends the connection without an answer.',
      editResponse({ endpoint: 'deposit-check', where: isBroken }, () => ({ transportFault: 'reset' })),
    ],
  }),
};

/** Ids that are wrongly accepted, refused or crash (invalid-uuid). */
export const invalidUuidFaults: Faults = {
  ...absentFaults,
  ...patternFaults,
  ...readerFaults,
  ...hostileFaults,
};
