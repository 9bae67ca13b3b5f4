import * as fc from 'fast-check';
import type { Known, KnownKey } from '../known.ts';
import type { Changes, Credential } from '../request.ts';

/** Text as it stands between double quotes of a shell. */
const inShell = (text: string) => text.replace(/[\\"$`]/g, String.raw`\$&`);

const header = (value: string, shell: string, key?: KnownKey): Credential => ({
  as: 'header',
  value,
  shell,
  ...(key === undefined ? {} : { key }),
});

/** An Authorization header that holds no key. */
const literal = (value: string) => header(value, inShell(value));

/** Headers that hold the right key in a wrong form. */
const wrongForms: readonly ((key: KnownKey) => Credential)[] = [
  (key) => header(key.key, '$IB_API_KEY', key),
  () => literal('Bearer'),
  (key) => header(`Basic ${base64(`${key.key}:`)}`, 'Basic $(printf %s: "$IB_API_KEY" | base64 -w0)', key),
  (key) => header(`Basic ${base64(`:${key.key}`)}`, 'Basic $(printf :%s "$IB_API_KEY" | base64 -w0)', key),
  ...[
    'Basic',
    'Token',
    'ApiKey',
    'Key',
    'Digest',
    'JWT',
    'OAuth',
    'Negotiate',
    'xBearer',
    'Bearerx',
    'Bear',
    'Bearer Bearer',
    'Bearer:',
    'Bearer=',
    'Bearer,',
  ].map((scheme) => (key: KnownKey) => header(`${scheme} ${key.key}`, `${inShell(scheme)} $IB_API_KEY`, key)),
  (key) => header(`Bearer${key.key}`, 'Bearer$IB_API_KEY', key),
  (key) => header(`Bearer-${key.key}`, 'Bearer-$IB_API_KEY', key),
  (key) => header(`Bearer ${key.key} x`, 'Bearer $IB_API_KEY x', key),
  (key) => header(`Bearer x ${key.key}`, 'Bearer x $IB_API_KEY', key),
  (key) => header(`${key.key} Bearer`, '$IB_API_KEY Bearer', key),
  twoParts,
];

/** The key cut in the middle; a key of one character is followed by another one. */
function twoParts(key: KnownKey): Credential {
  if (key.key.length < 2) return header(`Bearer ${key.key} x`, 'Bearer $IB_API_KEY x', key);
  const half = Math.ceil(key.key.length / 2);
  return header(
    `Bearer ${key.key.slice(0, half)} ${key.key.slice(half)}`,
    `Bearer \${IB_API_KEY:0:${half}} \${IB_API_KEY:${half}}`,
    key,
  );
}

const base64 = (text: string) => Buffer.from(text).toString('base64');

/** Headers that hold the right key in a wrong form: one of each. */
export const malformedCredentials = (key: KnownKey): readonly Credential[] =>
  wrongForms.map((form) => form(key));

/** Keys that a careless look-up finds: names of properties, wild cards, values that mean nothing. */
const suspectKeys = [
  '*',
  '%',
  '_',
  '.*',
  'null',
  'undefined',
  'true',
  '0',
  '-1',
  '{}',
  '[]',
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  "'OR'1'='1",
  'test',
  'admin',
  'Bearer',
];

const isKey = (known: Known, text: string) => known.everyKey.some(({ key }) => key === text);

/** A part of the key under test, a text, a part: what the header holds instead of the key. */
type Piece = string | readonly [from: number, to: number];

/** A near miss of a key, written so that its curl line needs the key but does not show it. */
function nearMiss(known: Known, key: KnownKey, pieces: readonly Piece[]): Credential | undefined {
  const value = pieces.map((piece) => (typeof piece === 'string' ? piece : key.key.slice(...piece))).join('');
  const shell = pieces
    .map((piece) =>
      typeof piece === 'string' ? inShell(piece) : `\${IB_API_KEY:${piece[0]}:${piece[1] - piece[0]}}`,
    )
    .join('');
  return value === '' || isKey(known, value) ? undefined : header(`Bearer ${value}`, `Bearer ${shell}`, key);
}

/** The keys whose near misses must not be let in. */
const activeKeys = ({ callerKeys, otherKeys }: Known) => [...callerKeys, ...otherKeys];

/** Keys that nobody was given: near misses of each real one, and suspects. */
export function unknownCredentials(known: Known): readonly Credential[] {
  const near = activeKeys(known)
    .slice(0, 4)
    .flatMap((key) => {
      const { length } = key.key;
      const changed = (at: number) => [[0, at], otherCharacter(key.key, at), [at + 1, length]] as const;
      return [
        nearMiss(known, key, [[0, length - 1]]),
        nearMiss(known, key, [[1, length]]),
        nearMiss(known, key, [[0, Math.ceil(length / 2)]]),
        nearMiss(known, key, [[Math.floor(length / 2), length]]),
        nearMiss(known, key, [[0, 1]]),
        nearMiss(known, key, [[0, length], 'x']),
        nearMiss(known, key, ['x', [0, length]]),
        nearMiss(known, key, [
          [0, length],
          [0, length],
        ]),
        nearMiss(known, key, ['"', [0, length], '"']),
        nearMiss(known, key, ['<', [0, length], '>']),
        nearMiss(known, key, ['token=', [0, length]]),
        nearMiss(known, key, [[0, length], ',x']),
        nearMiss(known, key, changed(0)),
        nearMiss(known, key, changed(Math.floor(length / 2))),
        nearMiss(known, key, changed(length - 1)),
        otherLetterCase(known, key, key.key.toUpperCase(), '${IB_API_KEY^^}'),
        otherLetterCase(known, key, key.key.toLowerCase(), '${IB_API_KEY,,}'),
      ];
    });
  const suspects = suspectKeys.filter((text) => !isKey(known, text)).map((text) => literal(`Bearer ${text}`));
  return [...near.filter((credential) => credential !== undefined), ...suspects];
}

function otherLetterCase(known: Known, key: KnownKey, value: string, shell: string): Credential | undefined {
  return isKey(known, value) ? undefined : header(`Bearer ${value}`, `Bearer ${shell}`, key);
}

/** A letter in place of the character: keys that count up have digits at the end. */
const otherCharacter = (text: string, at: number) => (text[at] === 'x' ? 'y' : 'x');

/** More such keys: random ones, and real ones with one character changed, left out or put in. */
export function unknownCredential(known: Known): fc.Arbitrary<Credential> {
  const random = fc
    .stringMatching(/^[A-Za-z0-9_~+/.-]{1,40}$/)
    .filter((text) => !isKey(known, text))
    .map((text) => literal(`Bearer ${text}`));
  const keys = activeKeys(known);
  if (keys.length === 0) return random;
  const near = fc
    .tuple(
      fc.constantFrom(...keys),
      fc.nat(),
      fc.constantFrom<'change' | 'drop' | 'insert'>('change', 'drop', 'insert'),
    )
    .map(([key, place, how]) => {
      const { length } = key.key;
      const at = place % length;
      const pieces: Readonly<Record<typeof how, readonly Piece[]>> = {
        change: [[0, at], otherCharacter(key.key, at), [at + 1, length]],
        drop: [
          [0, at],
          [at + 1, length],
        ],
        insert: [[0, at], 'x', [at, length]],
      };
      return nearMiss(known, key, pieces[how]) ?? literal('Bearer no-such-key');
    });
  return fc.oneof(random, near);
}

/** The key anywhere but in the Authorization header. */
export interface Misplaced {
  readonly changes: Changes;
  /** To be put behind the query. */
  readonly query?: string;
}

/** The key in the query, a cookie, another header or the body of a GET. */
export function misplacedKeys(misplaced: KnownKey): readonly Misplaced[] {
  const { key } = misplaced;
  const none = { credential: { as: 'none' }, misplaced } as const satisfies Changes;
  const cookie = /^[\w.~+/=-]+$/.test(key) ? key : encodeURIComponent(key);
  return [
    ...[
      'api_key',
      'apikey',
      'apiKey',
      'key',
      'token',
      'access_token',
      'authorization',
      'Authorization',
      'auth',
      'bearer',
    ].map((name) => ({
      changes: none,
      query: `${name}=${encodeURIComponent(key)}`,
    })),
    { changes: none, query: `authorization=${encodeURIComponent(`Bearer ${key}`)}` },
    ...['api_key', 'apiKey', 'token', 'access_token', 'session', 'Authorization', 'key'].map((name) => ({
      changes: { ...none, headers: { cookie: `${name}=${cookie}` } },
    })),
    ...[
      'x-api-key',
      'api-key',
      'apikey',
      'x-auth-token',
      'x-access-token',
      'x-authorization',
      'x-key',
      'token',
      'x-token',
    ].map((name) => ({
      changes: { ...none, headers: { [name]: key } },
    })),
    ...[
      'x-authorization',
      'proxy-authorization',
      'x-forwarded-authorization',
      'x-original-authorization',
    ].map((name) => ({
      changes: { ...none, headers: { [name]: `Bearer ${key}` } },
    })),
    {
      changes: {
        ...none,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ api_key: key, key, token: key, authorization: `Bearer ${key}` }),
      },
    },
    {
      changes: {
        ...none,
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: `api_key=${encodeURIComponent(key)}&access_token=${encodeURIComponent(key)}`,
      },
    },
  ];
}
