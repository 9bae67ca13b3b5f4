import { summary } from './answer.ts';
import { hasExactly, saysNotMember } from './expectations.ts';
import { indistinguishable, timing, type Hidden } from './indistinguishable.ts';
import { required, type Requirement } from './requirement.ts';
import { failed, held } from './verdict.ts';

/** What must look like an unknown id. */
const hiddenUsers: Hidden = {
  needs: 'user outside the IB under test',
  hidden: ({ foreigners }) => foreigners.map(({ user_id }) => user_id),
};
const hiddenDeposits: Hidden = {
  needs: 'deposit of a user outside the IB under test',
  hidden: ({ foreignDeposits }) => foreignDeposits.map(({ reference_id }) => reference_id),
};

export const foreignIb: readonly Requirement[] = [
  required({
    id: 'foreign-ib/user-status/other-ib',
    clause: 'GET user-status, 200: not an error',
    title: 'A user of another IB, or of none: 200, false, null',
    needs: 'user outside the IB under test',
    provedBy: ['foreign-ib/user-status/follows-key'],
  }),
  required({
    id: 'foreign-ib/user-status/unknown',
    clause: 'GET user-status, 200: not an error',
    title: 'A UUID of version 4 that nobody has: 200, false, null',
  }),
  required({
    id: 'foreign-ib/user-status/shape',
    clause: 'IB membership result',
    title: 'Exactly the two fields; date_joined is present and null',
    holds: (answer, { correct }) => {
      if (!correct.some(({ outcome }) => outcome === 'not-member') || saysNotMember(answer).kind !== 'held')
        return undefined;
      return hasExactly(answer, 'is_under_ib', 'date_joined')
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
    ...hiddenUsers,
    provedBy: ['foreign-ib/user-status/follows-key'],
  }),
  required({
    id: 'foreign-ib/user-status/follows-key',
    clause: 'What the service does: scoped to the calling partner',
    title: "With the other partner's key the same user is a member, and ours is not",
    needs: 'active key of another partner',
  }),
  required({
    id: 'foreign-ib/deposit-check/other-ib',
    clause: 'GET deposit-check, 404',
    title: "A deposit of another IB's user, EXECUTED or not: 404 with its exact body",
    needs: 'deposit of a user outside the IB under test',
    provedBy: ['foreign-ib/deposit-check/follows-key'],
  }),
  required({
    id: 'foreign-ib/deposit-check/unknown',
    clause: 'GET deposit-check, 404',
    title: 'A UUID that no deposit has: 404 with its exact body',
  }),
  indistinguishable({
    id: 'foreign-ib/deposit-check/indistinguishable',
    clause: 'What the service does: cannot look up users outside the IB',
    title: 'Nothing tells a foreign deposit from an unknown one',
    endpoint: 'deposit-check',
    ...hiddenDeposits,
    provedBy: ['foreign-ib/deposit-check/follows-key'],
  }),
  required({
    id: 'foreign-ib/deposit-check/follows-key',
    clause: 'What the service does: scoped to the calling partner',
    title: "With the other partner's key the same deposit is found, and ours is not",
    needs: 'active key of another partner',
  }),
  timing('user-status', hiddenUsers),
  timing('deposit-check', hiddenDeposits),
];
