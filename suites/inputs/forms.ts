import type { Request } from '../request.ts';

/** Another way to write a request, which a server or a proxy may read as the plain one. */
export interface Form {
  readonly name: string;
  readonly change: (request: Request) => Partial<Request>;
}

const path = (name: string, rewrite: (path: string) => string): Form => ({
  name,
  change: ({ target }) => ({ target: target.replace(/^[^?]*/, rewrite) }),
});

const method = (name: string): Form => ({ name, change: () => ({ method: name }) });

/** Names the path in a header field, and asks for another one. */
const pathInField = (field: string): Form => ({
  name: field,
  change: ({ target }) => ({ target: target.replace(/^[^?]*/, '/'), headers: { [field]: target } }),
});

/** Header fields with one value, each. */
const fields = (value: string, ...names: readonly string[]): Form => ({
  name: `${names.join(', ')}: ${value}`,
  change: () => ({ headers: Object.fromEntries(names.map((name) => [name, value])) }),
});

/** Names an address in the fields in which proxies name the client's: networks may be trusted. */
const comesFrom = (address: string): Form => ({
  name: `X-Forwarded-For: ${address}, and fields like it`,
  change: () => ({
    headers: {
      ...Object.fromEntries(addressFields.map((name) => [name, address])),
      forwarded: `for=${address.includes(':') ? `"[${address}]"` : address}`,
    },
  }),
});

const addressFields = [
  'x-forwarded-for',
  'x-real-ip',
  'x-client-ip',
  'client-ip',
  'true-client-ip',
  'cf-connecting-ip',
  'fastly-client-ip',
  'x-cluster-client-ip',
  'x-envoy-external-address',
  'x-original-forwarded-for',
  'x-remote-addr',
];

/** With it, some caches compare the URL alone. */
export const compressed: Form = fields('gzip', 'accept-encoding');

/** Paths that a server may normalize, after a proxy or a filter compared them. */
const paths: readonly Form[] = [
  path('// at the start', (text) => `/${text}`),
  path('// in the middle', (text) => text.replace('/ib', '//ib')),
  path('// before the last segment', (text) => text.replace('/ib/', '/ib//')),
  path('a trailing slash', (text) => `${text}/`),
  path('the path in upper case', (text) => text.toUpperCase()),
  path('the path capitalized', (text) => text.replace(/(?<=[/-])[a-z]/g, (one) => one.toUpperCase())),
  path('/./ at the start', (text) => `/.${text}`),
  path('/./ before the last segment', (text) => text.replace('/ib/', '/ib/./')),
  path('/x/../ at the start', (text) => `/x/..${text}`),
  path('/x/../ before the last segment', (text) => text.replace('/ib/', '/ib/x/../')),
  path('/x/..;/ at the start', (text) => `/x/..;${text}`),
  path('/x/%2e%2e/ at the start', (text) => `/x/%2e%2e${text}`),
  path('\\ before the last segment', (text) => text.replace('/ib/', '/ib\\')),
  path('%2F before the last segment', (text) => text.replace('/ib/', '/ib%2F')),
  path('%2F in the middle', (text) => text.replace('/ib', '%2Fib')),
  path('a percent-encoded letter at the start', (text) => text.replace('/api', '/%61pi')),
  path('a percent-encoded letter in the last segment', (text) => text.replace('s', '%73')),
  path(';x=1 at the end', (text) => `${text};x=1`),
  path(';x=1 in the middle', (text) => text.replace('/ib', '/ib;x=1')),
  path('.json at the end', (text) => `${text}.json`),
  path('%20 at the end', (text) => `${text}%20`),
];

/**
 * Forms of a request about which the interface says nothing, and requests with header fields of proxies. None of them
 * may show data that the plain request does not show (Authentication; scoped to the calling partner).
 */
export const formsOfRequests: readonly Form[] = [
  { name: 'a URL as target', change: () => ({ isAbsolute: true }) },
  ...['HEAD', 'POST', 'PUT', 'PATCH', 'OPTIONS'].map(method),
  {
    name: 'POST with X-HTTP-Method-Override: GET',
    change: () => ({ method: 'POST', headers: { 'x-http-method-override': 'GET' } }),
  },
  pathInField('x-original-url'),
  pathInField('x-rewrite-url'),
  ...paths,
  fields('/', 'x-original-url', 'x-rewrite-url'),
  ...['127.0.0.1', '::1', '10.1.2.3', '172.16.1.2', '192.168.1.2', '169.254.1.2', 'fd00::1'].map(comesFrom),
  compressed,
  fields('localhost', 'x-forwarded-host'),
  fields('/internal', 'x-forwarded-prefix'),
];
