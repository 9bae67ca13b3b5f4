import * as fc from 'fast-check';
import { defined } from '../../schemas/values.ts';
import type { Known, KnownKey } from '../known.ts';
import type { Changes } from '../request.ts';

/** A text, and its form in double quotes of a shell, with $IB_API_KEY for the key. */
interface Piece {
  readonly value: string;
  readonly shell: string;
}

/** A text sent in place of a key. */
export interface Token extends Piece {
  /** The key that it equals or is derived from. */
  readonly key?: KnownKey;
}

/** How a request presents a token. */
export interface Presentation {
  readonly changes: Changes;
  /** Appended to the query. */
  readonly query?: string;
}

const literal = (value: string): Piece => ({ value, shell: value.replace(/[\\"$`]/g, String.raw`\$&`) });

const part = ({ key }: KnownKey, from: number, to = key.length): Piece => ({
  value: key.slice(from, to),
  shell: `\${IB_API_KEY:${from}:${to - from}}`,
});

function join(...parts: readonly (string | Piece)[]): Piece {
  const pieces = parts.map((one) => (typeof one === 'string' ? literal(one) : one));
  return {
    value: pieces.map(({ value }) => value).join(''),
    shell: pieces.map(({ shell }) => shell).join(''),
  };
}

export const tokenOf = (key: KnownKey): Token => ({ value: key.key, shell: '$IB_API_KEY', key });

/** Whether a token is the key itself. */
export const isIssued = ({ value, key }: Token): boolean => value === key?.key;

/** A way to present a token. */
export type Form = (token: Token) => Presentation;

const inHeader = (piece: Piece, { key }: Token): Presentation => ({
  changes: { credential: { as: 'header', ...piece, ...(key && { key }) } },
});

const between =
  (before: string, behind = ''): Form =>
  (token) =>
    inHeader(join(before, token, behind), token);

const bearer =
  (scheme: string): Form =>
  (token) =>
    token.key !== undefined && isIssued(token)
      ? { changes: { credential: { as: 'key', key: token.key, ...(scheme === 'Bearer' ? {} : { scheme }) } } }
      : between(`${scheme} `)(token);

const basic =
  (format: string): Form =>
  (token) => {
    const value = Buffer.from(format.replace('%s', () => token.value)).toString('base64');
    const shell = `Basic $(printf ${format} "${token.shell}" | base64 -w0)`;
    return inHeader({ value: `Basic ${value}`, shell }, token);
  };

/** The key split in two. A key of one character gets a second token. */
const inTwoParts: Form = (token) => {
  const { key, value } = token;
  const half = Math.ceil(value.length / 2);
  return key === undefined || value.length < 2
    ? between('Bearer ', ' x')(token)
    : inHeader(join('Bearer ', part(key, 0, half), ' ', part(key, half)), token);
};

/** A token outside the Authorization header. */
const misplaced =
  (place: (value: string) => Changes & Pick<Presentation, 'query'>): Form =>
  ({ value, key }) => {
    const { query, ...changes } = place(value);
    const credential = { as: 'none' } as const;
    return defined({ changes: defined({ credential, misplaced: key, ...changes }), query });
  };

const inQuery = (name: string, scheme = '') =>
  misplaced((value) => ({ query: `${name}=${encodeURIComponent(scheme + value)}` }));

const inCookie = (name: string) =>
  misplaced((value) => {
    const text = /^[\w.~+/=-]+$/.test(value) ? value : encodeURIComponent(value);
    return { headers: { cookie: `${name}=${text}` } };
  });

const inField = (name: string, scheme = '') =>
  misplaced((value) => ({ headers: { [name]: scheme + value } }));

const inBody = (type: string, bodyOf: (value: string) => string) =>
  misplaced((value) => ({ headers: { 'content-type': type }, body: bodyOf(value) }));

/** Ways to present a token, by name of the deviation. The first is the correct one. */
export const forms = {
  Bearer: [bearer('Bearer')],
  bearer: [bearer('bearer')],
  BEARER: [bearer('BEARER')],
  'extra spaces': [between('Bearer  ')],
  'no scheme': [between('')],
  'another scheme': [
    basic('%s:'),
    basic(':%s'),
    ...'Basic Token ApiKey Key JWT xBearer Bearerx Bear Bearer: Bearer= Bearer,'
      .split(' ')
      .map((scheme) => between(`${scheme} `)),
    between('Bearer'),
    between('Bearer-'),
    basic('%s'),
  ],
  'two parts': [
    inTwoParts,
    between('Bearer Bearer '),
    between('Bearer ', ' x'),
    between('Bearer x '),
    between('', ' Bearer'),
  ],
  'no token': ['Bearer', '', 'Bearer   '].map(
    (value): Form =>
      () =>
        inHeader(literal(value), literal('')),
  ),
  'in the query': [
    ...'api_key apikey apiKey key token access_token authorization Authorization auth bearer'
      .split(' ')
      .map((name) => inQuery(name)),
    inQuery('authorization', 'Bearer '),
  ],
  'in a cookie': 'api_key apiKey token access_token session Authorization key'.split(' ').map(inCookie),
  'in another header': [
    ...'x-api-key api-key apikey x-auth-token x-access-token x-authorization x-key token x-token'
      .split(' ')
      .map((name) => inField(name)),
    ...'x-authorization proxy-authorization x-forwarded-authorization x-original-authorization'
      .split(' ')
      .map((name) => inField(name, 'Bearer ')),
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

/** Texts that a careless key lookup may accept: property names, wildcards, empty values. */
const unissuedTexts =
  "* % _ .* null undefined true 0 {} __proto__ constructor 'OR'1'='1 test admin Bearer".split(' ');

const isKey = (known: Known, text: string) => known.everyKey.some(({ key }) => key === text);

/** A fixed list of keys that are not issued. */
export const unissuedKeys = (known: Known): readonly Token[] =>
  unissuedTexts.filter((text) => !isKey(known, text)).map(literal);

const tokenText = fc.stringMatching(/^[A-Za-z0-9_~+/.-]{1,40}$/);

/** A random key that is not issued. */
export const unknownToken = (known: Known): fc.Arbitrary<Token> =>
  tokenText.filter((text) => !isKey(known, text)).map(literal);

/** A token derived from a key; undefined if it is empty or an issued key. */
const nearMissOf = (known: Known, key: KnownKey, piece: Piece): Token | undefined =>
  piece.value === '' || isKey(known, piece.value) ? undefined : { ...piece, key };

/** Keys to derive near misses from. */
const activeKeys = ({ callerKeys, otherKeys }: Known) => [...callerKeys, ...otherKeys].slice(0, 4);

/** Near misses of active keys: one of each kind for the first key, two for each other. */
export function nearMisses(known: Known): readonly Token[] {
  const [first, ...others] = activeKeys(known);
  if (first === undefined) return [];
  const found = [
    ...nearPieces(first).map((piece) => nearMissOf(known, first, piece)),
    ...others.flatMap((key) => {
      const last = key.key.length - 1;
      // A hash may read a part of a long key only.
      const changed = join(part(key, 0, last), otherCharacter(key.key, last));
      return [join(part(key, 0), 'x'), changed].map((piece) => nearMissOf(known, key, piece));
    }),
  ].filter((token) => token !== undefined);
  return [...new Map(found.map((token) => [token.value, token])).values()];
}

function nearPieces(key: KnownKey): readonly Piece[] {
  const { key: text } = key;
  const { length } = text;
  const middle = Math.floor(length / 2);
  const whole = part(key, 0);
  const replaced = (at: number, by: string, count = 1) => join(part(key, 0, at), by, part(key, at + count));
  const changed = (at: number) => replaced(at, otherCharacter(text, at));
  const places = [...new Set([0, middle, length - 1])];
  return [
    part(key, 0, length - 1),
    part(key, 1),
    join(whole, 'x'),
    join('x', whole),
    join(whole, whole),
    join('"', whole, '"'),
    join('<', whole, '>'),
    join('token=', whole),
    ...[',x', ';x', ':x'].map((added) => join(whole, added)),
    ...places.map(changed),
    ...places.map((at) => replaced(at, `%${text.charCodeAt(at).toString(16)}`)),
    ...places.map((at) => replaced(at, otherCase(text[at]!))),
    ...places
      .map((at) => Math.max(0, Math.min(at, length - 2)))
      .map((at) => replaced(at, swapped(text, at), 2)),
    ...['.', '=', '"'].flatMap((added) => withAdded(key, added)),
    { value: text.toUpperCase(), shell: '${IB_API_KEY^^}' },
    { value: text.toLowerCase(), shell: '${IB_API_KEY,,}' },
  ];
}

const otherCase = (letter: string) =>
  letter === letter.toUpperCase() ? letter.toLowerCase() : letter.toUpperCase();

/** Two neighbours, swapped. */
const swapped = (text: string, at: number) => `${text[at + 1] ?? ''}${text[at] ?? ''}`;

/** A byte that is not ASCII. A server may answer 400 to a key with it. */
export const otherByte: Piece = { value: '\u00e9', shell: String.raw`$(printf '\351')` };

/** A key with a text added at its start, in its middle and at its end. */
export const withAdded = (key: KnownKey, added: string | Piece): readonly Token[] =>
  [0, Math.floor(key.key.length / 2), key.key.length].map((at) => ({
    ...join(part(key, 0, at), added, part(key, at)),
    key,
  }));

/** Always a letter: another digit could give another issued key. */
const otherCharacter = (text: string, at: number) => (text[at] === 'x' ? 'y' : 'x');

/** A key with one character changed, dropped or inserted. */
export function nearMiss(known: Known): fc.Arbitrary<Token> {
  return fc
    .tuple(fc.constantFrom(...activeKeys(known)), fc.nat(), fc.constantFrom('change', 'drop', 'insert'))
    .map(([key, place, how]) => {
      const at = place % key.key.length;
      const instead = how === 'drop' ? '' : how === 'insert' ? 'x' : otherCharacter(key.key, at);
      const piece = join(part(key, 0, at), instead, part(key, how === 'insert' ? at : at + 1));
      return nearMissOf(known, key, piece) ?? literal('no-such-key');
    });
}
