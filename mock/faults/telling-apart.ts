import type { Endpoint } from '../../schemas/endpoints.ts';
import { editHeaders, editPayload, editResponse } from '../change.ts';
import { both, deposit, rowsOf, user, type Faults } from './rows.ts';

const foreignUsers = { endpoint: 'user-status', kinds: ['foreign'] } as const;
const unknownUsers = { endpoint: 'user-status', kinds: ['unknown'] } as const;
const foreignDeposits = { endpoint: 'deposit-check', kinds: ['foreign'] } as const;
const foreign = { kinds: ['foreign'] } as const;
const rows = (which: readonly Endpoint[], ...names: readonly string[]) =>
  rowsOf('foreign-ib', which, ...names);

/** Answers in which foreign and unknown can be told apart (foreign-ib, indistinguishable). */
export const tellingApartFaults: Faults = {
  'foreign-user-told-by-header': {
    what: 'A header field is only on answers about unknown users.',
    fails: rows(user, 'indistinguishable'),
    change: editHeaders(unknownUsers, () => ({ 'X-Cache': 'MISS' })),
  },
  'foreign-user-told-by-space': {
    what: 'Answers about users of other IBs end in a newline.',
    fails: rows(user, 'indistinguishable'),
    change: editResponse(foreignUsers, ({ body }) => ({ body: `${body.toString()}\n` })),
  },
  'foreign-user-told-by-field-order': {
    what: 'Answers about users of other IBs have their fields in another order.',
    fails: rows(user, 'indistinguishable'),
    change: editPayload(foreignUsers, ({ date_joined, is_under_ib }) => ({ date_joined, is_under_ib })),
  },
  'foreign-deposit-told-by-header': {
    what: "A header field has another value on answers about other IBs' deposits.",
    fails: rows(deposit, 'indistinguishable'),
    change: editHeaders(foreignDeposits, () => ({ 'Cache-Control': 'private' })),
  },
  'foreign-deposit-told-by-space': {
    what: "Answers about other IBs' deposits hold a space more.",
    fails: rows(deposit, 'indistinguishable'),
    change: editResponse(foreignDeposits, ({ body }) => ({ body: body.toString().replace(':', ': ') })),
  },
  'foreign-told-by-charset': {
    what: 'Only answers about what belongs to other IBs name a charset.',
    fails: rows(both, 'indistinguishable'),
    change: editHeaders(foreign, () => ({ 'Content-Type': 'application/json; charset=utf-8' })),
  },
};
