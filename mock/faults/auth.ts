import { endpoints, type Endpoint } from '../../schemas/endpoints.ts';
import type { UnreadCall } from '../behaviour.ts';
import type { Change } from './change.ts';
import { valuesOf, type ApiKey } from '../world.ts';
import { both, failing, failingBy, onEachEndpoint, rowsOf, type Faults } from './table.ts';

/** Accepts a request without a known key if `test` holds for a key that the server would accept. */
const orKey =
  (which: readonly Endpoint[]) =>
  (test: (key: string, call: UnreadCall, credential: string | undefined) => boolean): Change =>
  (behaviour) => ({
    ...behaviour,
    findKey: (world, credential, call) => {
      const found = behaviour.findKey(world, credential, call);
      if (found !== undefined || !which.includes(call.endpoint)) return found;
      return valuesOf(world.keys).find(
        (one) => behaviour.admits(one, call) && test(one.key, call, credential),
      );
    },
  });

type KeyTest = (key: string, text: string) => boolean;

/** The same, with a test of the whole header field. */
const orHeader = (test: KeyTest) =>
  orKey(both)((key, { request }) => test(key, request.headers.authorization ?? ''));
/** The same, with a test of what stands after the scheme. */
const orCredential = (test: KeyTest) =>
  orKey(both)((key, _, credential) => credential !== undefined && test(key, credential));

const isBasic: KeyTest = (key, header) => {
  const token = /^basic +(\S+)$/i.exec(header)?.[1] ?? '';
  return token !== '' && (token === key || Buffer.from(token, 'base64').toString().split(':').includes(key));
};
const hasTwoParts: KeyTest = (key, header) => {
  const parts = header.replace(/^bearer /i, '').split(/\s+/);
  return parts.length > 1 && (parts.includes(key) || parts.join('') === key);
};

const inQuery = (key: string, { parameters, endpoint }: UnreadCall) =>
  parameters.some(([name, value]) => name !== endpoints[endpoint].parameter && value.includes(key));
const inOwnHeader = (key: string, { request: { headers } }: UnreadCall) =>
  ['x-api-key', 'api-key', 'x-auth-token'].some((name) => headers[name]?.includes(key));

/** Accepts more known keys. */
const alsoAdmits =
  (which: Endpoint, test: (key: ApiKey) => boolean): Change =>
  (behaviour) => ({
    ...behaviour,
    admits: (key, call) => behaviour.admits(key, call) || (call.endpoint === which && test(key)),
  });

const hasLowerScheme = ({ request }: UnreadCall) =>
  request.headers.authorization?.startsWith('bearer ') === true;

const admitsAfterBearer =
  (state: ApiKey['state']): Change =>
  (behaviour) => ({
    ...behaviour,
    admits: (key, call) => behaviour.admits(key, call) || (key.state === state && hasLowerScheme(call)),
  });

/** Accepts a key for ever that was accepted once. */
const remembersKeys =
  (which: Endpoint): Change =>
  (behaviour) => {
    const admitted = new Set<string>();
    return {
      ...behaviour,
      admits: (key, call) => {
        if (behaviour.admits(key, call)) admitted.add(key.key);
        else if (call.endpoint !== which) return false;
        return admitted.has(key.key);
      },
    };
  };

const ofEitherEndpoint = onEachEndpoint((endpoint) => {
  const rows = (name: string) => rowsOf('auth', [endpoint], name);
  return {
    ...failing(rows('missing'), {
      [`${endpoint}-open-without-key`]: [
        `${endpoint} answers requests without a header as those of the first key.`,
        orKey([endpoint])((_, { request }) => request.headers.authorization === undefined),
      ],
    }),
    ...failing(rows('unknown-key'), {
      [`any-key-on-${endpoint}`]: [
        `${endpoint} accepts any key.`,
        orKey([endpoint])((_key, _call, credential) => credential !== undefined),
      ],
    }),
    ...failing(rows('revoked'), {
      [`revoked-key-on-${endpoint}`]: [
        `${endpoint} accepts revoked keys.`,
        alsoAdmits(endpoint, ({ state }) => state === 'revoked'),
      ],
    }),
    ...failing(rows('expired'), {
      [`expired-key-on-${endpoint}`]: [
        `${endpoint} accepts expired keys.`,
        alsoAdmits(endpoint, ({ state }) => state === 'expired'),
      ],
    }),
    ...failing(rows('non-partner'), {
      [`other-account-on-${endpoint}`]: [
        `${endpoint} accepts keys of non-Partner accounts.`,
        alsoAdmits(endpoint, ({ partner, state }) => partner === null && state === 'active'),
      ],
    }),
    ...failing(rows('revocation'), {
      [`revocation-unnoticed-on-${endpoint}`]: [
        `${endpoint} goes on accepting a key that was revoked after its first use.`,
        remembersKeys(endpoint),
      ],
    }),
    ...failing(rows('header-only'), {
      [`key-in-query-of-${endpoint}`]: [
        `${endpoint} accepts the key in the query.`,
        orKey([endpoint])(inQuery),
      ],
    }),
  };
});

/** Requests that are let in without a key that is known and active (auth). */
export const authFaults: Faults = {
  ...ofEitherEndpoint,
  ...failing(['auth/user-status/malformed'], {
    'any-scheme-on-user-status': [
      'user-status accepts the key after any scheme.',
      orKey(['user-status'])((key, { request: { headers } }) => {
        const parts = headers.authorization?.split(' ') ?? [];
        return parts.length === 2 && parts[1] === key;
      }),
    ],
  }),
  ...failing(['auth/deposit-check/malformed'], {
    'no-scheme-on-deposit-check': [
      'deposit-check accepts the key without a scheme.',
      orKey(['deposit-check'])((key, { request }) => request.headers.authorization === key),
    ],
  }),
  ...failingBy(rowsOf('auth', both, 'malformed'), orHeader, {
    'basic-accepted': ['The key is accepted in the scheme Basic.', isBasic],
    'empty-token-accepted': [
      'The scheme without a key is accepted.',
      (_, header) => /^bearer *$/i.test(header),
    ],
    'key-in-two-parts-accepted': ['A key in two parts, or with a word beside it, is accepted.', hasTwoParts],
  }),
  ...failingBy(rowsOf('auth', both, 'unknown-key'), orHeader, {
    'key-trimmed': [
      'Quotation marks and any white space around the key are trimmed.',
      (key, header) => /^bearer[\s"']+([^\s"']+)[\s"']*$/i.exec(header)?.[1] === key,
    ],
  }),
  ...failingBy(rowsOf('auth', both, 'unknown-key'), orCredential, {
    'key-prefix-accepted': [
      'The beginning of a key is accepted.',
      (key, credential) => key.startsWith(credential),
    ],
    'key-suffix-accepted': ['The end of a key is accepted.', (key, credential) => key.endsWith(credential)],
    'key-with-more-behind-accepted': [
      'A key with more behind it is accepted.',
      (key, credential) => credential.startsWith(key),
    ],
    'key-with-more-before-accepted': [
      'A key with more before it is accepted.',
      (key, credential) => credential.endsWith(key),
    ],
    'key-case-ignored': [
      'Keys are compared without regard to letter case.',
      (key, credential) => key.toLowerCase() === credential.toLowerCase(),
    ],
    'key-compared-by-length': [
      'Anything as long as a key is accepted.',
      (key, credential) => key.length === credential.length,
    ],
    'key-compared-by-eight-characters': [
      'Only the first eight characters of a key are compared.',
      (key, credential) => key.slice(0, 8) === credential.slice(0, 8),
    ],
  }),
  ...failing(rowsOf('auth', both, 'unknown-key'), {
    'any-key-after-bearer': [
      'Any key is accepted after the scheme `bearer` in lower case.',
      orKey(both)((_key, call, credential) => credential !== undefined && hasLowerScheme(call)),
    ],
  }),
  ...failing(rowsOf('auth', both, 'revoked'), {
    'revoked-key-after-bearer': [
      'Revoked keys are accepted after the scheme `bearer` in lower case.',
      admitsAfterBearer('revoked'),
    ],
  }),
  ...failing(rowsOf('auth', both, 'expired'), {
    'expired-key-after-bearer': [
      'Expired keys are accepted after the scheme `bearer` in lower case.',
      admitsAfterBearer('expired'),
    ],
  }),
  ...failingBy(rowsOf('auth', both, 'header-only'), orKey(both), {
    'key-in-cookie': [
      'The key is accepted in a cookie.',
      (key, { request }) => request.headers.cookie?.includes(key) ?? false,
    ],
    'key-in-x-api-key': ['The key is accepted in X-API-Key.', inOwnHeader],
    'key-in-body': [
      'The key is accepted in a request body.',
      (key, { request }) => request.body?.includes(key) ?? false,
    ],
  }),
};
