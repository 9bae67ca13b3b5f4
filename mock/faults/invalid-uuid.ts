import { endpoints, type Endpoint } from '../../schemas/endpoints.ts';
import { accept, answerWith, crash, dropConnection, onlyIf, type Difference } from './edits.ts';
import { decodeText } from '../behaviour.ts';
import type { Exchange } from '../exchange.ts';
import {
  answers,
  define,
  both,
  deposit,
  failing,
  noServerErrors,
  perEndpoint,
  idsIn,
  queryOf,
  user,
} from './define.ts';
import type { Faults } from './define.ts';

const malformed = idsIn('invalid-uuid', both, 'malformed');
const alternative = idsIn('invalid-uuid', both, 'alternative-spelling');
const alternativeUser = idsIn('invalid-uuid', user, 'alternative-spelling');
const hostile = idsIn('invalid-uuid', both, 'hostile');
const notV4 = ['invalid-uuid/user-status/not-v4'];

const NOBODY = '5eed0000-0000-4000-8000-00000000dead';

/** Looks up a missing (undefined) or empty parameter as an unknown id. */
const replaceAbsentValue =
  (endpoint: Endpoint, absent: string | undefined): Difference =>
  (from) => ({
    value: (parameters, name) => {
      const value = from.value(parameters, name);
      return name === endpoints[endpoint].parameter && value === absent ? NOBODY : value;
    },
  });

const missingValueFaults: Faults = {
  ...perEndpoint((endpoint) => {
    const { parameter } = endpoints[endpoint];
    const id = parameter.replace('_', '-');
    const unknown = `unknown: is treated as an unknown ${endpoint === 'user-status' ? 'user' : 'deposit'}`;
    const rows = (...names: readonly string[]) => idsIn('invalid-uuid', [endpoint], ...names);
    const change = (value: string | undefined) => replaceAbsentValue(endpoint, value);
    const missing = { id: `missing-${id}`, what: `A missing ${parameter}` };
    const empty = { id: `empty-${id}`, what: `An empty ${parameter}`, change };
    // user-status then answers 200 even to `user_id[]`.
    const missingRows = endpoint === 'user-status' ? rows('missing', 'hostile') : rows('missing');
    const own = answerWith(400, { error: `Missing ${parameter}` });
    const isMissing = ({ call }: Exchange) => call?.value === undefined;
    return {
      ...define({ ...missing, change }, missingRows, { [unknown]: undefined }),
      ...define(empty, rows('empty'), { [unknown]: '' }),
      ...define(answers(missing.id, missing.what, { endpoint, status: 400 }), rows('missing'), {
        'has-own-message: gets another message': onlyIf(isMissing, own),
      }),
    };
  }),
  ...failing(idsIn('invalid-uuid', both, 'empty'), {
    'empty-is-422: An empty parameter gets 422': answerWith(422)({
      status: 400,
      where: ({ call }) => call?.value === '',
    }),
  }),
};

const versions: Readonly<Record<Endpoint, string>> = { 'user-status': '4', 'deposit-check': '[1-8]' };
const HEX = '[0-9a-f]';
type EditPattern = (source: string) => string;

const patterns = (which: readonly Endpoint[], flags = 'i') => ({
  change: (edit: EditPattern) =>
    accept(which, (value, endpoint) => {
      const source = `^${HEX}{8}-${HEX}{4}-${versions[endpoint]}${HEX}{3}-[89ab]${HEX}{3}-${HEX}{12}$`;
      return new RegExp(edit(source), flags).test(value);
    }),
});
const accepting = { change: (pattern: RegExp) => accept(both, (value) => pattern.test(value)) };
const ofBoth = patterns(both);
const digits =
  (wider: string): EditPattern =>
  (source) =>
    source.replaceAll(HEX, () => wider);
const part =
  (from: string, to: string): EditPattern =>
  (source) =>
    source.replace(from, () => to);

const patternFaults: Faults = {
  ...define(ofBoth, malformed, {
    'dollar-before-newline: The pattern allows a newline at its end': part('$', '\\n?$'),
    'any-letter-accepted: Any letter is accepted as a hexadecimal digit': digits('[0-9a-z]'),
    'dot-for-hyphen: The pattern has a dot in place of the first hyphen': part('{8}-', '{8}.'),
    'word-characters-accepted: Any word character is accepted as a hexadecimal digit': digits('\\w'),
  }),
  ...define(patterns(both, ''), malformed, {
    'class-from-digits-to-f: The pattern has `[0-9A-f]`, which includes all capital letters':
      digits('[0-9A-f]'),
  }),
  ...define(patterns(both, 'iu'), malformed, {
    'unicode-digits-accepted: Decimal digits of any script are accepted': digits('[\\p{Nd}a-f]'),
  }),
  ...define(patterns(both, 'im'), [...malformed, ...alternative], {
    'multi-line-mode: The pattern accepts a value if one of its lines matches': (source) => source,
  }),
  ...define(ofBoth, [...malformed, ...alternative], {
    'not-anchored-at-start: Text before the id is accepted': part('^', ''),
  }),
  ...define(ofBoth, [...malformed, ...alternative, ...idsIn('invalid-uuid', user, 'hostile')], {
    'not-anchored-at-end: Text after the id is accepted': part('$', ''),
  }),
  ...define(accepting, malformed, {
    'blank-accepted: A value of spaces is accepted as an id': /^ +$/,
    'base-58-accepted: 22 digits of base 58 are accepted, as in Symfony': /^[1-9A-HJ-NP-Za-km-z]{22}$/,
    'base-32-accepted: 26 digits of base 32 are accepted, as in Symfony': /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/i,
    'dot-net-format-x-accepted: The format X of .NET is accepted':
      /^\{0x[\da-f]{8},0x[\da-f]{4},0x[\da-f]{4},\{/i,
  }),
  ...define(accepting, [...malformed, ...alternative], {
    'whole-numbers-accepted: A whole number is accepted as an id': /^\d+$/,
  }),
  ...define(accepting, [...malformed, ...alternativeUser, ...notV4], {
    'length-only: Anything of 36 characters is accepted': /^.{36}$/s,
    'hyphens-only: Anything with the hyphens of a UUID is accepted': /^.{8}-.{4}-.{4}-.{4}-.{12}$/s,
  }),
  ...define(patterns(user), idsIn('invalid-uuid', user, 'malformed'), {
    'g-in-first-group-of-user-id: The first group of user_id may hold a g': part('f]{8}', 'g]{8}'),
  }),
  ...define(patterns(deposit), idsIn('invalid-uuid', deposit, 'malformed'), {
    'g-in-last-group-of-reference-id: The last group of reference_id may hold a g': part('f]{12}', 'g]{12}'),
    'last-group-too-short: The last group of reference_id may lack a digit': part('{12}', '{11}'),
  }),
  ...define(patterns(user), idsIn('invalid-uuid', user, 'malformed', 'hostile'), {
    'last-group-too-long: The last group of user_id may be longer': part('{12}', '{12,}'),
  }),
  ...define(ofBoth, alternativeUser, {
    'any-variant-accepted: Wrong variant bits are accepted': part('[89ab]', HEX),
  }),
  ...define(patterns(user), notV4, {
    'any-version-of-user-id: A user_id of any version is accepted': part('-4', '-[1-8]'),
    'version-7-of-user-id: A user_id of version 7 is accepted': part('-4', '-7'),
  }),
};

/** Accepts values that are valid ids after `clean`. */
const acceptAfterCleaning =
  (which: readonly Endpoint[]) =>
  (clean: (value: string) => string): Difference =>
  (from) =>
    accept(
      which,
      (value, endpoint) => from.isValidId(endpoint, clean(value)),
      (value) => clean(value).toLowerCase(),
    )(from);

const read = { change: acceptAfterCleaning(both) };
const hyphenated = (hex: string) => hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');

/** UUID parsers that accept more than the standard spelling. */
const readerFaults: Faults = {
  ...failing([...malformed, ...alternativeUser, ...notV4], {
    'java-uuid-from-string: Groups may be short, as in Java: 1-1-1-1-1': accept(
      both,
      (value) => /^[0-9a-f]{1,8}(-[0-9a-f]{1,4}){3}-[0-9a-f]{1,12}$/i.test(value),
      (value) =>
        value
          .toLowerCase()
          .split('-')
          .map((group, index) => group.padStart([8, 4, 4, 4, 12][index] ?? 0, '0'))
          .join('-'),
    ),
  }),
  ...define(read, [...malformed, ...alternative], {
    'python-uuid: Braces, urn:uuid:, hyphens anywhere, underscores and digits of any script are read as Python does':
      (value) =>
        hyphenated(
          value
            .replaceAll(/urn:|uuid:|^[{}]+|[{}]+$|-/g, '')
            .normalize('NFKC')
            .replaceAll('_', '0'),
        ),
    'hyphens-anywhere: Hyphens may stand anywhere': (value) => hyphenated(value.replaceAll('-', '')),
    'controls-stripped: Control characters are ignored': (value) => value.replaceAll(/\p{Cc}/gu, ''),
    'white-space-trimmed: Any white space around the value is trimmed': (value) => value.trim(),
  }),
  ...define(read, [...malformed, ...alternative], {
    'spaces-anywhere: Spaces may stand anywhere': (value) => value.replaceAll(' ', ''),
  }),
  ...define(read, malformed, {
    'cut-at-ampersand: An ampersand ends the value, as if it were decoded too early': (value) =>
      value.replace(/&.*$/s, ''),
    'compatibility-digits: Full-width characters are read as ASCII': (value) => value.normalize('NFKC'),
    'zero-width-stripped: Zero-width spaces are ignored': (value) => value.replaceAll('\u200b', ''),
    'nul-ends-text: A NUL ends the value, as in C': (value) => value.replace(/\0.*$/s, ''),
  }),
  ...define(read, alternative, {
    'spaces-trimmed: Spaces around the value are trimmed': (value) => value.replaceAll(/^ +| +$/g, ''),
    'braces-accepted: An id in braces is accepted': (value) => value.replace(/^\{(.*)\}$/s, '$1'),
    'urn-accepted: An id after urn:uuid: is accepted': (value) => value.replace(/^urn:uuid:/i, ''),
  }),
  ...failing(alternativeUser, {
    'bare-hex-user-id: A user_id without hyphens is accepted': acceptAfterCleaning(user)(hyphenated),
  }),
  ...failing(idsIn('invalid-uuid', deposit, 'alternative-spelling'), {
    'bare-hex-reference-id: A reference_id without hyphens is accepted':
      acceptAfterCleaning(deposit)(hyphenated),
  }),
};

const holds = (text: string) => (exchange: Exchange) => exchange.call?.value?.includes(text) ?? false;
const hasArray = ({ call }: Exchange) => call?.parameters.some(([name]) => name.includes('[')) ?? false;
const hasLongValue = ({ call }: Exchange) => (call?.value?.length ?? 0) >= 600;
const isLong = (exchange: Exchange) => queryOf(exchange).length > 4000;
const isBroken = (exchange: Exchange) => {
  const query = queryOf(exchange);
  return query.includes('%') && decodeText(query) === query;
};
const crashing = { change: (where: (exchange: Exchange) => boolean) => crash({ where }) };
const noUser = answerWith(200, { is_under_ib: false, date_joined: null });

const hasUnknownParameter = ({ call }: Exchange) =>
  call?.parameters.some(([name]) => name !== endpoints[call.endpoint].parameter) === true;

const hostileFaults: Faults = {
  // To refuse one is correct, but with the message of a 400.
  ...failing(malformed, {
    'unknown-parameter-has-own-message: An unknown parameter gets 400 with another message': answerWith(400, {
      error: 'Unknown parameter',
    })({ kinds: ['member', 'executed', 'notYet', 'foreign', 'unknown'], where: hasUnknownParameter }),
  }),
  ...define(crashing, [...malformed, noServerErrors], {
    'quote-crashes: A quotation mark in the value breaks the SQL statement and crashes': holds("'"),
  }),
  ...define(crashing, [...malformed, ...hostile, noServerErrors], {
    'value-of-600-characters-crashes: A value of 600 characters or more crashes': hasLongValue,
    'nul-crashes: A NUL in the value crashes': holds('\0'),
  }),
  ...define(crashing, [...hostile, noServerErrors], {
    'array-crashes: An array parameter crashes': hasArray,
    'broken-encoding-crashes: Broken percent-encoding crashes': isBroken,
    'long-value-crashes: A value of several thousand characters crashes': isLong,
  }),
  ...failing(idsIn('invalid-uuid', user, 'hostile'), {
    'array-read-as-unknown-user: user_id[] gets 200 without being read': noUser({
      endpoint: 'user-status',
      status: 400,
      where: hasArray,
    }),
    'long-user-id-drops-connection: A user_id of several thousand characters ends the connection without an answer':
      dropConnection({ endpoint: 'user-status', where: isLong }),
  }),
  ...failing(idsIn('invalid-uuid', deposit, 'hostile'), {
    'broken-reference-id-drops-connection: Broken percent-encoding in reference_id ends the connection without an answer':
      dropConnection({ endpoint: 'deposit-check', where: isBroken }),
  }),
};

/** Ids that the server wrongly accepts or refuses, or that crash it (invalid-uuid). */
export const invalidUuidFaults: Faults = {
  ...missingValueFaults,
  ...patternFaults,
  ...readerFaults,
  ...hostileFaults,
};
