import * as fc from 'fast-check';
import type { Known, KnownKey } from '../known.ts';
import type { Changes } from '../request.ts';

/** What stands in the place of a key. */
export interface Token {
  readonly value: string;
  /** The same inside double quotes of a shell, with $IB_API_KEY for the key. */
  readonly shell: string;
  /** The key that it is, or is made of. */
  readonly key?: KnownKey;
}

/** How a request presents a token. */
export interface Presentation {
  readonly changes: Changes;
  /** To be put behind the query. */
  readonly query?: string;
}

/** Text as it stands between double quotes of a shell. */
const inShell = (text: string) => text.replace(/[\\"$`]/g, String.raw`\$&`);

const literal = (value: string): Token => ({ value, shell: inShell(value) });

/** The token that is a key. */
export const tokenOf = (key: KnownKey): Token => ({ value: key.key, shell: '$IB_API_KEY', key });

/** Whether a token is the key itself. */
export const isIssued = ({ value, key }: Token): boolean => value === key?.key;

type Form = (token: Token) => Presentation;

const inHeader = (value: string, shell: string, key?: KnownKey): Presentation => ({
  changes: { credential: { as: 'header', value, shell, ...(key === undefined ? {} : { key }) } },
});

/** The token between two texts. */
const between =
  (before: string, behind = ''): Form =>
  ({ value, shell, key }) =>
    inHeader(before + value + behind, inShell(before) + shell + inShell(behind), key);

/** The scheme Bearer in some letter case. */
const bearer =
  (scheme: string): Form =>
  (token) =>
    token.key !== undefined && isIssued(token)
      ? { changes: { credential: { as: 'key', key: token.key, ...(scheme === 'Bearer' ? {} : { scheme }) } } }
      : between(`${scheme} `)(token);

const basic =
  (format: string): Form =>
  ({ value, shell, key }) =>
    inHeader(
      `Basic ${Buffer.from(format.replace('%s', () => value)).toString('base64')}`,
      `Basic $(printf ${format} "${shell}" | base64 -w0)`,
      key,
    );

/** The key cut in the middle; a key of one character is followed by another one. */
const inTwoParts: Form = ({ value, shell, key }) => {
  const half = Math.ceil(value.length / 2);
  return value.length < 2
    ? inHeader(`Bearer ${value} x`, `Bearer ${shell} x`, key)
    : inHeader(
        `Bearer ${value.slice(0, half)} ${value.slice(half)}`,
        `Bearer \${IB_API_KEY:0:${half}} \${IB_API_KEY:${half}}`,
        key,
      );
};

const otherSchemes =
  'Basic Token ApiKey Key Digest JWT OAuth Negotiate xBearer Bearerx Bear Bearer: Bearer= Bearer,'.split(' ');
const parameterNames =
  'api_key apikey apiKey key token access_token authorization Authorization auth bearer'.split(' ');
const cookieNames = 'api_key apiKey token access_token session Authorization key'.split(' ');
const fieldNames =
  'x-api-key api-key apikey x-auth-token x-access-token x-authorization x-key token x-token'.split(' ');
const schemeFieldNames =
  'x-authorization proxy-authorization x-forwarded-authorization x-original-authorization'.split(' ');

/** A token that stands elsewhere than in the Authorization header. */
const misplaced =
  (change: (value: string) => Changes, queryOf?: (value: string) => string): Form =>
  ({ value, key }) => ({
    changes: { credential: { as: 'none' }, ...(key && { misplaced: key }), ...change(value) },
    ...(queryOf && { query: queryOf(value) }),
  });

const inQuery = (name: string, scheme = ''): Form =>
  misplaced(
    () => ({}),
    (value) => `${name}=${encodeURIComponent(scheme + value)}`,
  );

const inCookie = (name: string): Form =>
  misplaced((value) => {
    const text = /^[\w.~+/=-]+$/.test(value) ? value : encodeURIComponent(value);
    return { headers: { cookie: `${name}=${text}` } };
  });

const inField = (name: string, scheme = ''): Form =>
  misplaced((value) => ({ headers: { [name]: scheme + value } }));

const inBody = (type: string, bodyOf: (value: string) => string): Form =>
  misplaced((value) => ({ headers: { 'content-type': type }, body: bodyOf(value) }));

/** Ways to present a token, by what is odd about them. The first is the interface's own. */
export const forms = {
  Bearer: [bearer('Bearer')],
  bearer: [bearer('bearer')],
  BEARER: [bearer('BEARER')],
  'extra spaces': [between('Bearer  ')],
  'no scheme': [between('')],
  'another scheme': [
    basic('%s:'),
    basic(':%s'),
    ...otherSchemes.map((scheme) => between(`${scheme} `)),
    between('Bearer'),
    between('Bearer-'),
  ],
  'two parts': [
    inTwoParts,
    between('Bearer Bearer '),
    between('Bearer ', ' x'),
    between('Bearer x '),
    between('', ' Bearer'),
  ],
  'no token': [() => inHeader('Bearer', 'Bearer')],
  'in the query': [...parameterNames.map((name) => inQuery(name)), inQuery('authorization', 'Bearer ')],
  'in a cookie': cookieNames.map(inCookie),
  'in another header': [
    ...fieldNames.map((name) => inField(name)),
    ...schemeFieldNames.map((name) => inField(name, 'Bearer ')),
  ],
  'in the body': [
    inBody('application/json', (value) =>
      JSON.stringify({ api_key: value, key: value, token: value, authorization: `Bearer ${value}` }),
    ),
    inBody('application/x-www-form-urlencoded', (value) => {
      const text = encodeURIComponent(value);
      return `api_key=${text}&access_token=${text}`;
    }),
  ],
} as const satisfies Record<string, readonly Form[]>;

export type FormName = keyof typeof forms;

/** Forms that need the key itself: a part of it, or a place where only whole keys are redacted. */
export const needsIssued: ReadonlySet<FormName> = new Set([
  'two parts',
  'in the query',
  'in a cookie',
  'in another header',
  'in the body',
]);

/** Keys that a careless look-up finds: names of properties, wild cards, values that mean nothing. */
const suspectKeys =
  "* % _ .* null undefined true 0 -1 {} [] __proto__ constructor toString hasOwnProperty 'OR'1'='1 test admin Bearer".split(
    ' ',
  );

const isKey = (known: Known, text: string) => known.everyKey.some(({ key }) => key === text);

/** Keys that nobody was given, always the same ones. */
export const suspects = (known: Known): readonly Token[] =>
  suspectKeys.filter((text) => !isKey(known, text)).map(literal);

/** A random key that nobody was given. */
export const unknownToken = (known: Known): fc.Arbitrary<Token> =>
  fc
    .stringMatching(/^[A-Za-z0-9_~+/.-]{1,40}$/)
    .filter((text) => !isKey(known, text))
    .map(literal);

/** A part of a key, a text, a part: what the header holds instead of the key. */
type Piece = string | readonly [from: number, to: number];

/** A near miss of a key; its curl line needs the key but does not show it. */
function nearMissOf(known: Known, key: KnownKey, pieces: readonly Piece[]): Token | undefined {
  const value = pieces.map((piece) => (typeof piece === 'string' ? piece : key.key.slice(...piece))).join('');
  const shell = pieces
    .map((piece) =>
      typeof piece === 'string' ? inShell(piece) : `\${IB_API_KEY:${piece[0]}:${piece[1] - piece[0]}}`,
    )
    .join('');
  return value === '' || isKey(known, value) ? undefined : { value, shell, key };
}

/** The keys whose near misses must not be let in. */
const activeKeys = ({ callerKeys, otherKeys }: Known) => [...callerKeys, ...otherKeys].slice(0, 4);

/** Near misses: of the first active key one of each kind, of the others one. */
export function nearMisses(known: Known): readonly Token[] {
  const [first, ...others] = activeKeys(known);
  if (first === undefined) return [];
  const ofOthers = others.map((key) => nearMissOf(known, key, [[0, key.key.length], 'x']));
  return [...nearMissesOf(known, first), ...ofOthers].filter((token) => token !== undefined);
}

function nearMissesOf(known: Known, key: KnownKey): readonly (Token | undefined)[] {
  const { length } = key.key;
  const changed = (at: number) => [[0, at], otherCharacter(key.key, at), [at + 1, length]] as const;
  const whole = [0, length] as const;
  const pieces: readonly (readonly Piece[])[] = [
    [[0, length - 1]],
    [[1, length]],
    [[0, Math.ceil(length / 2)]],
    [[Math.floor(length / 2), length]],
    [[0, 1]],
    [whole, 'x'],
    ['x', whole],
    [whole, whole],
    ['"', whole, '"'],
    ['<', whole, '>'],
    ['token=', whole],
    [whole, ',x'],
    changed(0),
    changed(Math.floor(length / 2)),
    changed(length - 1),
  ];
  return [
    ...pieces.map((list) => nearMissOf(known, key, list)),
    otherLetterCase(known, key, key.key.toUpperCase(), '${IB_API_KEY^^}'),
    otherLetterCase(known, key, key.key.toLowerCase(), '${IB_API_KEY,,}'),
  ];
}

const otherLetterCase = (known: Known, key: KnownKey, value: string, shell: string): Token | undefined =>
  isKey(known, value) ? undefined : { value, shell, key };

/** A letter in place of the character: keys that count up have digits at the end. */
const otherCharacter = (text: string, at: number) => (text[at] === 'x' ? 'y' : 'x');

/** A real key with one character changed, left out or put in. */
export function nearMiss(known: Known): fc.Arbitrary<Token> {
  return fc
    .tuple(fc.constantFrom(...activeKeys(known)), fc.nat(), fc.constantFrom('change', 'drop', 'insert'))
    .map(([key, place, how]) => {
      const { length } = key.key;
      const at = place % length;
      const left = how === 'insert' ? at : at + 1;
      const instead = how === 'drop' ? [] : [how === 'insert' ? 'x' : otherCharacter(key.key, at)];
      return nearMissOf(known, key, [[0, at], ...instead, [left, length]]) ?? literal('no-such-key');
    });
}
