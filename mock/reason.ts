import { endpoints } from '../schemas/endpoints.ts';
import { chaosName } from './chaos.ts';
import type { Finding } from './exchange.ts';
import type { Note } from './journal.ts';

type Said<Kind extends Finding['kind']> = (
  finding: Extract<Finding, { readonly kind: Kind }>,
  note: Note,
) => string;

/** Why a request was answered as it was: more than the partner is told, for whoever runs the mock. */
const words: { readonly [Kind in Finding['kind']]: Said<Kind> } = {
  member: () => 'member of the IB',
  executed: () => 'deposit EXECUTED',
  notYet: ({ deposit }) => `deposit ${deposit.state}`,
  foreign: (finding) => {
    const [what, partner] =
      'user' in finding ? ['user', finding.user.partner] : ['deposit', finding.deposit.partner];
    return partner === null ? `${what} of no IB` : `${what} of another IB`;
  },
  unknown: (_, { endpoint }) => (endpoint === 'user-status' ? 'no such user' : 'no such deposit'),
  unauthorized: (_, note) => unauthorized(note),
  limited: ({ limit: { most, windowMs }, waitMs }) =>
    most === 0
      ? 'a key that is always limited'
      : `${most + 1} of ${most} in ${windowMs / 1000} s, frees in ${Math.ceil(waitMs / 1000)} s`,
  invalid: (_, { endpoint, value }) => {
    const name = endpoint === undefined ? 'the parameter' : endpoints[endpoint].parameter;
    return value === undefined ? `${name} is missing` : `${name} is not a valid UUID`;
  },
  failing: () => 'failing',
  noSuchPath: () => 'no such path',
  noSuchMethod: (_, { method }) => `no such method: ${method}`,
};

function unauthorized({ key, credential, authorization }: Note): string {
  if (key !== undefined) return key.state === 'active' ? 'key of a non-Partner account' : `key ${key.state}`;
  if (credential !== undefined) return 'no such key';
  return authorization === undefined ? 'no Authorization field' : 'Authorization is not Bearer and a key';
}

function whyOf(note: Note): string {
  const { finding, chaos, preferred } = note;
  if (preferred !== undefined) return 'asked for by Prefer';
  if (chaos?.kind === 'status') return 'by chaos';
  const say = words[finding.kind] as Said<Finding['kind']>;
  const why = say(finding, note);
  return chaos === undefined ? why : `${why} (chaos: ${chaosName(chaos)})`;
}

/** `401: key revoked`; where the answer was bent, also what it would have been. */
export function reasonOf(note: Note): string {
  const { status, meant } = note;
  const why = whyOf(note);
  return status === meant ? `${status}: ${why}` : `${status}: a deviation (else ${meant}: ${why})`;
}
