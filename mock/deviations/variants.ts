import { endpointNames, perEndpoint } from '../../schemas/endpoints.ts';
import { httpDate } from '../server/answer.ts';
import * as d from './deviate.ts';
import { body, error, field, header, json, on, page, read, set, without } from './deviate.ts';
import type { Exchange, HttpRequest } from '../server/exchange.ts';
import type { Behaviour } from '../server/handler.ts';
import { inFrontVariants, normalizers } from './in-front.ts';
import { limiters } from '../server/limiter.ts';

const hasNoKey = ({ request }: Exchange) => request.headers.authorization === undefined;
const isNilOrMax = (value: string) => /^(0{8}(-0{4}){3}-0{12}|f{8}(-f{4}){3}-f{12})$/i.test(value);
const otherMethods = new Set(['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
const likeGet = (request: HttpRequest) =>
  otherMethods.has(request.method) ? { ...request, method: 'GET' } : undefined;
const withoutLowerBearer = (request: HttpRequest) => {
  const { authorization = '', ...headers } = request.headers;
  return authorization.startsWith('Bearer ') ? undefined : { ...request, headers };
};

/** Ids that were published before the others. */
const pathIds: Readonly<Record<string, string>> = {
  'trailing-slash': 'trailing-slash-accepted',
  'path-case': 'path-case-ignored',
};

/** Requests in unusual forms. */
const requests: d.Changes = {
  ...Object.fromEntries(
    Object.entries(normalizers).map(([name, [words, normalize]]) => [
      `${pathIds[name] ?? `${name}-normalized`}: A path ${words} is read as one without it`,
      read((request) => d.withPath(request, normalize)),
    ]),
  ),
  'other-paths-redirected': on('noSuchPath', error(308, 'Other path')),
  'other-paths-refused': on('noSuchPath', error(400, 'Other path')),
  'other-paths-not-acceptable': on('noSuchPath', error(406, 'Other path')),
  'other-paths-too-long': on('noSuchPath', error(414, 'Other path')),
  'other-paths-not-implemented': on('noSuchPath', error(501, 'Other path')),
  'other-paths-page: Other paths get a page with 404': on('noSuchPath', page('<title>Cannot GET</title>')),
  'other-paths-shown: Other paths get a page with 200': on(
    'noSuchPath',
    page('<title>Application</title>', 200),
  ),
  'other-paths-documented: Other paths get a page with examples of answers': on(
    'noSuchPath',
    page('<pre>{"is_under_ib": true} {"status": "EXECUTED", "amountInUsd": 10}</pre>', 200),
  ),
  'other-paths-limited: While a key is limited, other paths get 429 with a text of their own': on(
    'noSuchPath',
    d.hasLimitedKey(...endpointNames),
    error(429, 'Slow down'),
  ),
  'other-paths-need-key': on('noSuchPath', hasNoKey, error(401, 'Unauthorized')),
  'other-methods-not-implemented': on('noSuchMethod', error(501, 'Not implemented')),
  'other-methods-not-found': on('noSuchMethod', error(404, 'Not found')),
  'other-methods-like-get: POST, PUT, PATCH, DELETE and OPTIONS are answered like GET': read(likeGet),
  'head-refused: HEAD gets 405': d.all(
    read((request) => (request.method === 'HEAD' ? { ...request, method: 'TRACE' } : undefined)),
    on('noSuchMethod', header('Allow', 'GET')),
  ),
  'cross-origin-allowed: OPTIONS gets 204, and every answer allows any origin (CORS)': d.all(
    on(header('Access-Control-Allow-Origin', '*')),
    on('noSuchMethod', ({ request }) => request.method === 'OPTIONS', d.noContent),
  ),
  'repeated-parameter-last: The last of repeated parameters is used': d.id((_value, _endpoint, values) =>
    values.at(-1),
  ),
  'repeated-parameter-refused: A repeated parameter is invalid': d.id((_value, _endpoint, values) =>
    values.length > 1 ? '' : undefined,
  ),
  'unknown-parameter-refused: An unknown parameter makes the request invalid': d.id(
    (_value, _endpoint, values, parameters) => (values.length < parameters.length ? '' : undefined),
  ),
  'nil-and-max-accepted: The nil and the max UUID are well formed': d.wellFormed(isNilOrMax, 'deposit-check'),
  'lower-case-bearer-refused: Only the scheme spelled Bearer is accepted': read(withoutLowerBearer),
  'parameter-before-key: 400 comes before 401': set({ checkOrder: ['id', 'key', 'limit'] }),
  'parameter-before-limit: 400 comes before 429': set({ checkOrder: ['key', 'id', 'limit'] }),
};

/** Checks the limit before the key, and counts by the sent key. */
const limitBeforeKey = {
  checkOrder: ['limit', 'key', 'id'],
  limiterKey: (call) => call.credential ?? '',
} as const satisfies Partial<Behaviour>;
const countedOnUserStatus = (...kinds: Behaviour['counted']['user-status']) =>
  set(({ counted }) => ({ counted: { ...counted, 'user-status': kinds } }));
const untilDate = ({ now, finding }: Exchange) =>
  new Date(Math.ceil((now + (finding.kind === 'limited' ? finding.waitMs : 0)) / 1000) * 1000).toUTCString();
const remainingTold: d.Change = (rules) =>
  on(
    d.headerFields(({ world, call }) => {
      const limit = call && rules.limit(world, call.endpoint, call.caller);
      if (call === undefined || limit === undefined) return {};
      const used = world.hits[call.endpoint].get(rules.limiterKey(call, world))?.length ?? 0;
      return { 'RateLimit-Limit': `${limit.most}`, 'RateLimit-Remaining': `${limit.most - used}` };
    }),
  )(rules);

/** Limiters that group keys, count or report in another way (Limits: "not shown"). */
const limits: d.Changes = {
  'limit-before-key: 429 comes before 401 for a limited key': set(limitBeforeKey),
  'limit-per-partner': set({ limiterKey: ({ caller }) => caller?.partner ?? '' }),
  'limit-counts-refusals: Requests that get 429 also count, each for one window': set(({ counted }) => ({
    count: limiters.slidingWindow,
    counted: perEndpoint((endpoint) => [...counted[endpoint], 'limited']),
  })),
  'sliding-window: Each counted request counts for one window': set({ count: limiters.slidingWindow }),
  'aligned-window: Windows begin at multiples of their length': set({ count: limiters.alignedWindow }),
  'weighted-window: The previous window counts less and less': set({ count: limiters.weightedWindow }),
  'token-bucket: A bucket that holds the limit refills evenly': set({ count: limiters.bucket }),
  'token-bucket-at-intervals: A bucket refills by a quarter at a time': set({
    count: limiters.bucketAtIntervals,
  }),
  'limit-with-ban: After the limit, a key waits three windows': set({ count: limiters.windowThenBan }),
  'only-strangers-counted: user-status counts only users who are not under the IB as failed lookups':
    countedOnUserStatus('foreign', 'unknown'),
  'bad-keys-counted: user-status also counts 401s, and limits a wrong key that is sent repeatedly': d.all(
    set(limitBeforeKey),
    countedOnUserStatus('invalid', 'foreign', 'unknown', 'unauthorized'),
  ),
  'retry-after-left-out: A 429 has no Retry-After': on(429, without('Retry-After')),
  'retry-after-as-date: Retry-After is a date': on(429, header('Retry-After', untilDate)),
  'remaining-requests-told: Headers state the limit and the requests left': remainingTold,
};

const type = (name: string) => on(header('Content-Type', name));
// Numbers that JSON.stringify writes with an exponent stay.
const numbers = (spell: (number: string) => string) =>
  on(body((text) => text.replace(/(?<=":)\d[\d.]*(?![\d.e])/g, spell)));
const dates = (edit: (date: string) => string) => on('member', field('date_joined', edit));
/** Edits every second answer, as one of two machines. */
const everyOther = (edit: d.Edit, isMeant: (exchange: Exchange) => boolean = () => true) =>
  d.remembering(() => {
    let count = 0;
    return on(isMeant, () => (count += 1) % 2 === 0, edit);
  });
const escape = (one: string) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`;
/** Escapes every character of every string: `"OK"` → `"\u004f\u004b"` */
const escaped = (text: string) =>
  text.replace(/"([^"\\]*)"/g, (_, inner: string) => `"${inner.replace(/./g, escape)}"`);
/** Tells how many answers had this name. */
const numbered = (name: string, nameOf: (exchange: Exchange) => string) =>
  d.remembering(() => {
    const timesOf = d.counter(nameOf);
    return on(header(name, (exchange) => `${timesOf(exchange)}`));
  });

/** Other ways to write an answer. */
const answers: d.Changes = {
  'json-indented': on(body((text) => `${JSON.stringify(JSON.parse(text), null, '\t')}\r\n`)),
  'json-escaped: Every character is escaped': on(body(escaped)),
  'fields-reversed: Fields are in reverse order': on(
    json((all) => Object.fromEntries(Object.entries(all).toReversed())),
  ),
  'numbers-with-exponent': numbers((number) => `${number}E+0`),
  'numbers-with-zeros': numbers((number) => (number.includes('.') ? `${number}00` : `${number}.00`)),
  'date-with-more-digits: date_joined has nine fraction digits': dates((date) =>
    date.replace(/(?:\.(\d*))?Z$/, (_, digits = '') => `.${String(digits).padEnd(9, '0')}Z`),
  ),
  'date-with-fewer-digits: date_joined has no more fraction digits than it needs': dates((date) =>
    date.replace(/(\.\d*?)0+Z$/, '$1Z').replace('.Z', 'Z'),
  ),
  'date-with-zero-offset: date_joined ends in +00:00': dates((date) => date.replace('Z', '+00:00')),
  'charset-named': type('application/json; charset=utf-8'),
  'content-type-in-capitals': type('APPLICATION/JSON;CHARSET=UTF-8'),
  'content-type-of-vendor: Content-Type is application/vnd.ib+json': type('application/vnd.ib+json'),
  'challenge-left-out: A 401 has no WWW-Authenticate': on(401, without('WWW-Authenticate')),
  'challenge-with-realm: WWW-Authenticate names a realm and an error (RFC 6750)': on(
    401,
    header('WWW-Authenticate', 'Bearer realm="/api/ib", error="invalid_token"'),
  ),
  'cache-control-left-out': on(without('Cache-Control')),
  'security-headers: Answers have the usual headers of a reverse proxy': on(
    d.headerFields(() => ({
      Server: 'gateway',
      Vary: 'Authorization, Accept-Encoding',
      'Strict-Transport-Security': 'max-age=31536000',
      'X-Content-Type-Options': 'nosniff',
    })),
  ),
  "own-partner-told: A header field has the caller's partner id": on(
    header('X-Partner', ({ call }) => call?.caller?.partner ?? '-'),
  ),
  'partner-in-server: The Server header is the name of a partner': on(header('Server', 'contoso')),
  'request-id: Every answer has its own number': numbered('X-Request-Id', () => ''),
  'machine-told: Two machines answer in turn, and one names itself in a header field': everyOther(
    header('X-Machine', 'second'),
  ),
  'machine-ends-in-newline: Two machines answer in turn, and bodies of one end in a newline': everyOther(
    d.withNewline,
  ),
  'machine-writes-offset: Two machines answer in turn, and one writes date_joined with +00:00': everyOther(
    field('date_joined', (date: string) => date.replace('Z', '+00:00')),
    ({ finding }) => finding.kind === 'member',
  ),
  'answers-tagged: Answers with 200 and 404 have a tag, and who sends it gets 304': on(
    d.lookups,
    d.tagged((_, response) => d.tagOf(response.body)),
  ),
  'help-address-numbered: A header field has an address for questions, with a number for each answer':
    d.remembering(() => {
      let nth = 0;
      return on(header('X-Contact', () => `support+${++nth}@example.com`));
    }),
  'requests-counted: A header field tells how often the same was asked for': numbered(
    'X-Hits',
    d.sameRequest,
  ),
  'chunked: Bodies are sent in chunks, without a length': on(header('Transfer-Encoding', 'chunked')),
  'connection-closed: Every answer ends its connection': on(header('Connection', 'close')),
};

const seenAfter = (ms: number) => d.sees(({ ageMs }) => ageMs >= ms);
const CLOCK_ERROR_MS = 90_000;

/** When changes of the data show, and for how long answers are kept (Deposit states; Authentication). */
const changes: d.Changes = {
  'changes-after-one-second: A change of the data shows after 1 s': seenAfter(1000),
  'changes-after-three-seconds: A change of the data shows after 3 s': seenAfter(3000),
  'changes-on-one-replica-late: One of two replicas shows a change of the data 1 s later': d.sees(
    ({ ageMs, nth }) => nth % 2 === 0 || ageMs >= 1000,
  ),
  'changes-by-spelling: A change of the data shows after 1 s, but at once for an id with capital letters':
    d.sees(({ ageMs, request }) => ageMs >= 1000 || /_id=[^&]*[A-F]/.test(request.target)),
  'executed-deposits-kept: An EXECUTED deposit is answered from a cache of its owner for ever': d.cached(
    Infinity,
    ['executed'],
    ['notYet'],
  ),
  'negative-answers-kept: Unknown users and deposits are answered from a cache for 2 s': d.cached(
    2000,
    ['unknown', 'foreign', 'notYet'],
    ['executed'],
  ),
  'clock-behind: The clock of the server is 90 s late': d.all(
    on(header('Date', ({ now }) => httpDate(now - CLOCK_ERROR_MS))),
    on(
      d.isBecoming,
      field('executedAt', (at: number) => at - CLOCK_ERROR_MS),
    ),
  ),
};

/** Legal variants by id. The suites must pass each of them. */
export const variants = d.deviationsOf(requests, limits, answers, changes, inFrontVariants);
