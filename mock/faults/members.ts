import { editPayload, editResponse, fromThird, answerWith } from '../change.ts';
import { memberRows, noUserData, rowsOf, user, type Faults } from './rows.ts';

const stranger = { is_under_ib: false, date_joined: null };
const members = { kinds: ['member'] } as const;
const shape = rowsOf('valid', user, 'shape');

/** Wrong answers about members of the caller's IB (user-status 200). */
export const memberFaults: Faults = {
  'member-denied': {
    what: 'Members are said not to be under the IB, with their date.',
    fails: memberRows,
    change: editPayload(members, (payload) => ({ ...payload, is_under_ib: false })),
  },
  'member-as-text': {
    what: 'is_under_ib is the text "true".',
    fails: [...memberRows, ...shape],
    change: editPayload(members, (payload) => ({ ...payload, is_under_ib: 'true' })),
  },
  'member-as-number': {
    what: 'is_under_ib is 1.',
    fails: [...memberRows, ...shape],
    change: editPayload(members, (payload) => ({ ...payload, is_under_ib: 1 })),
  },
  'member-field-in-camel-case': {
    what: 'is_under_ib is called isUnderIb.',
    fails: [...memberRows, ...shape],
    change: editPayload(members, ({ date_joined }) => ({ isUnderIb: true, date_joined })),
  },
  'date-field-in-camel-case': {
    what: 'date_joined is called dateJoined.',
    fails: shape,
    change: editPayload(members, ({ date_joined }) => ({ is_under_ib: true, dateJoined: date_joined })),
  },
  'date-field-left-out': {
    what: 'date_joined is left out for members.',
    fails: shape,
    change: editPayload(members, () => ({ is_under_ib: true })),
  },
  'member-with-third-field': {
    what: 'A membership result has a third field.',
    fails: shape,
    change: editPayload(members, (payload) => ({ ...payload, tier: 'gold' })),
  },
  'member-with-partner': {
    what: "A membership result names the user's partner.",
    fails: [...shape, noUserData],
    change: editPayload(members, (payload, { call }) => ({ ...payload, partner: call?.caller?.partner })),
  },
  'member-wrapped': {
    what: 'A membership result is wrapped in a field `data`.',
    fails: [...memberRows, ...shape],
    change: editPayload(members, (data) => ({ data })),
  },
  'member-in-list': {
    what: 'A membership result is the only item of a list.',
    fails: [...memberRows, ...shape],
    change: editPayload(members, (payload) => [payload]),
  },
  'member-with-201': {
    what: 'Members are answered with 201.',
    fails: memberRows,
    change: answerWith(members, 201),
  },
  'member-redirected': {
    what: 'Members are redirected to a path with a trailing slash.',
    fails: memberRows,
    change: editResponse(members, ({ headers }) => ({
      status: 308,
      headers: { ...headers, Location: '/api/ib/user-status/' },
    })),
  },
  'third-lookup-denied': {
    what: 'A member is not found from the third lookup of the same spelling on.',
    fails: rowsOf('valid', user, 'repeatable'),
    change: (behaviour) => editPayload({ ...members, where: fromThird() }, () => stranger)(behaviour),
  },
};
