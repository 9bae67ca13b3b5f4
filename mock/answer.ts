import { STATUS_CODES } from 'node:http';
import { endpoints, type Endpoint } from '../schemas/endpoints.ts';
import type { ErrorBody, ExecutedDepositResult, MembershipResult } from '../schemas/generated/types.ts';
import type { Exchange, Finding, FindingKind } from './exchange.ts';

/** Content of an answer: one of the interface's three resources, or what a fault makes of it. */
export type Payload =
  MembershipResult | ExecutedDepositResult | ErrorBody | Readonly<Record<string, unknown>>;

/** Status of an answer by what was found: the one place that makes four findings into one 404 (Endpoints). */
const statuses: Readonly<Record<Endpoint, Readonly<Partial<Record<FindingKind, number>>>>> = {
  'user-status': { member: 200, foreign: 200, unknown: 200, invalid: 400, unauthorized: 401, limited: 429 },
  'deposit-check': {
    executed: 200,
    notYet: 404,
    foreign: 404,
    unknown: 404,
    invalid: 400,
    unauthorized: 401,
    limited: 429,
  },
};

/** Answers that the interface does not show: other paths and other methods. */
const elsewhere = {
  noSuchPath: { status: 404, error: 'Not found' },
  noSuchMethod: { status: 405, error: 'Method not allowed' },
} as const;

/** Status and header fields of an answer; `methods` are those that the endpoints answer. */
export function answered(exchange: Exchange, methods: readonly string[]) {
  const status = statusOf(exchange);
  const headers = headersOf(status, exchange.finding, methods);
  const { preferred } = exchange;
  if (preferred === undefined) return { status, headers };
  return { status, headers: { ...headers, 'Preference-Applied': `code=${preferred}` } };
}

/** The status that the interface asks for. */
export function statusOf({ call, finding }: Exchange): number {
  if (finding.kind === 'noSuchPath' || finding.kind === 'noSuchMethod') return elsewhere[finding.kind].status;
  if (finding.kind === 'failing') return finding.status;
  return (call && statuses[call.endpoint][finding.kind]) ?? 404;
}

const everywhere = { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' } as const;

function headersOf(
  status: number,
  finding: Finding,
  methods: readonly string[],
): Readonly<Record<string, string>> {
  if (finding.kind === 'limited') return { ...everywhere, 'Retry-After': `${secondsOf(finding.waitMs)}` };
  if (status === 401) return { ...everywhere, 'WWW-Authenticate': 'Bearer' };
  if (status === 405) return { ...everywhere, Allow: methods.join(', ') };
  return everywhere;
}

/** Rounded up, and in digits however long the window is. */
const secondsOf = (ms: number) => Math.min(Math.ceil(ms / 1000), Number.MAX_SAFE_INTEGER);

/** Content of an answer (Resources and their fields; Errors). */
export function payloadOf(status: number, { call, finding }: Exchange): Payload {
  if (finding.kind === 'noSuchPath' || finding.kind === 'noSuchMethod')
    return { error: elsewhere[finding.kind].error };
  if (finding.kind === 'failing') return { error: STATUS_CODES[status] ?? 'Server Error' };
  if (finding.kind === 'member') return { is_under_ib: true, date_joined: finding.user.date_joined };
  if (finding.kind === 'executed') {
    const { amountInUsd, executedAt } = finding;
    return { status: 'EXECUTED', amountInUsd, executedAt };
  }
  if (status === 200) return { is_under_ib: false, date_joined: null };
  return { error: messageOf(call?.endpoint, status) };
}

function messageOf(endpoint: Endpoint | undefined, status: number): string {
  const messages: Readonly<Record<number, string>> =
    endpoint === undefined ? {} : endpoints[endpoint].messages;
  return messages[status] ?? elsewhere.noSuchPath.error;
}
