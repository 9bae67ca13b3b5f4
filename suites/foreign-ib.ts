import { summary } from './answer.ts';
import { hasExactly, expectNotMember } from './expectations.ts';
import { indistinguishable, timing, type HiddenIds } from './indistinguishable.ts';
import { required, type Requirement } from './requirement.ts';
import { failed, pass } from './verdict.ts';

/** Ids that must be answered like unknown ones. */
const hiddenUsers: HiddenIds = {
  needs: 'user outside the IB under test',
  hidden: ({ foreigners }) => foreigners.map(({ user_id }) => user_id),
};
const hiddenDeposits: HiddenIds = {
  needs: 'deposit of a user outside the IB under test',
  hidden: ({ foreignDeposits }) => foreignDeposits.map(({ reference_id }) => reference_id),
};

export const foreignIb: readonly Requirement[] = [
  required({
    id: 'foreign-ib/user-status/other-ib',
    clause: 'GET user-status, 200: not an error',
    title: 'A user of another IB, or of no IB, gets 200 with false and null',
    needs: 'user outside the IB under test',
    provedBy: ['foreign-ib/user-status/follows-key'],
  }),
  required({
    id: 'foreign-ib/user-status/unknown',
    clause: 'GET user-status, 200: not an error',
    title: 'An unknown user_id gets 200 with false and null',
  }),
  required({
    id: 'foreign-ib/user-status/shape',
    clause: 'IB membership result',
    title: 'The answer has exactly two fields, and date_joined is null',
    holds: (answer, { correct }) => {
      const isCovered = correct.some(({ outcome }) => outcome === 'not-member');
      if (!isCovered || expectNotMember(answer).kind !== 'passed') return undefined;
      const expected = '200 {"is_under_ib":false,"date_joined":null}, exactly these two fields';
      return hasExactly(answer, 'is_under_ib', 'date_joined')
        ? pass
        : failed('shape', expected, summary(answer));
    },
  }),
  indistinguishable({
    id: 'foreign-ib/user-status/indistinguishable',
    clause: 'What the service does: cannot look up users outside the IB',
    title: "Another IB's user is answered exactly like an unknown one",
    endpoint: 'user-status',
    ...hiddenUsers,
    provedBy: ['foreign-ib/user-status/follows-key'],
  }),
  required({
    id: 'foreign-ib/user-status/follows-key',
    clause: 'What the service does: scoped to the calling partner',
    title: "With another partner's key, that partner's user is under the IB and ours is not",
    needs: [
      'active key of another partner',
      'user of the IB, and none of another partner with an active key',
    ],
  }),
  required({
    id: 'foreign-ib/deposit-check/other-ib',
    clause: 'GET deposit-check, 404',
    title: "A deposit of another IB's user, in any state, gets 404 with the exact error body",
    needs: 'deposit of a user outside the IB under test',
    provedBy: ['foreign-ib/deposit-check/follows-key'],
  }),
  required({
    id: 'foreign-ib/deposit-check/unknown',
    clause: 'GET deposit-check, 404',
    title: 'An unknown reference_id gets 404 with the exact error body',
  }),
  indistinguishable({
    id: 'foreign-ib/deposit-check/indistinguishable',
    clause: 'What the service does: cannot look up users outside the IB',
    title: "Another IB's deposit is answered exactly like an unknown one",
    endpoint: 'deposit-check',
    ...hiddenDeposits,
    provedBy: ['foreign-ib/deposit-check/follows-key'],
  }),
  required({
    id: 'foreign-ib/deposit-check/follows-key',
    clause: 'What the service does: scoped to the calling partner',
    title: "With another partner's key, that partner's deposit is found and ours is not",
    needs: [
      'active key of another partner',
      'deposit of the IB, and no EXECUTED one of another partner with an active key',
    ],
  }),
  timing('user-status', hiddenUsers),
  timing('deposit-check', hiddenDeposits),
];
