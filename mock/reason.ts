import { endpoints } from '../schemas/endpoints.ts';
import { chaosName } from './chaos.ts';
import type { Exchange, Finding } from './exchange.ts';

type Said<Kind extends Finding['kind']> = (
  finding: Extract<Finding, { readonly kind: Kind }>,
  exchange: Exchange,
) => string;

/** Why a request was answered as it was: more than the partner is told, for whoever runs the mock. */
const words: { readonly [Kind in Finding['kind']]: Said<Kind> } = {
  member: () => 'member of the IB',
  executed: () => 'deposit EXECUTED',
  notYet: ({ deposit }) => `deposit ${deposit.state}`,
  foreign: (finding) => {
    if ('user' in finding) return finding.user.partner === null ? 'user of no IB' : 'user of another IB';
    return finding.deposit.partner === null ? 'deposit of no IB' : 'deposit of another IB';
  },
  unknown: (_, { call }) => (call?.endpoint === 'user-status' ? 'no such user' : 'no such deposit'),
  unauthorized: (_, exchange) => unauthorized(exchange),
  limited: ({ limit: { most, windowMs }, waitMs }) =>
    most === 0
      ? 'a key that is always limited'
      : `${most + 1} of ${most} in ${windowMs / 1000} s, frees in ${Math.ceil(waitMs / 1000)} s`,
  invalid: (_, { call }) => {
    const name = call === undefined ? 'the parameter' : endpoints[call.endpoint].parameter;
    return call?.value === undefined ? `${name} is missing` : `${name} is not a valid UUID`;
  },
  failing: () => 'failing',
  noSuchPath: () => 'no such path',
  noSuchMethod: (_, { request }) => `no such method: ${request.method}`,
};

function unauthorized({ call, request }: Exchange): string {
  const { key, credential } = call ?? {};
  if (key !== undefined) return key.state === 'active' ? 'key of a non-Partner account' : `key ${key.state}`;
  if (credential !== undefined) return 'no such key';
  return request.headers.authorization === undefined
    ? 'no Authorization field'
    : 'Authorization is not Bearer and a key';
}

/** Why an exchange came to its finding, such as `key revoked`. */
export function whyOf(exchange: Exchange): string {
  const { finding, chaos, preferred } = exchange;
  if (preferred !== undefined) return 'asked for by Prefer';
  if (chaos?.kind === 'status') return 'by chaos';
  const say = words[finding.kind] as Said<Finding['kind']>;
  const why = say(finding, exchange);
  return chaos === undefined ? why : `${why} (chaos: ${chaosName(chaos)})`;
}

/** `401: key revoked`; where the answer was bent, also what the interface asks for (`meant`). */
export function reasonOf(status: number, meant: number, why: string): string {
  return status === meant ? `${status}: ${why}` : `${status}: a deviation (else ${meant}: ${why})`;
}
