import { endpoints, messageOf, perEndpoint, otherThan, type Endpoint } from '../../schemas/endpoints.ts';
import * as d from './deviate.ts';
import { inFrontFaults, normalizers } from './in-front.ts';
import { answer, body, crash, error, field, fields, header, json, on, opened, read, set } from './deviate.ts';
import type { Exchange, HttpRequest, HttpResponse } from '../server/exchange.ts';
import { decodeText, isValidId, splitTarget } from '../server/handler.ts';
import { lookUp, partnerOf, valuesOf } from '../server/world.ts';
import type { ApiKey, Deposit, Execution, Limit, World } from '../server/world.ts';

const mapped = <Value>(
  rows: Readonly<Record<string, Value>>,
  make: (name: string, value: Value) => d.Changes,
): d.Changes =>
  Object.assign({}, ...Object.entries(rows).map(([name, value]) => make(name, value))) as d.Changes;
const each = (make: (endpoint: Endpoint) => d.Changes): d.Changes =>
  Object.assign({}, ...Object.values(perEndpoint(make))) as d.Changes;

const noUser = answer(200, { is_under_ib: false, date_joined: null });
const noDeposit = error(404, 'Deposit not found');
const executed = (status = 'EXECUTED', more = {}) =>
  answer(200, { status, amountInUsd: 1, executedAt: 1_700_000_000_000, ...more });
/** The answer about an EXECUTED deposit. */
const shownAs = ({ amountInUsd, executedAt }: Execution) => ({
  status: 200,
  body: JSON.stringify({ status: 'EXECUTED', amountInUsd, executedAt }),
});
const member = { is_under_ib: true, date_joined: '2024-01-01T00:00:00Z' };

const isFirst = ({ call, world }: Exchange) => call?.caller?.partner === d.firstPartner(world);
const isOther = (exchange: Exchange) => !isFirst(exchange);
const isLastMember = ({ world, finding }: Exchange) =>
  'user' in finding &&
  finding.user === valuesOf(world.users).findLast(({ partner }) => partner === d.firstPartner(world));
const hasDeposit = ({ world, finding }: Exchange) =>
  'user' in finding && valuesOf(world.deposits).some(({ user_id }) => user_id === finding.user.user_id);
const isLastDeposit = ({ world, finding, call }: Exchange) => {
  const isTheirs = (one: Deposit) =>
    one.state === 'EXECUTED' && partnerOf(world, one) === call?.caller?.partner;
  return 'deposit' in finding && finding.deposit === valuesOf(world.deposits).findLast(isTheirs);
};

const shift = (text: string, ms: number) => new Date(Date.parse(text) + ms).toISOString();
const date = (edit: (text: string) => unknown) => on('member', field('date_joined', edit));
const amount = (edit: (usd: number) => unknown) => on('executed', field('amountInUsd', edit));
const time = (edit: (ms: number) => unknown) => on('executed', field('executedAt', edit));
/** Edits from the third request on with the same target and header fields. */
const third = (edit: d.Edit, kind: 'member' | 'executed' | 'unknown', endpoint: Endpoint) =>
  d.remembering(() => {
    const timesOf = d.counter(d.sameRequest);
    return on(kind, endpoint, (exchange) => timesOf(exchange) > 2, edit);
  });

/** Wrong answers about members and EXECUTED deposits. */
const valid: d.Changes = {
  'member-denied: A member gets is_under_ib false': on('member', fields({ is_under_ib: false })),
  'member-as-text: A member gets the text "true" in is_under_ib': on(
    'member',
    fields({ is_under_ib: 'true' }),
  ),
  "last-member-denied: The last member of the first partner's IB is not found": on(
    'member',
    isLastMember,
    noUser,
  ),
  'member-without-deposits-denied': on('member', (one) => !hasDeposit(one), noUser),
  'date-field-in-camel-case': on('member', d.renamed('date_joined', 'dateJoined')),
  'date-field-left-out': on('member', d.leftOut('date_joined')),
  'member-with-third-field': on('member', fields({ tier: 'gold' })),
  'third-lookup-denied': third(noUser, 'member', 'user-status'),
  'date-one-ms-late': date((text) => shift(text, 1)),
  'date-day-and-month-swapped': date((text) => text.replace(/-(\d\d)-(0\d|1[0-2])T/, '-$2-$1T')),
  'date-two-hours-late: date_joined is the local time of a zone': date((text) => shift(text, 7_200_000)),
  'date-cut-to-seconds: date_joined has no milliseconds': date((text) => text.replace(/\.\d+/, '')),
  'date-in-twelve-hours: date_joined has hours from 1 to 12': date((text) =>
    text.replace(/T(\d\d)/, (_, hour) => `T${String(Number(hour) % 12 || 12).padStart(2, '0')}`),
  ),
  'date-null: date_joined of a member is null': date(() => null),
  'date-naive: date_joined has no time zone': date((text) => text.replace('Z', '')),
  'date-with-local-offset': date((text) => shift(text, 19_800_000).replace('Z', '+05:30')),
  'date-epoch-number: date_joined is a number of milliseconds': date((text) => Date.parse(text)),
  'date-basic-format': date((text) => text.replaceAll(/[-:]/g, '')),
  'date-decimal-comma': date((text) => text.replace('.', ',')),
  'last-executed-not-found': on('executed', isFirst, isLastDeposit, noDeposit),
  'third-check-not-found': third(noDeposit, 'executed', 'deposit-check'),
  'third-404-has-own-message': third(error(404, 'Not found'), 'unknown', 'deposit-check'),
  'time-left-out': on('executed', d.leftOut('executedAt')),
  'amount-in-snake-case': on('executed', d.renamed('amountInUsd', 'amount_in_usd')),
  'time-in-snake-case': on('executed', d.renamed('executedAt', 'executed_at')),
  'executed-with-fourth-field': on('executed', fields({ currency: 'USD' })),
  'amount-in-cents: amountInUsd is in cents': amount((usd) => Math.round(usd * 100)),
  'amount-as-text: amountInUsd is a text': amount(String),
  'amount-cut-to-dollars: amountInUsd is cut to whole dollars': amount(Math.trunc),
  'amount-in-32-bits: amountInUsd has the precision of a 32-bit float': amount(Math.fround),
  'amount-capped: amountInUsd is at most 9,999,999.99': amount((usd) => Math.min(usd, 9_999_999.99)),
  'last-amount-wrong': on('executed', isFirst, isLastDeposit, fields({ amountInUsd: 999_999.99 })),
  'last-of-others-amount-wrong': on('executed', isOther, isLastDeposit, fields({ amountInUsd: 999_999.99 })),
  'last-of-others-not-found': on('executed', isOther, isLastDeposit, noDeposit),
  'time-in-seconds: executedAt is in seconds': time((ms) => Math.trunc(ms / 1000)),
  'time-cut-to-seconds: executedAt has no milliseconds': time((ms) => ms - (ms % 1000)),
  'time-as-iso-text: executedAt is an ISO 8601 text': time((ms) => new Date(ms).toISOString()),
  'last-time-wrong': on('executed', isFirst, isLastDeposit, fields({ executedAt: 1.6e12 })),
  ...each((endpoint) => {
    const [thing, name] = [endpoint.split('-')[0], endpoints[endpoint].parameter.replace('_', '-')];
    const encoded = (request: HttpRequest) => ({ ...request, target: request.target.replaceAll('%', '%25') });
    return {
      [`upper-case-${thing}-unknown`]: d.misread(/[A-F]/, d.NOBODY, endpoint),
      [`${name}-read-as-number: An id that begins like 1e500000 is read as that number`]: d.misread(
        /^\d+e\d/i,
        d.NOBODY,
        endpoint,
      ),
      [`${name}-not-decoded`]: read((request) =>
        d.endpointIn(request) === endpoint ? encoded(request) : undefined,
      ),
      [`name-of-${name}-not-decoded: The name of the parameter is read as it is written`]: read((request) => {
        const isMeant = d.endpointIn(request) === endpoint && request.target.includes('%5F');
        return isMeant ? { ...request, target: request.target.replace('%5F', '%255F') } : undefined;
      }),
    };
  }),
  'upper-case-refused': d.misread(/[A-F]/, 'refused'),
  'mixed-case-refused': d.misread(/[A-F].*[a-f]|[a-f].*[A-F]/, 'refused'),
  'reference-id-up-to-version-5': d.misread(/^.{14}[678]/, 'refused', 'deposit-check'),
  'reference-id-of-version-4-only': d.misread(/^.{14}[^4]/, 'refused', 'deposit-check'),
  'labelled-as-html': on(header('Content-Type', 'text/html; charset=utf-8')),
  'labelled-as-text-json': on(header('Content-Type', 'text/json')),
  'not-labelled': on(d.without('Content-Type')),
  'body-cut-short': on(body((text) => text.slice(0, -1))),
};

const otherKey = ({ world, call }: Exchange) =>
  valuesOf(world.keys).find(({ partner }) => partner !== null && partner !== call?.caller?.partner);
const userOf = ({ finding }: Exchange) => ('deposit' in finding ? finding.deposit.user_id : '-');

/** Data in places where none belong, and answers that depend on header fields. */
const headerFields: d.Changes = {
  'partner-in-header: A header field gives members the id of another partner': on(
    'member',
    header('X-Partner', (one) => otherKey(one)?.partner ?? '-'),
  ),
  'member-named-in-header': on('member', header('X-User', 'Jane Doe')),
  'user-in-header: A header field gives the user of a deposit': on('executed', header('X-User', userOf)),
  'key-in-header: A header field gives a key to callers without one': on(
    'unauthorized',
    header('X-Expected-Key', ({ world }) => valuesOf(world.keys)[0]?.key ?? '-'),
  ),
  'not-found-translated: The message for an unknown deposit is translated for Accept-Language: de': on(
    'deposit-check',
    'unknown',
    d.hasField('accept-language', /\bde\b/),
    error(404, 'Einzahlung nicht gefunden'),
  ),
  'member-unseen-in-capitals: The field name AUTHORIZATION is not read for a member': on(
    'member',
    ({ request }) => request.rawHeaders?.includes('AUTHORIZATION') === true,
    error(401, 'Unauthorized'),
  ),
  'not-found-in-chinese: The message for an unknown deposit is translated if Chinese comes first': on(
    'deposit-check',
    'unknown',
    d.hasField('accept-language', /^zh\b/),
    error(404, '未找到存款'),
  ),
  'no-cache-crashes: Cache-Control: no-cache crashes the lookup of a member': on(
    'member',
    d.hasField('cache-control', /no-cache/),
    crash,
  ),
};

const bodies: Readonly<Record<string, (message: string) => unknown>> = {
  'field-called-message': (message) => ({ message }),
  'field-called-detail': (title) => ({ title, status: 400 }),
  'with-second-field': (message) => ({ error: message, code: 'E1' }),
  'with-null-field': (message) => ({ error: message, data: null }),
  nested: (message) => ({ error: { message } }),
  'with-list': (message) => ({ error: [message] }),
  'in-list': (message) => [{ error: message }],
  'as-bare-text': (message) => message,
  'encoded-twice': (message) => JSON.stringify({ error: message }),
};
const texts: Readonly<Record<string, (message: string) => string>> = {
  'as-plain-text': (text) => text,
  'as-html': (text) => `<html><body><h1>${text}</h1></body></html>`,
  empty: () => '',
  'in-single-quotes': (text) => `{'error': '${text}'}`,
  'with-trailing-comma': (text) => `{"error": "${text}",}`,
};
const misspellings: Readonly<Record<string, (message: string) => string>> = {
  'with-letter-doubled': (text) => text.slice(0, 2) + text.slice(1),
  'in-other-case': (text) => (text === text.toUpperCase() ? text.toLowerCase() : text.toUpperCase()),
  'with-other-end': (text) => (text.endsWith('.') ? text.slice(0, -1) : `${text}.`),
  'with-space-behind': (text) => `${text} `,
};
const wrongStatuses: Readonly<Record<Endpoint, Readonly<Record<number, readonly number[]>>>> = {
  'user-status': { 400: [422, 200], 401: [403, 400], 429: [503, 403] },
  'deposit-check': { 400: [422, 404], 401: [403, 200], 404: [200, 410], 429: [503, 400] },
};

/** Errors with a wrong message, body or status. */
const errors = each((endpoint) => {
  const other = otherThan(endpoint);
  const everyError = (edit: (message: string) => d.Edit) =>
    on(endpoint, (response, exchange) => {
      const message = messageOf(endpoint, response.status);
      return message === undefined ? {} : edit(message)(response, exchange);
    });
  return {
    ...mapped(bodies, (how, make) => ({
      [`${endpoint}-errors-${how}`]: everyError((message) => json(() => make(message))),
    })),
    ...mapped(texts, (how, write) => ({
      [`${endpoint}-errors-${how}`]: everyError((message) => body(() => write(message))),
    })),
    ...mapped(endpoints[endpoint].messages, (name, message) => {
      const code = Number(name);
      const foreign = messageOf(other, code);
      const wrong = wrongStatuses[endpoint][code] ?? [];
      return {
        ...mapped(misspellings, (how, spell) => ({
          [`${endpoint}-${name}-${how}`]: on(endpoint, code, error(code, spell(message))),
        })),
        ...(foreign && { [`${endpoint}-${name}-of-${other}`]: on(endpoint, code, error(code, foreign)) }),
        ...Object.fromEntries(
          wrong.map((one) => [`${endpoint}-${one}-for-${name}`, on(endpoint, code, d.status(one))]),
        ),
      };
    }),
  };
});

const idIn = (target: string) => /_id=([^&]*)/.exec(target)?.[1] ?? '';
/** The partner of the user or deposit that a request asks for; undefined: there is none. */
const ownerOf = ({ target }: HttpRequest, world: World) => {
  const asked = idIn(target).toLowerCase();
  const deposit = lookUp(world.deposits, asked);
  return deposit === undefined ? lookUp(world.users, asked)?.partner : partnerOf(world, deposit);
};
/** Answers a caller as if another partner asked. */
const asPartner = (
  partnerIn: (request: HttpRequest, world: World) => string | null | undefined,
  only?: Endpoint,
) =>
  d.asKey((request, world) => {
    const key = d.knownKey(request, world);
    if (key?.state !== 'active' || key.partner === null) return undefined;
    if (only !== undefined && only !== d.endpointIn(request)) return undefined;
    const partner = partnerIn(request, world);
    return partner && partner !== key.partner ? { ...key, partner } : undefined;
  });
const isNearMiss = ({ world, call }: Exchange) =>
  [
    ...valuesOf(world.users).map((one) => one.user_id),
    ...valuesOf(world.deposits).map((one) => one.reference_id),
  ].some((known) => known.slice(0, -1) === call?.value?.toLowerCase().slice(0, -1));
const isUpper = ({ call }: Exchange) => call?.value !== call?.value?.toLowerCase();
const isOfNoIb = ({ finding, world }: Exchange) =>
  finding.kind === 'foreign' &&
  ('user' in finding ? finding.user.partner : partnerOf(world, finding.deposit)) === null;
const stranger = ['foreign', 'unknown'] as const;
const thirdField = fields({ reason: 'not under this IB' });

/** Wrong answers about unknown data, and data of other IBs. */
const foreignIb: d.Changes = {
  'foreign-user-with-404': on('user-status', 'foreign', d.status(404)),
  'foreign-user-with-403': on('user-status', 'foreign', error(403, 'Forbidden')),
  'foreign-user-in-upper-case-is-member': on('user-status', 'foreign', isFirst, isUpper, fields(member)),
  'user-of-no-ib-is-member': on('user-status', isOfNoIb, fields(member)),
  'unknown-user-with-404': on('user-status', 'unknown', error(404, 'User not found')),
  'unknown-user-is-member': on('user-status', 'unknown', fields({ is_under_ib: true })),
  'unknown-user-in-last-digit-is-member: An unknown user is a member if only the last digit differs from a known id':
    on('user-status', 'unknown', isNearMiss, fields(member)),
  'stranger-without-date': on('user-status', stranger, d.leftOut('date_joined')),
  'stranger-with-third-field': on('user-status', stranger, thirdField),
  'foreign-user-with-third-field': on('user-status', 'foreign', thirdField),
  'foreign-deposit-with-403': on('deposit-check', 'foreign', d.status(403)),
  'foreign-deposit-in-upper-case-visible': on('deposit-check', 'foreign', isFirst, isUpper, executed()),
  'unknown-deposit-with-200': on('deposit-check', 'unknown', d.status(200)),
  'unknown-deposit-with-204': on('deposit-check', 'unknown', d.noContent),
  'unknown-deposit-in-last-digit-visible: An unknown deposit is shown if only the last digit differs from a known id':
    on('deposit-check', 'unknown', isNearMiss, executed()),
  'foreign-user-told-by-header': on('user-status', 'unknown', header('X-Cache', 'MISS')),
  'foreign-user-told-by-space': on('user-status', 'foreign', d.withNewline),
  'foreign-user-told-by-field-order': on(
    'user-status',
    'foreign',
    json(({ is_under_ib, ...others }) => ({ ...others, is_under_ib })),
  ),
  'foreign-deposit-told-by-header': on('deposit-check', 'foreign', header('Cache-Control', 'private')),
  'foreign-deposit-told-by-space': on(
    'deposit-check',
    'foreign',
    body((text) => text.replace(':', ': ')),
  ),
  'foreign-told-by-charset': on('foreign', header('Content-Type', 'application/json; charset=utf-8')),
  'foreign-user-is-member: A user of another IB is shown': asPartner(ownerOf, 'user-status'),
  'foreign-deposit-visible: A deposit of another IB is shown': asPartner(ownerOf, 'deposit-check'),
  'deposit-of-no-ib-visible': on('deposit-check', isOfNoIb, executed()),
  'first-partner-for-users: user-status treats every key as one of the first partner': asPartner(
    (_, world) => d.firstPartner(world),
    'user-status',
  ),
  'first-partner-for-deposits: deposit-check treats every key as one of the first partner': asPartner(
    (_, world) => d.firstPartner(world),
    'deposit-check',
  ),
  'partner-in-query: The parameter partner_id is taken for the partner of the key': asPartner(
    ({ target }) => /[?&]partner_id=([^&]*)/.exec(target)?.[1],
  ),
  'partner-in-cookie: The cookie partner_id is taken for the partner of the key': asPartner(
    (request) => /\bpartner_id=([^;]+)/.exec(request.headers.cookie ?? '')?.[1],
  ),
};

const hasState = (state: 'pending' | 'failed') => (exchange: Exchange) =>
  exchange.finding.kind === 'notYet' && exchange.finding.deposit.state === state;
const [isPending, isFailed] = [hasState('pending'), hasState('failed')];
const willBecome = ({ finding }: Exchange) =>
  finding.kind === 'notYet' && finding.deposit.state === 'pending' && finding.deposit.becomes !== undefined;

/** Wrong answers about pending and failed deposits. */
const pending: d.Changes = {
  'pending-with-200': on(isPending, executed('PENDING', { executedAt: 0 })),
  'pending-as-executed: A pending deposit is shown as EXECUTED': on(isPending, executed()),
  'pending-with-202': on(isPending, d.status(202)),
  'failed-with-200': on(isFailed, executed('FAILED', { executedAt: 0 })),
  'failed-with-410': on(isFailed, d.status(410)),
  'failed-has-own-message': on(isFailed, error(404, 'Deposit failed')),
  'pending-told-by-header': on(isPending, header('Retry-After', '5')),
  'pending-told-by-space': on(isPending, d.withNewline),
  'failed-told-by-header': on(isFailed, header('X-Deposit-State', 'failed')),
  'never-becomes-executed: A deposit that was seen pending stays pending for ever': on(
    d.isBecoming,
    noDeposit,
  ),
  'executed-at-once: A deposit that will be EXECUTED is shown so from the first request on': on(
    willBecome,
    executed(),
  ),
  'becomes-executed-without-amount': on(d.isBecoming, fields({ amountInUsd: 0 })),
};

const fieldLike = (test: (key: string, field: string) => boolean, only?: Endpoint) =>
  opened((key, request) => test(key, request.headers.authorization ?? ''), only);
const keyLike = (test: (key: string, sent: string) => boolean) =>
  opened((key, _, sent) => sent !== undefined && test(key, sent));
const forbidden = d.page('<title>Forbidden</title>', 403);
const inBasic = (key: string, text: string) => {
  const token = /^basic +(\S+)$/i.exec(text)?.[1] ?? '';
  return token !== '' && (token === key || Buffer.from(token, 'base64').toString().split(':').includes(key));
};
const inTwoParts = (key: string, text: string) => {
  const parts = text.replace(/^bearer /i, '').split(/\s+/);
  return parts.length > 1 && (parts.includes(key) || parts.join('') === key);
};
const inQuery = (key: string, { target }: HttpRequest) =>
  new RegExp(`&[^=]*=[^&]*${key}`).test(target.replace('?', '&').replace(/&(?:user|reference)_id=[^&]*/, ''));
const inOwnHeader = (key: string, request: HttpRequest) =>
  ['x-api-key', 'api-key', 'x-auth-token'].some((name) => request.headers[name]?.includes(key));
const isLowerBearer = (request: HttpRequest) => request.headers.authorization?.startsWith('bearer ') === true;

/** Requests that are accepted without a known, active key. */
const auth: d.Changes = {
  ...each((endpoint) => {
    const isHere = (request: HttpRequest) => d.endpointIn(request) === endpoint;
    const whose = (test: (key: ApiKey) => boolean) =>
      d.accepted((key, request) => isHere(request) && test(key));
    return {
      [`${endpoint}-open-without-key`]: opened(
        (_, { headers: sent }) => sent.authorization === undefined,
        endpoint,
      ),
      [`any-key-on-${endpoint}`]: opened((_key, _request, sent) => sent !== undefined, endpoint),
      [`key-in-query-of-${endpoint}`]: opened(inQuery, endpoint),
      [`revoked-key-on-${endpoint}`]: whose(({ state }) => state === 'revoked'),
      [`expired-key-on-${endpoint}`]: whose(({ state }) => state === 'expired'),
      [`other-account-on-${endpoint}`]: whose(({ partner, state }) => partner === null && state === 'active'),
      [`revocation-unnoticed-on-${endpoint}`]: d.sees(({ of, request }) => of !== 'key' || !isHere(request)),
    };
  }),
  'basic-accepted: The key is accepted in the scheme Basic': fieldLike(inBasic),
  'any-scheme-on-user-status': fieldLike((key, text) => /^\S+ (\S+)$/.exec(text)?.[1] === key, 'user-status'),
  'no-scheme-on-deposit-check': fieldLike((key, text) => text === key, 'deposit-check'),
  'empty-token-accepted': fieldLike((_, text) => /^bearer *$/i.test(text)),
  'key-in-two-parts-accepted': fieldLike(inTwoParts),
  'key-trimmed: Quotation marks and white space around a key are trimmed': fieldLike(
    (key, text) => /^bearer[\s"']+([^\s"']+)[\s"']*$/i.exec(text)?.[1] === key,
  ),
  'key-prefix-accepted': keyLike((key, text) => key.startsWith(text)),
  'key-case-ignored': keyLike((key, text) => key.toLowerCase() === text.toLowerCase()),
  'revoked-key-after-bearer: A revoked key is accepted after the scheme bearer in lower case': d.accepted(
    ({ state }, request) => state === 'revoked' && isLowerBearer(request),
  ),
  'expired-key-after-bearer: An expired key is accepted after the scheme bearer in lower case': d.accepted(
    ({ state }, request) => state === 'expired' && isLowerBearer(request),
  ),
  'long-key-crashes: A key of more than 255 characters crashes': on(
    d.hasField('authorization', /^Bearer .{256}/i),
    crash,
  ),
  'long-key-accepted: A key of more than 2,048 characters is not looked up': opened(
    (_key, _request, sent = '') => sent.length > 2048,
  ),
  'key-in-cookie': opened((key, request) => request.headers.cookie?.includes(key) === true),
  'key-in-x-api-key': opened(inOwnHeader),
};

const HEX = '[0-9a-f]';
/** Accepts ids by a changed pattern. */
const pattern = (from: string, to: string, only?: Endpoint) =>
  d.wellFormed((value, endpoint) => {
    const right = `^${HEX}{8}-${HEX}{4}-[${endpoints[endpoint].versions}]${HEX}{3}-[89ab]${HEX}{3}-${HEX}{12}$`;
    return new RegExp(
      right.replaceAll(from, () => to),
      'i',
    ).test(value);
  }, only);
const hyphenated = (value: string) => value.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
/** Reads each group as a number, as Guid.TryParseExact of .NET does. */
const asNumbers = (value: string) =>
  value.replace(/^(.{8})-(.{4})-(.{4})-(.{4})-(.{12})$/s, (_, ...groups: string[]) =>
    groups
      .slice(0, 5)
      .map((group) => {
        const digits = /^(?:0x|[+-])?([\da-f]+)[\0 \t]*$/i.exec(group)?.[1];
        return digits?.padStart(group.length, '0') ?? group;
      })
      .join('-'),
  );
const queryOf = ({ request }: Exchange) => splitTarget(request.target).query;
const hasArray = ({ call }: Exchange) => call?.parameters.some(([name]) => name.includes('[')) === true;
const isLong = (exchange: Exchange) => queryOf(exchange).length > 4000;
const isBroken = (one: Exchange) => queryOf(one).includes('%') && decodeText(queryOf(one)) === queryOf(one);

/** Ids that the server wrongly accepts or refuses, or that end the connection. */
const invalidUuid: d.Changes = {
  ...each((endpoint) => {
    const { parameter } = endpoints[endpoint];
    const name = parameter.replace('_', '-');
    const isMissing = ({ call }: Exchange) => call !== undefined && call.value === undefined;
    return {
      [`missing-${name}-unknown`]: d.id((value) => (value === undefined ? d.NOBODY : undefined), endpoint),
      [`empty-${name}-unknown`]: d.id((value) => (value === '' ? d.NOBODY : undefined), endpoint),
      [`missing-${name}-has-own-message`]: on(endpoint, 400, isMissing, error(400, `Missing ${parameter}`)),
    };
  }),
  'empty-is-422': on(400, ({ call }) => call?.value === '', d.status(422)),
  'dollar-before-newline: The pattern of an id allows a newline at its end': pattern('$', '\\n?$'),
  'any-letter-accepted: Any letter is accepted as a hexadecimal digit': pattern(HEX, '[0-9a-z]'),
  'groups-read-as-numbers: A sign, a prefix or fillers may stand for digits of a group': d.cleaned(asNumbers),
  'dot-for-hyphen: The pattern of an id has a dot in place of a hyphen': pattern('{8}-', '{8}.'),
  'g-in-first-group-of-user-id': pattern('f]{8}', 'g]{8}', 'user-status'),
  'g-in-last-group-of-reference-id': pattern('f]{12}', 'g]{12}', 'deposit-check'),
  'last-group-too-short: The last group of reference_id may lack a digit': pattern(
    '{12}',
    '{11}',
    'deposit-check',
  ),
  'any-variant-accepted: Wrong variant bits are accepted': pattern('[89ab]', HEX),
  'bare-hex-user-id: A user_id without hyphens is accepted': d.cleaned(hyphenated, 'user-status'),
  'bare-hex-reference-id: A reference_id without hyphens is accepted': d.cleaned(hyphenated, 'deposit-check'),
  'any-version-of-user-id': pattern('[4]', '[1-8]', 'user-status'),
  'version-7-of-user-id': pattern('[4]', '7', 'user-status'),
  'nul-ends-text: A NUL ends the id, as in C': d.cleaned((value) => value.replace(/\0.*$/s, '')),
  'spaces-trimmed': d.cleaned((value) => value.replaceAll(/^ +| +$/g, '')),
  'braces-accepted': d.cleaned((value) => value.replace(/^\{(.*)\}$/s, '$1')),
  'urn-accepted: An id after urn:uuid: is accepted': d.cleaned((value) => value.replace(/^urn:uuid:/i, '')),
  'semicolon-read-as-ampersand: A semicolon separates parameters': read((request) => {
    const { path, query } = splitTarget(request.target);
    return query.includes(';') ? { ...request, target: `${path}?${query.replaceAll(';', '&')}` } : undefined;
  }),
  'array-read-as-unknown-user: user_id[] gets 200': on('user-status', 400, hasArray, noUser),
  'array-crashes: An array parameter crashes': on(hasArray, crash),
  'long-user-id-drops-connection': on('user-status', isLong, d.reset),
  'broken-reference-id-drops-connection': on('deposit-check', isBroken, d.reset),
};

/** Changes the limit of an endpoint. */
const limit = (which: Endpoint, edit: (limit: Limit) => Limit | undefined) =>
  set((from) => ({
    limit: (world, endpoint, key) => {
      const found = from.limit(world, endpoint, key);
      return found === undefined || endpoint !== which ? found : edit(found);
    },
  }));
/** Counts some forms of a request apart. */
const apart = (test: (request: HttpRequest) => boolean) =>
  set(({ limiterKey }) => ({
    limiterKey: (call, world) => `${limiterKey(call, world)}${test(call.request) ? ' other' : ''}`,
  }));
const firstAfterLimitEmpty = d.remembering(() => {
  const wasLimited = new Set<string>();
  return on(
    ({ call }) => call?.caller !== undefined,
    (_, { call, finding }) => {
      const name = `${call?.endpoint} ${call?.caller?.key}`;
      if (finding.kind === 'limited') wasLimited.add(name);
      else if (wasLimited.delete(name)) return { status: 200, body: '{}' };
      return {};
    },
  );
});

/** Limiters that are missing, count the wrong requests, or end too early or never. */
const rateLimit: d.Changes = {
  'limit-for-all: All keys are limited together': set({ limiterKey: () => 'all' }),
  'limit-per-address: All callers from one address are limited together, before the key is checked': set({
    checkOrder: ['limit', 'key', 'id'],
    limiterKey: () => 'address',
  }),
  ...each((endpoint) => ({
    [`${endpoint}-without-limiter`]: limit(endpoint, () => undefined),
    [`${endpoint}-limit-tenfold`]: limit(endpoint, (one) => ({ ...one, most: one.most * 10 })),
    [`${endpoint}-lets-every-fourth-pass`]: d.around((next) => {
      let calls = 0;
      return (world, request, now) => {
        const isSpared = d.endpointIn(request) === endpoint && ++calls % 4 === 0;
        const hits = isSpared ? { ...world.hits, [endpoint]: new Map() } : world.hits;
        return next({ ...world, hits }, request, now);
      };
    }),
    [`${endpoint}-limited-once`]: on(endpoint, 'limited', (_, { world }) => {
      world.hits[endpoint].clear();
      return {};
    }),
    [`${endpoint}-never-lets-go`]: limit(endpoint, (one) => ({ ...one, windowMs: one.windowMs * 1e12 })),
    [`${endpoint}-429-with-second-field`]: on(endpoint, 429, fields({ retryAfter: 3 })),
  })),
  'shut-out-after-ten-429s: After ten answers with 429 to a key, it gets 403 for 2 s': d.remembering(() => {
    let refused = { times: 0, until: 0 };
    return on(d.lookups, (response, exchange) => {
      const { now } = exchange;
      if (now < refused.until) return forbidden(response, exchange);
      if (response.status === 429 && ++refused.times % 10 === 0) refused = { times: 0, until: now + 2000 };
      return {};
    });
  }),
  'limited-malformed-id-has-own-message': on(
    429,
    ({ call }) => call !== undefined && !isValidId(call.endpoint, call.value ?? ''),
    error(429, 'Slow down'),
  ),
  'texts-swapped-if-both-limited: With both limits used up, deposit-check has the text of user-status': on(
    'deposit-check',
    429,
    d.hasLimitedKey('user-status'),
    error(429, messageOf('user-status', 429)!),
  ),
  'counted-apart-by-id-case': apart(({ target }) => /[A-F]/.test(idIn(target))),
  'counted-apart-by-query': apart(({ target }) => target.includes('&')),
  'counted-apart-by-scheme': apart(isLowerBearer),
  'first-after-limit-empty: The first answer after a 429 to the same key has no data': firstAfterLimitEmpty,
  'user-status-counts-successes': set(({ counted }) => ({
    counted: { ...counted, 'user-status': [...counted['user-status'], 'member'] },
  })),
  'user-status-counts-invalid-ids-only': set(({ counted }) => ({
    counted: { ...counted, 'user-status': ['invalid'] },
  })),
  'user-status-counts-no-foreign-users': set(({ counted }) => ({
    counted: { ...counted, 'user-status': ['invalid', 'unknown'] },
  })),
  'user-status-count-reset-by-success': on('member', (_, { call, world }) => {
    world.hits['user-status'].delete(call?.caller?.key ?? '');
    return {};
  }),
};

const isMethod = (name: string) => (request: HttpRequest) => request.method === name;
const isAbsolute = ({ target }: HttpRequest) => !target.startsWith('/');
/** Reads a request as a plain one and asks for no key. */
const open = (test: (request: HttpRequest) => boolean, as: Partial<HttpRequest> = {}) =>
  d.all(
    read((request) => (test(request) ? { ...request, ...as } : undefined)),
    opened((_, request) => test(request)),
  );
const openPath = (normalize: (path: string) => string) => {
  const plain = (request: HttpRequest) => d.withPath(request, normalize);
  return d.all(
    read(plain),
    opened((_, request) => plain(request) !== undefined),
  );
};
const dataNamedIn = (name: string) =>
  on('noSuchPath', (_, { request, world }) => {
    const id = idIn(String(request.headers[name] ?? ''));
    const [user, deposit] = [lookUp(world.users, id), lookUp(world.deposits, id)];
    if (user !== undefined)
      return { status: 200, body: JSON.stringify({ is_under_ib: true, date_joined: user.date_joined }) };
    if (deposit?.state !== 'EXECUTED') return {};
    return { status: 200, body: `<executedAt>${deposit.executedAt}</executedAt>` };
  });

const secondUnscoped = on('executed', (_, { call, world }) => {
  const ids = call?.parameters.filter(([name]) => name === 'reference_id') ?? [];
  const last = ids.length > 1 ? lookUp(world.deposits, ids.at(-1)![1].toLowerCase()) : undefined;
  return last?.state === 'EXECUTED' ? shownAs(last) : {};
});

/** Forms of a request that show data without a valid key, or to another partner. */
const waysAround: d.Changes = {
  ...mapped(normalizers, (name, [words, normalize]) => ({
    [`no-key-for-${name}: No key is asked for if the path is ${words}`]: openPath(normalize),
  })),
  'post-open: POST is answered like GET and needs no key': open(isMethod('POST'), { method: 'GET' }),
  'put-open: PUT is answered like GET and needs no key': open(isMethod('PUT'), { method: 'GET' }),
  'patch-open: PATCH is answered like GET and needs no key': open(isMethod('PATCH'), { method: 'GET' }),
  'options-open: OPTIONS is answered like GET and needs no key': open(isMethod('OPTIONS'), { method: 'GET' }),
  'head-open: HEAD needs no key': open(isMethod('HEAD')),
  'absolute-target-open: A URL as target needs no key': open(isAbsolute),
  'absolute-target-any-key: A URL as target shows data with any key': opened(
    (_, request, sent) => isAbsolute(request) && sent !== undefined,
  ),
  'not-modified-for-anyone: The tag of an answer gets 304 whatever the key': d.remembering(() => {
    const given = new Map<string, string>();
    return on((response, { request: { target, headers } }) => {
      const tag = headers['if-none-match'];
      if (tag !== undefined && tag === given.get(target)) return { status: 304, body: '' };
      if (response.status !== 200) return {};
      given.set(target, d.tagOf(response.body));
      return { headers: { ...response.headers, ETag: d.tagOf(response.body) } };
    });
  }),
  'original-url-open: X-Original-URL is answered without a key': dataNamedIn('x-original-url'),
  'second-deposit-unscoped: If reference_id is repeated, the last one is shown to whoever may see the first':
    secondUnscoped,
  'forwarded-host-unscoped: X-Forwarded-Host shows data of every partner': asPartner((request, world) =>
    request.headers['x-forwarded-host'] === undefined ? undefined : ownerOf(request, world),
  ),
};

const seesKey = (isSeen: Parameters<typeof d.sees>[0]) =>
  d.sees((change) => change.of !== 'key' || isSeen(change));
const wasRevoked = ({ world, call }: Exchange) => {
  const revoked = [...world.keys.changed.values()].find(
    ({ key, state }) => state === 'revoked' && world.keys.base.get(key)?.state === 'active',
  );
  return revoked !== undefined && call?.caller !== undefined && call.caller.partner === revoked.partner;
};
/** Shows a deposit that became EXECUTED during the run to others. */
const shownInstead = (kind: 'foreign' | 'unauthorized') =>
  on(kind, (_, { request, world: { deposits } }) => {
    const id = idIn(request.target).toLowerCase();
    const deposit = lookUp(deposits, id);
    if (deposits.base.get(id)?.state !== 'pending' || deposit?.state !== 'EXECUTED') return {};
    return shownAs(deposit);
  });

/** Wrong answers after a change of the data. */
const changes: d.Changes = {
  'revoked-key-accepted-by-two-of-three-nodes': seesKey(({ nth }) => nth % 3 === 0),
  'revoked-key-reads-known-ids: A key that is revoked during the run is refused for unknown ids only':
    seesKey(({ request, world }) => ownerOf(request, world) === undefined),
  'revoked-key-takes-others-along: Revoking a key revokes the other keys of its partner': on(
    wasRevoked,
    d.refused,
  ),
  'executed-deposit-unknown-to-one-of-three-nodes': d.sees(
    ({ of, nth }) => of !== 'deposit' || nth % 3 !== 2,
  ),
  'not-modified-after-execution: The tag of an answer stands for its id, so that it gets 304 for ever': on(
    'deposit-check',
    d.lookups,
    d.tagged(({ request }) => d.tagOf(idIn(request.target))),
  ),
  'executed-deposit-shown-to-all': shownInstead('foreign'),
  'executed-deposit-shown-without-key': shownInstead('unauthorized'),
};

/** With this many other requests in progress, the server mixes up answers. */
const BUSY = 5;
/** The delay lets other requests arrive, also over a network. */
const slow = { delayMs: 20 };
/** Under load, two lookups of the same target may wait for one answer; a third gets that of the second. */
const answersMixedUp = d.remembering(() => {
  let recent: readonly { readonly target: string; readonly waits: boolean }[] = [];
  let last: HttpResponse | undefined;
  return on(['member', 'executed'], (rest, { request: { target, alongside = 0 } }) => {
    const response = { ...rest, ...slow };
    recent = alongside < BUSY ? [] : recent.slice(-Math.min(alongside, BUSY));
    const waits = recent.some((one) => one.target === target);
    const isThird = waits && recent.filter((one) => one.waits).length >= 2;
    recent = [...recent, { target, waits }];
    const given = isThird ? (last ?? response) : response;
    if (waits) last = response;
    return given;
  });
});
/** A lookup waits for the answer to the same target that is in progress, whatever its key. */
const answersShared = d.remembering(() => {
  let recent: readonly { readonly target: string; readonly response: HttpResponse }[] = [];
  return on(
    ({ finding }) => finding.kind !== 'limited',
    (rest, { request: { target, alongside = 0 } }) => {
      recent = alongside === 0 ? [] : recent.slice(-Math.min(alongside, BUSY));
      const response = recent.find((one) => one.target === target)?.response ?? { ...rest, ...slow };
      recent = [...recent, { target, response }];
      return response;
    },
  );
});
const hasMore = ({ call }: Exchange) => (call?.parameters.length ?? 0) > 1;

/** Crashes, and mixed-up answers. */
const robustness: d.Changes = {
  "answers-mixed-up: Concurrent callers of the same lookup get each other's answers": answersMixedUp,
  'answers-shared: Equal URLs in progress get one answer, whatever the key': answersShared,
  'crowd-crashes: A request crashes while more than 24 others are in progress': on(
    ({ request }) => (request.alongside ?? 0) > 24,
    crash,
  ),
  'first-answer-with-503: The first answer is 503': d.remembering(() => {
    let count = 0;
    return on(() => ++count === 1, error(503, 'Service unavailable'));
  }),
  'other-methods-with-500': on('noSuchMethod', d.status(500)),
  'coding-not-offered: Who accepts no coding gets Brotli': on(
    d.hasField('accept-encoding', /^identity$/),
    header('Content-Encoding', 'br'),
  ),
  'library-refused: python-requests gets 403': on(
    d.hasField('user-agent', /python/),
    error(403, 'Forbidden'),
  ),
  'head-crashes': on(({ request }) => isMethod('HEAD')(request), crash),
  'unknown-parameter-crashes': on(hasMore, crash),
};

/** Servers that break the interface, by id. The kill matrix of the self-test says what each of them fails. */
export const faults = d.deviationsOf(
  valid,
  headerFields,
  errors,
  foreignIb,
  pending,
  auth,
  invalidUuid,
  rateLimit,
  waysAround,
  changes,
  robustness,
  inFrontFaults,
);
