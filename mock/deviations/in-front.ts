import * as d from './deviate.ts';
import { answer, error, header, on, opened, read } from './deviate.ts';
import type { HttpResponse } from '../server/exchange.ts';

/** Ways to normalize a path that servers and proxies have, by the id of a fault or a variant. */
export const normalizers = {
  'double-slash': ['with two slashes in a row', (path) => path.replace(/\/{2,}/g, '/')],
  'path-case': ['in upper case', (path) => path.toLowerCase()],
  'trailing-slash': ['with a slash at its end', (path) => path.replace(/(?<=.)\/$/, '')],
  'dot-segments': ['with /./ or /x/../', (path) => new URL(path.replace(/^\/+/, '/'), 'http://x').pathname],
  'matrix-dots': ['with /x/..;/', (path) => path.replace(/\/[^/]+\/\.\.;(?=\/)/g, '')],
  'encoded-dots': ['with /x/%2e%2e/', (path) => path.replace(/\/[^/]+\/%2e%2e(?=\/)/gi, '')],
  backslash: ['with \\ for a slash', (path) => path.replaceAll('\\', '/')],
  'encoded-slash': ['with %2F', (path) => path.replace(/%2f/gi, '/')],
  'encoded-letter': [
    'with a percent-encoded letter',
    (path) => path.replace(/%([46]\d|[57]\d)/g, (_, code: string) => String.fromCharCode(parseInt(code, 16))),
  ],
  'path-parameter': ['with ;x=1', (path) => path.replace(/;[^/]*/g, '')],
  suffix: ['with .json', (path) => path.replace(/\.json$/, '')],
  'encoded-space': ['with %20 at its end', (path) => path.replace(/%20$/, '')],
} as const satisfies Readonly<Record<string, readonly [words: string, normalize: (path: string) => string]>>;

/** A cache in front of the service, which compares the URL alone. */
const cacheOfCompressed = d.remembering(() => {
  const kept = new Map<string, HttpResponse>();
  return on(d.hasField('accept-encoding', /gzip/), (response, { request: { target } }) => {
    const known = kept.get(target);
    if (known === undefined && response.status === 200) kept.set(target, response);
    return known ?? response;
  });
});

/** A framework that begins a session with each right answer, and reads its cookie later on. */
const session = (isFirst: boolean): d.Change =>
  d.remembering(() => {
    const keys = new Map<string, string>();
    return d.all(
      read((request) => {
        const id = /\bsid=(\w+)/.exec(request.headers.cookie ?? '')?.[1];
        const authorization = id === undefined ? undefined : keys.get(id);
        if (authorization === undefined || (!isFirst && request.headers.authorization)) return undefined;
        return { ...request, headers: { ...request.headers, authorization } };
      }),
      on(200, (response, { request }) => {
        const { authorization } = request.headers;
        if (authorization === undefined) return {};
        const id = `session${keys.size}`;
        keys.set(id, authorization);
        return { headers: { ...response.headers, 'Set-Cookie': `sid=${id}; Path=/; HttpOnly` } };
      }),
    );
  });

/** A cache that keeps the answer to HEAD, which has no body, for the next GET of the same URL. */
const cacheOfHead = d.remembering(() => {
  const kept = new Set<string>();
  return on(200, (response, { request: { method, target, headers } }) => {
    const name = `${String(headers.authorization)} ${target}`;
    if (method === 'HEAD') kept.add(name);
    return method === 'GET' && kept.delete(name) ? { body: '' } : response;
  });
});

const behindId = /(?:;|%3B)[a-z]+(?:=|%3D)\w*(?=&|$)/i;

/** Mistakes of caches, frameworks and networks in front of a service. */
export const inFrontFaults: d.Changes = {
  'compressed-answers-cached: Answers to requests that accept gzip are cached by URL, whatever the key':
    cacheOfCompressed,
  'head-cached: After a HEAD, the next GET of the same URL has no body': cacheOfHead,
  'browser-refused: A member gets 403 if User-Agent is that of a browser': on(
    'member',
    d.hasField('user-agent', /Mozilla/),
    error(403, 'Forbidden'),
  ),
  'session-enough: The cookie of a right answer is enough, without a key': session(false),
  'session-first: The cookie of a right answer counts before the key': session(true),
  'another-partner-refused: The keys of all partners but the first get 401': on(
    ({ call, world }) => call?.caller !== undefined && call.caller.partner !== d.firstPartner(world),
    d.refused,
  ),
  'private-network-trusted: X-Forwarded-For with an address of a private network needs no key': opened(
    (_key, { headers }) => /^(?:10|192\.168)\./.test(String(headers['x-forwarded-for'] ?? '')),
  ),
  'get-with-type-refused: A GET with Content-Type: application/json gets 400': on(
    d.hasField('content-type', /json/),
    error(400, 'A body is required'),
  ),
  'refusal-translated: The message of a 400 is translated to Spanish': on(
    400,
    d.hasField('accept-language', /\bes\b/),
    error(400, 'Parámetro no válido'),
  ),
  'path-parameter-dropped: What follows a semicolon behind an id is ignored': read((request) =>
    behindId.test(request.target) ? { ...request, target: request.target.replace(behindId, '') } : undefined,
  ),
};

/** What caches, frameworks and networks in front of a service may do. */
export const inFrontVariants: d.Changes = {
  'origin-refused: A request with the header field Origin gets 403': on(
    d.hasField('origin', /./),
    answer(403, 'Invalid CORS request'),
  ),
  'head-page: HEAD gets 200 with a page, for everyone': on(
    ({ request }) => request.method === 'HEAD',
    () => ({ status: 200, headers: { 'Content-Type': 'text/html' }, body: '' }),
  ),
  'session-unread: Right answers set a cookie that nobody reads': on(
    200,
    header('Set-Cookie', 'sid=unread0000; Path=/; HttpOnly'),
  ),
  'requests-numbered: A header field counts requests': d.remembering(() => {
    let count = 1000;
    return on(header('X-Varnish', () => String(count++)));
  }),
};
