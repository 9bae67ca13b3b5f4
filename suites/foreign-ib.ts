import type { Endpoint } from '../schemas/endpoints.ts';
import { repeatedNames, summary } from './answer.ts';
import { fieldsOf, saysNotMember } from './expectations.ts';
import { indistinguishable } from './indistinguishable.ts';
import type { Known } from './known.ts';
import type { Requirement } from './requirement.ts';
import { rule } from './rule.ts';
import { timing } from './timing.ts';
import { failed, held } from './verdict.ts';

const lacksForeigners = ({ foreigners }: Known) =>
  foreigners.length === 0 ? 'user outside the IB under test' : undefined;
const lacksForeignDeposits = ({ foreignDeposits }: Known) =>
  foreignDeposits.length === 0 ? 'deposit of a user outside the IB under test' : undefined;

/** What must look like an unknown id. */
const foreignIds = (endpoint: Endpoint) =>
  endpoint === 'user-status'
    ? { lacks: lacksForeigners, hidden: (known: Known) => known.foreigners.map(({ user_id }) => user_id) }
    : {
        lacks: lacksForeignDeposits,
        hidden: (known: Known) => known.foreignDeposits.map(({ reference_id }) => reference_id),
      };

export const foreignIb: readonly Requirement[] = [
  rule({
    id: 'foreign-ib/user-status/other-ib',
    level: 'required',
    clause: 'GET user-status, 200: not an error',
    title: 'A user of another IB, or of none: 200, false, null',
    lacks: lacksForeigners,
  }),
  rule({
    id: 'foreign-ib/user-status/unknown',
    level: 'required',
    clause: 'GET user-status, 200: not an error',
    title: 'A UUID of version 4 that nobody has: 200, false, null',
  }),
  rule({
    id: 'foreign-ib/user-status/shape',
    level: 'required',
    clause: 'IB membership result',
    title: 'Exactly the two fields; date_joined is present and null',
    holds: (answer, { correct }) => {
      if (!correct.some(({ outcome }) => outcome === 'not-member') || saysNotMember(answer).kind !== 'held')
        return undefined;
      const names = Object.keys(fieldsOf(answer) ?? {}).toSorted();
      return names.join() === 'date_joined,is_under_ib' && repeatedNames(answer.text).length === 0
        ? held
        : failed(
            'shape',
            '200 {"is_under_ib":false,"date_joined":null}, exactly these two fields',
            summary(answer),
          );
    },
  }),
  indistinguishable({
    id: 'foreign-ib/user-status/indistinguishable',
    clause: 'What the service does: cannot look up users outside the IB',
    title: 'Nothing tells a foreign user from an unknown one',
    endpoint: 'user-status',
    ...foreignIds('user-status'),
  }),
  rule({
    id: 'foreign-ib/user-status/follows-key',
    level: 'required',
    clause: 'What the service does: scoped to the calling partner',
    title: "With the other partner's key the same user is a member, and ours is not",
    needsSecondKey: true,
  }),
  rule({
    id: 'foreign-ib/deposit-check/other-ib',
    level: 'required',
    clause: 'GET deposit-check, 404',
    title: "A deposit of another IB's user, EXECUTED or not: 404 with its exact body",
    lacks: lacksForeignDeposits,
  }),
  rule({
    id: 'foreign-ib/deposit-check/unknown',
    level: 'required',
    clause: 'GET deposit-check, 404',
    title: 'A UUID that no deposit has: 404 with its exact body',
  }),
  indistinguishable({
    id: 'foreign-ib/deposit-check/indistinguishable',
    clause: 'What the service does: cannot look up users outside the IB',
    title: 'Nothing tells a foreign deposit from an unknown one',
    endpoint: 'deposit-check',
    ...foreignIds('deposit-check'),
  }),
  rule({
    id: 'foreign-ib/deposit-check/follows-key',
    level: 'required',
    clause: 'What the service does: scoped to the calling partner',
    title: "With the other partner's key the same deposit is found, and ours is not",
    needsSecondKey: true,
  }),
  timing('user-status', foreignIds('user-status')),
  timing('deposit-check', foreignIds('deposit-check')),
];
