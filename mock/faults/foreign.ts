import { answerWith, editPayload, editResponse } from '../change.ts';
import { deposit, rowsOf, user, type Faults } from './rows.ts';

const foreignUsers = { endpoint: 'user-status', kinds: ['foreign'] } as const;
const unknownUsers = { endpoint: 'user-status', kinds: ['unknown'] } as const;
const strangers = { endpoint: 'user-status', kinds: ['foreign', 'unknown'] } as const;
const foreignDeposits = { endpoint: 'deposit-check', kinds: ['foreign'] } as const;
const unknownDeposits = { endpoint: 'deposit-check', kinds: ['unknown'] } as const;

const userRows = (...names: readonly string[]) => rowsOf('foreign-ib', user, ...names);
const depositRows = (...names: readonly string[]) => rowsOf('foreign-ib', deposit, ...names);

const aboutUsers: Faults = {
  'foreign-user-with-404': {
    what: 'Users of other IBs are answered with 404.',
    fails: userRows('other-ib'),
    change: answerWith(foreignUsers, 404),
  },
  'foreign-user-with-403': {
    what: 'Users of other IBs are answered with 403 and an error.',
    fails: userRows('other-ib'),
    change: answerWith(foreignUsers, 403, { error: 'Forbidden' }),
  },
  'unknown-user-with-404': {
    what: 'Unknown users are answered with 404 and an error.',
    fails: userRows('unknown'),
    change: answerWith(unknownUsers, 404, { error: 'User not found' }),
  },
  'unknown-user-is-member': {
    what: 'Unknown users are said to be under the IB.',
    fails: userRows('unknown'),
    change: editPayload(unknownUsers, (payload) => ({ ...payload, is_under_ib: true })),
  },
  'stranger-with-204': {
    what: 'Users who are not under the IB are answered with 204 and no body.',
    fails: userRows('other-ib', 'unknown'),
    change: editResponse(strangers, () => ({ status: 204, body: '' })),
  },
  'stranger-as-text': {
    what: 'is_under_ib is the text "false" for users who are not under the IB.',
    fails: userRows('other-ib', 'unknown'),
    change: editPayload(strangers, (payload) => ({ ...payload, is_under_ib: 'false' })),
  },
  'stranger-without-date': {
    what: 'date_joined is left out for users who are not under the IB.',
    fails: userRows('shape'),
    change: editPayload(strangers, () => ({ is_under_ib: false })),
  },
  'stranger-with-empty-date': {
    what: 'date_joined is the empty text for users who are not under the IB.',
    fails: userRows('other-ib', 'unknown'),
    change: editPayload(strangers, () => ({ is_under_ib: false, date_joined: '' })),
  },
  'stranger-with-third-field': {
    what: 'Users who are not under the IB have a third field.',
    fails: userRows('shape'),
    change: editPayload(strangers, (payload) => ({ ...payload, reason: 'not under this IB' })),
  },
  'foreign-user-with-date': {
    what: 'The join date of users of other IBs is shown.',
    fails: userRows('other-ib'),
    change: editPayload(foreignUsers, (payload, { finding }) => ({
      ...payload,
      date_joined: finding.kind === 'foreign' && 'user' in finding && finding.user.date_joined,
    })),
  },
};

const aboutDeposits: Faults = {
  'foreign-deposit-with-403': {
    what: "Deposits of other IBs' users are answered with 403.",
    fails: depositRows('other-ib'),
    change: answerWith(foreignDeposits, 403),
  },
  'foreign-deposit-has-own-message': {
    what: "Deposits of other IBs' users have a message of their own.",
    fails: depositRows('other-ib'),
    change: editPayload(foreignDeposits, () => ({ error: 'Deposit belongs to another IB' })),
  },
  'unknown-deposit-with-200': {
    what: 'Unknown deposits are answered with 200.',
    fails: depositRows('unknown'),
    change: answerWith(unknownDeposits, 200),
  },
  'unknown-deposit-with-204': {
    what: 'Unknown deposits are answered with 204 and no body.',
    fails: depositRows('unknown'),
    change: editResponse(unknownDeposits, () => ({ status: 204, body: '' })),
  },
};

/** Wrong answers about what is foreign or unknown (foreign-ib). */
export const foreignFaults: Faults = { ...aboutUsers, ...aboutDeposits };
