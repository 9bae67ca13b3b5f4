import { endpoints, type Endpoint } from '../../schemas/endpoints.ts';
import { decodeText, type Behaviour, type CallInput } from '../behaviour.ts';
import type { Difference } from './edits.ts';
import { valuesOf, type ApiKey } from '../world.ts';
import { define, both, failing, perEndpoint, idsIn, type Faults } from './define.ts';

/** Accepts a request without a known key if `test` holds for an acceptable key of the server. */
export const acceptKeyIf =
  (which: readonly Endpoint[]) =>
  (test: (key: string, call: CallInput, credential: string | undefined) => boolean) =>
  ({ findKey, accepts }: Behaviour): Pick<Behaviour, 'findKey'> => ({
    findKey: (world, credential, call) => {
      const found = findKey(world, credential, call);
      if (found !== undefined || !which.includes(call.endpoint)) return found;
      return valuesOf(world.keys).find((one) => accepts(one, call) && test(one.key, call, credential));
    },
  });

const sorted = (text: string) => [...text].toSorted().join('');

const isBasic = (key: string, header: string) => {
  const token = /^basic +(\S+)$/i.exec(header)?.[1] ?? '';
  return token !== '' && (token === key || Buffer.from(token, 'base64').toString().split(':').includes(key));
};
const hasTwoParts = (key: string, header: string) => {
  const parts = header.replace(/^bearer /i, '').split(/\s+/);
  return parts.length > 1 && (parts.includes(key) || parts.join('') === key);
};

const inQuery = (key: string, { parameters, endpoint }: CallInput) =>
  parameters.some(([name, value]) => name !== endpoints[endpoint].parameter && value.includes(key));
const inOwnHeader = (key: string, { request: { headers } }: CallInput) =>
  ['x-api-key', 'api-key', 'x-auth-token'].some((name) => headers[name]?.includes(key));

const alsoAccepts =
  (test: (key: ApiKey, call: CallInput) => boolean): Difference =>
  ({ accepts }) => ({ accepts: (key, call) => accepts(key, call) || test(key, call) });

const hasLowerScheme = ({ request }: CallInput) =>
  request.headers.authorization?.startsWith('bearer ') === true;

const rememberAcceptedKeys =
  (which: Endpoint): Difference =>
  ({ accepts }) => {
    const admitted = new Set<string>();
    return {
      accepts: (key, call) => {
        if (accepts(key, call)) admitted.add(key.key);
        else if (call.endpoint !== which) return false;
        return admitted.has(key.key);
      },
    };
  };

const header = {
  change: (test: (key: string, header: string) => boolean) =>
    acceptKeyIf(both)((key, { request }) => test(key, request.headers.authorization ?? '')),
};
const credential = {
  change: (test: (key: string, credential: string, call: CallInput) => boolean) =>
    acceptKeyIf(both)((key, call, text) => text !== undefined && test(key, text, call)),
};

const accepted = { id: 'key', what: 'The key is accepted', change: acceptKeyIf(both) };

const ofEitherEndpoint = perEndpoint((endpoint) => {
  const rows = (name: string) => idsIn('auth', [endpoint], name);
  const opened = { what: endpoint, change: acceptKeyIf([endpoint]) };
  const admitting = {
    what: endpoint,
    change: (test: (key: ApiKey) => boolean) =>
      alsoAccepts((key, call) => call.endpoint === endpoint && test(key)),
  };
  return {
    ...define(opened, rows('missing'), {
      [`${endpoint}-open-without-key: needs no key`]: (_, { request }) =>
        request.headers.authorization === undefined,
    }),
    ...define(opened, rows('unknown-key'), {
      [`any-key-on-${endpoint}: accepts any key`]: (_key, _call, text) => text !== undefined,
    }),
    ...define(opened, rows('header-only'), {
      [`key-in-query-of-${endpoint}: accepts the key in the query`]: inQuery,
    }),
    ...define(admitting, rows('revoked'), {
      [`revoked-key-on-${endpoint}: accepts revoked keys`]: ({ state }) => state === 'revoked',
    }),
    ...define(admitting, rows('expired'), {
      [`expired-key-on-${endpoint}: accepts expired keys`]: ({ state }) => state === 'expired',
    }),
    ...define(admitting, rows('non-partner'), {
      [`other-account-on-${endpoint}: accepts keys of non-Partner accounts`]: ({ partner, state }) =>
        partner === null && state === 'active',
    }),
    ...failing(rows('revocation'), {
      [`revocation-unnoticed-on-${endpoint}: ${endpoint} still accepts a key that was revoked after its first use`]:
        rememberAcceptedKeys(endpoint),
    }),
  };
});

const AFTER_BEARER = 'accepted after the scheme `bearer` in lower case';
const afterBearer = (state: ApiKey['state']) =>
  failing(idsIn('auth', both, state), {
    [`${state}-key-after-bearer: A key that is ${state} is ${AFTER_BEARER}`]: alsoAccepts(
      (key, call) => key.state === state && hasLowerScheme(call),
    ),
  });

/** Requests that are accepted without a known, active key (auth). */
export const authFaults: Faults = {
  ...ofEitherEndpoint,
  ...failing(['auth/user-status/malformed'], {
    'any-scheme-on-user-status: user-status accepts the key after any scheme': acceptKeyIf(['user-status'])(
      (key, { request: { headers } }) => {
        const parts = headers.authorization?.split(' ') ?? [];
        return parts.length === 2 && parts[1] === key;
      },
    ),
  }),
  ...failing(['auth/deposit-check/malformed'], {
    'no-scheme-on-deposit-check: deposit-check accepts the key without a scheme': acceptKeyIf([
      'deposit-check',
    ])((key, { request }) => request.headers.authorization === key),
  }),
  ...define(header, idsIn('auth', both, 'malformed'), {
    'basic-accepted: The key is accepted in the scheme Basic': isBasic,
    'basic-without-colon-accepted: The key in Base64 is accepted in the scheme Basic': (key, text) =>
      text === `Basic ${Buffer.from(key).toString('base64')}`,
    'empty-token-accepted: The scheme without a key is accepted': (_, text) => /^bearer *$/i.test(text),
    'key-in-two-parts-accepted: A key in two parts, or with an extra word, is accepted': hasTwoParts,
  }),
  ...failing(idsIn('auth', both, 'malformed'), {
    'empty-field-accepted: An empty Authorization field is accepted': acceptKeyIf(both)(
      (_, { request }) => request.headers.authorization === '',
    ),
  }),
  ...define(header, idsIn('auth', both, 'unknown-key'), {
    'key-trimmed: Quotation marks and any white space around the key are trimmed': (key, text) =>
      /^bearer[\s"']+([^\s"']+)[\s"']*$/i.exec(text)?.[1] === key,
  }),
  ...define(credential, idsIn('auth', both, 'unknown-key'), {
    'key-prefix-accepted: A prefix of a key is accepted': (key, text) => key.startsWith(text),
    'key-suffix-accepted: A suffix of a key is accepted': (key, text) => key.endsWith(text),
    'key-with-more-behind-accepted: A key with a suffix is accepted': (key, text) => text.startsWith(key),
    'key-with-more-before-accepted: A key with a prefix is accepted': (key, text) => text.endsWith(key),
    'key-case-ignored: The letter case of keys is ignored': (key, text) =>
      key.toLowerCase() === text.toLowerCase(),
    'key-decoded: A key is percent-decoded before it is compared': (key, text) =>
      text.includes('%') && decodeText(text) === key,
    'key-with-dot-trimmed: A dot at the end of a key is dropped': (key, text) => text === `${key}.`,
    'key-with-padding-trimmed: Equals signs at the end of a key are dropped': (key, text) =>
      text.replace(/=+$/, '') === key,
    'key-cut-at-colon: A colon and what follows it in a key are ignored': (key, text) =>
      text.split(':')[0] === key,
    'key-compared-by-sum: Keys with the same letters in another order are the same': (key, text) =>
      sorted(key) === sorted(text),
    'key-first-letter-ignored: The letter case of the first letter of a key is ignored': (key, text) =>
      text.slice(1) === key.slice(1) && text.charAt(0).toLowerCase() === key.charAt(0).toLowerCase(),
    'key-without-punctuation: Quotes, dots and equals signs in a key are left out': (key, text) =>
      text.replace(/["'.=]/g, '') === key,
    'key-compared-by-length: Only the length of a key is compared': (key, text) => key.length === text.length,
    'key-compared-by-eight-characters: Only the first eight characters of a key are compared': (key, text) =>
      key.slice(0, 8) === text.slice(0, 8),
    [`any-key-after-bearer: Any key is ${AFTER_BEARER}`]: (_key, _text, call) => hasLowerScheme(call),
  }),
  ...afterBearer('revoked'),
  ...afterBearer('expired'),
  ...define(accepted, idsIn('auth', both, 'header-only'), {
    'in-cookie: in a cookie': (key, { request }) => request.headers.cookie?.includes(key) ?? false,
    'in-x-api-key: in X-API-Key': inOwnHeader,
    'in-body: in a request body': (key, { request }) => request.body?.includes(key) ?? false,
  }),
};
