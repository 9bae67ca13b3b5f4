import { editPayload, editResponse, everySecond, answerWith } from '../change.ts';
import { rowsOf, user, type Faults } from './rows.ts';

const stranger = { is_under_ib: false, date_joined: null };
const members = { kinds: ['member'] } as const;
const rows = (...names: readonly string[]) => rowsOf('valid', user, ...names);

/** Wrong answers about members of the caller's IB (user-status 200). */
export const memberFaults: Faults = {
  'member-denied': {
    what: 'Members are said not to be under the IB, with their date.',
    fails: rows('member'),
    change: editPayload(members, (payload) => ({ ...payload, is_under_ib: false })),
  },
  'member-as-text': {
    what: 'is_under_ib is the text "true".',
    fails: rows('member', 'shape'),
    change: editPayload(members, (payload) => ({ ...payload, is_under_ib: 'true' })),
  },
  'member-as-number': {
    what: 'is_under_ib is 1.',
    fails: rows('member', 'shape'),
    change: editPayload(members, (payload) => ({ ...payload, is_under_ib: 1 })),
  },
  'member-field-in-camel-case': {
    what: 'is_under_ib is called isUnderIb.',
    fails: rows('member', 'shape'),
    change: editPayload(members, ({ date_joined }) => ({ isUnderIb: true, date_joined })),
  },
  'date-field-in-camel-case': {
    what: 'date_joined is called dateJoined.',
    fails: rows('shape'),
    change: editPayload(members, ({ date_joined }) => ({ is_under_ib: true, dateJoined: date_joined })),
  },
  'date-field-left-out': {
    what: 'date_joined is left out for members.',
    fails: rows('shape'),
    change: editPayload(members, () => ({ is_under_ib: true })),
  },
  'member-with-third-field': {
    what: 'A membership result has a third field.',
    fails: rows('shape'),
    change: editPayload(members, (payload) => ({ ...payload, tier: 'gold' })),
  },
  'member-with-partner': {
    what: "A membership result names the user's partner.",
    fails: rows('shape'),
    change: editPayload(members, (payload, { call }) => ({ ...payload, partner: call?.caller?.partner })),
  },
  'member-wrapped': {
    what: 'A membership result is wrapped in a field `data`.',
    fails: rows('member', 'shape'),
    change: editPayload(members, (data) => ({ data })),
  },
  'member-in-list': {
    what: 'A membership result is the only item of a list.',
    fails: rows('member', 'shape'),
    change: editPayload(members, (payload) => [payload]),
  },
  'member-with-201': {
    what: 'Members are answered with 201.',
    fails: rows('member'),
    change: answerWith(members, 201),
  },
  'member-redirected': {
    what: 'Members are redirected to a path with a trailing slash.',
    fails: rows('member'),
    change: editResponse(members, ({ headers }) => ({
      status: 308,
      headers: { ...headers, Location: '/api/ib/user-status/' },
    })),
  },
  'every-other-lookup-denied': {
    what: 'Every other lookup of the same member does not find it.',
    fails: rows('repeatable'),
    change: (behaviour) => editPayload({ ...members, where: everySecond() }, () => stranger)(behaviour),
  },
};
