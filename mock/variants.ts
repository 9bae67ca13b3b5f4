import { defined } from '../schemas/defined.ts';
import { endpointNames, endpoints } from '../schemas/endpoints.ts';
import { httpDate } from './answer.ts';
import type { Behaviour } from './behaviour.ts';
import { seesChanges } from './faults/changes.ts';
import {
  accept,
  answerWith,
  cached,
  changeBy,
  countRepeats,
  dropHeader,
  editBody,
  editHeaders,
  editPayload,
  editResponse,
  noContent,
  onlyIf,
  setHeader,
  type Change,
  type Difference,
  type Edit,
  type Filter,
} from './faults/edits.ts';
import { splitRow } from './faults/define.ts';
import type { Exchange, Parameter } from './exchange.ts';
import { limiters } from './limiter-kinds.ts';
import { normalizers } from './paths.ts';

interface Variant {
  /** How the server differs from the reference, in one sentence. */
  readonly what: string;
  readonly change: Change;
}

export type Variants = Readonly<Record<string, Variant>>;
/** Changes by id and sentence: `chunked: Bodies are sent in chunks`. */
type VariantRows = Readonly<Record<string, Difference>>;

const parameterValues = (parameters: readonly Parameter[], wanted: string) =>
  parameters.filter(([name]) => name === wanted).map(([, value]) => value);

const isNilOrMax = (value: string) => /^(0{8}(-0{4}){3}-0{12}|f{8}(-f{4}){3}-f{12})$/i.test(value);

/** Whether the limit of an endpoint is used up for a key. */
const hasLimitedKey = ({ world: { hits, limits }, now }: Exchange) =>
  endpointNames.some((endpoint) =>
    [...hits[endpoint].values()].some(
      (ends) => ends.filter((at) => at > now).length >= (limits[endpoint]?.most ?? Infinity),
    ),
  );

/** Ids that were published before the others. */
const variantNames: Readonly<Record<string, string>> = {
  'trailing-slash': 'trailing-slash-accepted',
  'path-case': 'path-case-ignored',
};

/** A page, with this status if one is given. */
const page = (content: string, status?: number) =>
  editResponse(() => ({
    ...defined({ status }),
    body: `<!DOCTYPE html>${content}`,
    headers: { 'Content-Type': 'text/html' },
  }));

const otherPath = { kinds: ['noSuchPath'] } as const;

const requests: VariantRows = {
  ...Object.fromEntries(
    Object.entries(normalizers).map(([id, [words, normalize]]): [string, Partial<Behaviour>] => [
      `${variantNames[id] ?? `${id}-normalized`}: A path ${words} is read as one without it`,
      { path: normalize },
    ]),
  ),
  ...Object.fromEntries(
    Object.entries({
      redirected: 308,
      refused: 400,
      'not-acceptable': 406,
      'too-long': 414,
      'not-implemented': 501,
    }).map(([name, status]): [string, Difference] => [
      `other-paths-${name}: Other paths get ${status}`,
      answerWith(status, { error: 'Other path' })(otherPath),
    ]),
  ),
  'other-paths-page: Other paths get a page with 404': page('<title>Cannot GET</title>')(otherPath),
  'other-paths-shown: Other paths get a page with 200': page('<title>Application</title>', 200)(otherPath),
  'other-paths-documented: Other paths get a page with examples of answers': page(
    '<pre>{"is_under_ib": true} {"status": "EXECUTED", "amountInUsd": 10}</pre>',
    200,
  )(otherPath),
  'other-paths-limited: While a key is limited, other paths get 429 with a text of their own': answerWith(
    429,
    { error: 'Slow down' },
  )({ ...otherPath, where: hasLimitedKey }),
  'other-methods-not-implemented: Other methods get 501': answerWith(501, { error: 'Not implemented' })({
    kinds: ['noSuchMethod'],
  }),
  'other-paths-need-key: Without a key, other paths get 401': answerWith(401, {
    error: 'Unauthorized',
  })({ ...otherPath, where: ({ request }) => request.headers.authorization === undefined }),
  'head-refused: HEAD gets 405': { methods: ['GET'] },
  'other-methods-not-found: Other methods get 404': answerWith(404, { error: 'Not found' })({
    kinds: ['noSuchMethod'],
  }),
  'other-methods-like-get: POST, PUT, PATCH, DELETE and OPTIONS are answered like GET': ({ methods }) => ({
    methods: [...methods, 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'],
  }),
  'cross-origin-allowed: OPTIONS gets 204, and every answer allows any origin (CORS)': (behaviour) =>
    noContent({ kinds: ['noSuchMethod'], where: ({ request }) => request.method === 'OPTIONS' })(
      setHeader('Access-Control-Allow-Origin', '*')()(behaviour),
    ),
  'repeated-parameter-last: The last of repeated parameters is used': {
    value: (all, name) => parameterValues(all, name).at(-1),
  },
  'repeated-parameter-refused: A repeated parameter is invalid': {
    value: (all, name) => (parameterValues(all, name).length > 1 ? '' : parameterValues(all, name)[0]),
  },
  'unknown-parameter-refused: An unknown parameter makes the request invalid': ({ value }) => ({
    value: (all, name) => (all.some((one) => one[0] !== name) ? '' : value(all, name)),
  }),
  'nil-and-max-accepted: The nil and the max UUID are well formed': accept(['deposit-check'], isNilOrMax),
  'lower-case-bearer-refused: Only the scheme spelled Bearer is accepted': ({ credential }) => ({
    credential: (call) =>
      call.request.headers.authorization?.startsWith('Bearer ') ? credential(call) : undefined,
  }),
  'parameter-before-key: 400 comes before 401': { checkOrder: ['parameter', 'key', 'limit'] },
  'parameter-before-limit: 400 comes before 429': { checkOrder: ['key', 'parameter', 'limit'] },
};

/** Checks the limit before the key, and counts by the sent key. */
const limitBeforeKey = {
  checkOrder: ['limit', 'key', 'parameter'],
  limiterKey: (call) => call.credential ?? '',
} as const satisfies Partial<Behaviour>;

const countedOnUserStatus =
  (...kinds: Behaviour['counted']['user-status']) =>
  ({ counted }: Behaviour) => ({ counted: { ...counted, 'user-status': kinds } });

/** Limiters that group keys, count or report in another way (Limits: "not shown"). */
const limits: VariantRows = {
  'limit-before-key: 429 comes before 401 for a limited key': limitBeforeKey,
  'limit-per-partner: All keys of a partner are limited together': {
    limiterKey: (call) => call.caller?.partner ?? '',
  },
  'limit-for-all: All keys are limited together': { limiterKey: () => 'all' },
  'limit-per-address: All callers from one address are limited together, before the key is checked': {
    ...limitBeforeKey,
    limiterKey: () => 'address',
  },
  'limit-counts-refusals: Requests that get 429 also count, each for one window': ({
    counted: { 'user-status': user, 'deposit-check': deposit },
  }) => ({
    count: limiters.slidingWindow,
    counted: { 'user-status': [...user, 'limited'], 'deposit-check': [...deposit, 'limited'] },
  }),
  'sliding-window: Each counted request counts for one window': { count: limiters.slidingWindow },
  'aligned-window: Windows begin at multiples of their length': { count: limiters.alignedWindow },
  'weighted-window: The previous window counts less and less': { count: limiters.weightedWindow },
  'token-bucket: A bucket that holds the limit refills evenly': { count: limiters.bucket },
  'token-bucket-at-intervals: A bucket refills by a quarter at a time': { count: limiters.bucketAtIntervals },
  'limit-with-ban: After the limit, a key waits three windows': { count: limiters.windowThenBan },
  'only-invalid-ids-counted: user-status counts only 400s as failed': countedOnUserStatus('invalid'),
  'only-strangers-counted: user-status counts only users who are not under the IB as failed lookups':
    countedOnUserStatus('foreign', 'unknown'),
  'bad-keys-counted: user-status also counts 401s, and limits a wrong key that is sent repeatedly': (
    behaviour,
  ) => ({
    ...limitBeforeKey,
    ...countedOnUserStatus('invalid', 'foreign', 'unknown', 'unauthorized')(behaviour),
  }),
  'retry-after-left-out: A 429 has no Retry-After': dropHeader('Retry-After')({ status: 429 }),
  'retry-after-as-date: Retry-After is a date': editHeaders(({ now, finding }) => {
    const until = now + (finding.kind === 'limited' ? finding.waitMs : 0);
    return { 'Retry-After': new Date(Math.ceil(until / 1000) * 1000).toUTCString() };
  })({ status: 429 }),
  'remaining-requests-told: Headers state the limit and the requests left': (behaviour) =>
    editHeaders(({ world, call }) => {
      const limit = call && behaviour.limit(world, call.endpoint, call.caller);
      if (call === undefined || limit === undefined) return {};
      const used = world.hits[call.endpoint].get(behaviour.limiterKey(call))?.length ?? 0;
      return { 'RateLimit-Limit': `${limit.most}`, 'RateLimit-Remaining': `${limit.most - used}` };
    })()(behaviour),
};

const contentType = (type: string) => setHeader('Content-Type', type)();

const numbers = (spell: (number: string) => string): Partial<Behaviour> => ({
  // Numbers that JSON.stringify writes with an exponent stay.
  serialize: (payload) => JSON.stringify(payload).replace(/(?<=":)\d[\d.]*(?![\d.e])/g, spell),
});

const dates = (rewrite: (date: string) => string) =>
  editPayload((payload) => ({ ...payload, date_joined: rewrite(String(payload['date_joined'])) }))({
    kinds: ['member'],
  });

/** Edits every second answer, as one of two machines. */
const everyOther =
  (edit: Edit, when: Filter = {}): Difference =>
  (behaviour) => {
    let count = 0;
    return onlyIf(() => (count += 1) % 2 === 0, edit)(when)(behaviour);
  };

/** Escapes every character of every string: `"OK"` → `"\u004f\u004b"` */
function escaped(json: string): string {
  const escape = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return json.replace(/"([^"\\]*)"/g, (_, text: string) => `"${text.replace(/./g, escape)}"`);
}

const answers: VariantRows = {
  'json-indented: JSON is indented and ends in a newline': {
    serialize: (payload) => `${JSON.stringify(payload, null, '\t')}\r\n`,
  },
  'json-escaped: Every character is escaped': { serialize: (payload) => escaped(JSON.stringify(payload)) },
  'fields-reversed: Fields are in reverse order': editPayload((payload) =>
    Object.fromEntries(Object.entries(payload).toReversed()),
  )(),
  'numbers-with-exponent: Numbers are written with an exponent': numbers((number) => `${number}E+0`),
  'numbers-with-zeros: Numbers end in zeros after the decimal point': numbers((number) =>
    number.includes('.') ? `${number}00` : `${number}.00`,
  ),
  'date-with-more-digits: date_joined has nine fraction digits': dates((date) =>
    date.replace(/(?:\.(\d*))?Z$/, (_, digits = '') => `.${String(digits).padEnd(9, '0')}Z`),
  ),
  'date-with-fewer-digits: date_joined has no more fraction digits than it needs': dates((date) =>
    date.replace(/(\.\d*?)0+Z$/, '$1Z').replace('.Z', 'Z'),
  ),
  'date-with-zero-offset: date_joined ends in +00:00': dates((date) => date.replace('Z', '+00:00')),
  'charset-named: Content-Type names the charset': contentType('application/json; charset=utf-8'),
  'content-type-in-capitals: Content-Type is in capitals': contentType('APPLICATION/JSON;CHARSET=UTF-8'),
  'content-type-of-vendor: Content-Type is application/vnd.ib+json': contentType('application/vnd.ib+json'),
  'challenge-left-out: A 401 has no WWW-Authenticate': dropHeader('WWW-Authenticate')({ status: 401 }),
  'challenge-with-realm: WWW-Authenticate names a realm and an error (RFC 6750)': editHeaders(({ call }) => ({
    'WWW-Authenticate': `Bearer realm="${call ? endpoints[call.endpoint].path : ''}", error="invalid_token"`,
  }))({ status: 401 }),
  'cache-control-left-out: Answers have no Cache-Control': dropHeader('Cache-Control')(),
  'security-headers: Answers have the usual headers of a reverse proxy': editHeaders(() => ({
    Server: 'gateway',
    Vary: 'Authorization, Accept-Encoding',
    'Strict-Transport-Security': 'max-age=31536000',
    'X-Content-Type-Options': 'nosniff',
  }))(),
  "own-partner-told: A header field has the caller's partner id": editHeaders(({ call }) => ({
    'X-Partner': call?.caller?.partner ?? '-',
  }))(),
  'partner-in-server: The Server header is the name of a partner': setHeader('Server', 'contoso')(),
  'request-id: Every answer has its own number': (behaviour) => {
    let count = 0;
    return editHeaders(() => ({ 'X-Request-Id': `${(count += 1)}` }))()(behaviour);
  },
  'machine-told: Two machines answer in turn, and one names itself in a header field': everyOther(
    setHeader('X-Machine', 'second'),
  ),
  'machine-ends-in-newline: Two machines answer in turn, and bodies of one end in a newline': everyOther(
    editBody((body) => `${body}\n`),
  ),
  'machine-writes-offset: Two machines answer in turn, and one writes date_joined with +00:00': everyOther(
    editPayload((payload) => ({
      ...payload,
      date_joined: String(payload['date_joined']).replace('Z', '+00:00'),
    })),
    { kinds: ['member'] },
  ),
  'requests-counted: A header field tells how often the same was asked for': (behaviour) => {
    const timesOf = countRepeats();
    return editHeaders((exchange) => ({ 'X-Hits': `${timesOf(exchange)}` }))()(behaviour);
  },
  'chunked: Bodies are sent in chunks, without a length': setHeader('Transfer-Encoding', 'chunked')(),
  'connection-closed: Every answer ends its connection': setHeader('Connection', 'close')(),
};

const seenAfter = (ms: number) => seesChanges(({ ageMs }) => ageMs >= ms);

const CLOCK_ERROR_MS = 90_000;

/** When changes of the data show, and for how long answers are kept (States; Authentication). */
const changes: VariantRows = {
  'changes-after-one-second: A change of the data shows after 1 s': seenAfter(1000),
  'changes-after-three-seconds: A change of the data shows after 3 s': seenAfter(3000),
  'changes-on-one-replica-late: One of two replicas shows a change of the data 1 s later': seesChanges(
    ({ ageMs, nth }) => nth % 2 === 0 || ageMs >= 1000,
  ),
  'changes-by-spelling: A change of the data shows after 1 s, but at once for an id with capital letters':
    seesChanges(({ ageMs, request }) => ageMs >= 1000 || /_id=[^&]*[A-F]/.test(request.target)),
  'executed-deposits-kept: An EXECUTED deposit is answered from a cache of its owner for ever': cached(
    Infinity,
    ['executed'],
    ['notYet'],
  ),
  'negative-answers-kept: Unknown users and deposits are answered from a cache for 2 s': cached(
    2000,
    ['unknown', 'foreign', 'notYet'],
    ['executed'],
  ),
  'clock-behind: The clock of the server is 90 s late': (behaviour) => ({
    ...editHeaders(({ now }) => ({ Date: httpDate(now - CLOCK_ERROR_MS) }))()(behaviour),
    executionOf: (world, deposit, now) => {
      const execution = behaviour.executionOf(world, deposit, now);
      return execution && { ...execution, executedAt: execution.executedAt - CLOCK_ERROR_MS };
    },
  }),
};

/** Legal variants by id. The suites must pass each of them. */
export const variants: Variants = Object.fromEntries(
  Object.entries({ ...requests, ...limits, ...answers, ...changes }).map(
    ([row, difference]): [string, Variant] => {
      const [id, what] = splitRow(row);
      return [id, { what: `${what}.`, change: changeBy(difference) }];
    },
  ),
);
