import { STATUS_CODES } from 'node:http';
import { endpoints, messageOf, perEndpoint } from '../../schemas/endpoints.ts';
import type { ErrorBody, ExecutedDepositResult, MembershipResult } from '../../schemas/generated/types.ts';
import type { Answered, Call, Exchange, Finding, FindingKind, HttpResponse } from './exchange.ts';
import { partnerOf } from './world.ts';

/** The methods that the endpoints allow; others get 405. */
export const METHODS: readonly string[] = ['GET', 'HEAD'];

/** Status by finding. The last two, other paths and methods, are not part of the interface. */
const statuses = {
  member: 200,
  executed: 200,
  notYet: 404,
  invalid: 400,
  unauthorized: 401,
  limited: 429,
  noSuchPath: 404,
  noSuchMethod: 405,
} as const;

/** Status of `foreign` and `unknown` by endpoint (GET user-status, 200; GET deposit-check, 404). */
const notFound = perEndpoint((endpoint) => (messageOf(endpoint, 404) === undefined ? 200 : 404));

/** Answers a request with what was found. */
export function answered({ world, now, request, call, finding }: Omit<Exchange, 'status'>): Answered {
  const status = statusOf(call, finding);
  // Always the same properties, named one by one: a spread made the handler take twice as long.
  const exchange: Exchange = { world, now, request, call, finding, status };
  // What waits says what a success answers.
  const body = finding.kind === 'next' && status < 400 ? '' : JSON.stringify(payloadOf(exchange));
  return { exchange, response: { status, headers: headersOf(exchange), body } };
}

/** Completes a response with Date and Content-Length. HEAD gets no body (RFC 9110, 9.3.2). */
export function finished({ exchange, response }: Answered): Answered {
  const { request, now } = exchange;
  const { status, headers, body } = response;
  const Date = httpDate(now);
  // 204 and chunked responses must not have a Content-Length (RFC 9110, 8.6).
  const hasLength = status !== 204 && !('Transfer-Encoding' in headers);
  const complete: HttpResponse = {
    ...response,
    headers: hasLength
      ? { Date, ...headers, 'Content-Length': `${Buffer.byteLength(body)}` }
      : { Date, ...headers },
    body: request.method === 'HEAD' ? '' : body,
  };
  return { exchange, response: complete };
}

/** Returns the status that the interface requires. */
function statusOf(call: Call | undefined, finding: Finding): number {
  if (finding.kind === 'foreign' || finding.kind === 'unknown')
    return notFound[call?.endpoint ?? 'deposit-check'];
  return finding.kind === 'next' ? finding.status : statuses[finding.kind];
}

const commonHeaders = { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' } as const;

/** Returns the header fields of a response. */
function headersOf({ status, finding, request }: Exchange) {
  return {
    ...commonHeaders,
    ...(status === 429 && {
      'Retry-After': `${finding.kind === 'limited' ? wholeSeconds(finding.waitMs) : 1}`,
    }),
    ...(status === 401 && { 'WWW-Authenticate': challengeOf(request.wrongWorld) }),
    ...(status === 405 && { Allow: METHODS.join(', ') }),
  };
}

/** Explains a wrong world name (RFC 6750, 3). */
const challengeOf = (wrongWorld: string | undefined) =>
  wrongWorld === undefined ? 'Bearer' : `Bearer error="invalid_token", error_description="${wrongWorld}"`;

/** Rounds up to whole seconds; the limit avoids exponent notation. */
const wholeSeconds = (ms: number) => Math.min(Math.ceil(ms / 1000), Number.MAX_SAFE_INTEGER);

/** Returns the JSON of a response (Results; Errors). */
function payloadOf({
  status,
  call,
  finding,
}: Exchange): MembershipResult | ExecutedDepositResult | ErrorBody {
  if (finding.kind === 'noSuchPath') return { error: 'Not found' };
  if (finding.kind === 'noSuchMethod') return { error: 'Method not allowed' };
  if (finding.kind === 'member') return { is_under_ib: true, date_joined: finding.user.date_joined };
  if (finding.kind === 'executed') {
    const { amountInUsd, executedAt } = finding;
    return { status: 'EXECUTED', amountInUsd, executedAt };
  }
  if (status === 200) return { is_under_ib: false, date_joined: null };
  return { error: messageOf(call!.endpoint, status) ?? STATUS_CODES[status] ?? `Status ${status}` };
}

type Explain<Kind extends FindingKind> = (
  finding: Extract<Finding, { readonly kind: Kind }>,
  exchange: Exchange,
) => string;

const explanations: { readonly [Kind in FindingKind]: Explain<Kind> } = {
  member: () => 'member of the IB',
  executed: () => 'deposit EXECUTED',
  notYet: ({ deposit }) => `deposit ${deposit.state}`,
  foreign: (finding, { world }) => {
    const [what, partner] =
      'user' in finding ? ['user', finding.user.partner] : ['deposit', partnerOf(world, finding.deposit)];
    return `${what} of ${partner === null ? 'no' : 'another'} IB`;
  },
  unknown: (_, { call }) => `no such ${endpoints[call!.endpoint].finds}`,
  unauthorized: (_, exchange) => unauthorizedReason(exchange),
  limited: ({ limit: { most, windowMs }, waitMs }) =>
    most === 0
      ? 'key that is always rate-limited'
      : `${most + 1} of ${most} in ${windowMs / 1000} s, frees in ${Math.ceil(waitMs / 1000)} s`,
  invalid: (_, { call }) => {
    const name = endpoints[call!.endpoint].parameter;
    return call!.value === undefined ? `${name} is missing` : `${name} is not a valid UUID`;
  },
  next: () => 'set by next',
  noSuchPath: () => 'no such path',
  noSuchMethod: (_, { request }) => `no such method: ${request.method}`,
};

function unauthorizedReason({ call, request }: Exchange): string {
  const { key, credential } = call ?? {};
  if (request.wrongWorld !== undefined) return request.wrongWorld;
  if (key !== undefined) return key.state === 'active' ? 'key of a non-Partner account' : `key ${key.state}`;
  if (credential !== undefined) return 'no such key';
  return request.headers.authorization === undefined
    ? 'no Authorization field'
    : 'Authorization is not Bearer and a key';
}

/** Returns the reason of an answer for the journal, such as `key revoked`. The response says less. */
export function reasonOf(exchange: Exchange): string {
  return (explanations[exchange.finding.kind] as Explain<FindingKind>)(exchange.finding, exchange);
}

let [cachedSecond, cachedDate] = [Number.NaN, ''];

/** Formats Unix ms as an HTTP date (RFC 9110, 5.6.7). Caches the last second. */
export function httpDate(now: number): string {
  const second = Math.floor(now / 1000);
  if (second !== cachedSecond) [cachedSecond, cachedDate] = [second, new Date(now).toUTCString()];
  return cachedDate;
}
