import { editHeaders, editPayload } from '../change.ts';
import { valuesOf } from '../overlay.ts';
import { deposit, noUserData, rowsOf, user, type Faults } from './rows.ts';

/** Answers that hold what the request did not name (valid/service/no-user-data). */
export const leakFaults: Faults = {
  'partner-in-header': {
    what: "A header field gives the caller's partner id.",
    fails: [noUserData],
    change: editHeaders({}, ({ call }) => ({ 'X-Partner': call?.caller?.partner ?? '-' })),
  },
  'owner-in-header': {
    what: 'A header field gives the partner id of a foreign user.',
    fails: [noUserData, ...rowsOf('foreign-ib', user, 'indistinguishable')],
    change: editHeaders({ endpoint: 'user-status', kinds: ['foreign'] }, ({ finding }) => ({
      'X-Owner': finding.kind === 'foreign' && 'user' in finding ? (finding.user.partner ?? '-') : '-',
    })),
  },
  'user-in-header': {
    what: 'A header field gives the user of a deposit.',
    fails: [noUserData],
    change: editHeaders({ kinds: ['executed'] }, ({ finding }) => ({
      'X-User': finding.kind === 'executed' ? finding.deposit.user_id : '-',
    })),
  },
  'key-in-header': {
    what: "A header field gives the first key of the caller's partner.",
    fails: [noUserData],
    change: editHeaders({ kinds: ['unauthorized'] }, ({ world }) => ({
      'X-Expected-Key': valuesOf(world.keys)[0]?.key ?? '-',
    })),
  },
  'partner-in-challenge': {
    what: 'WWW-Authenticate names a partner as its realm.',
    fails: [noUserData],
    change: editHeaders({ status: 401 }, ({ world }) => ({
      'WWW-Authenticate': `Bearer realm="${valuesOf(world.keys)[0]?.partner ?? '-'}"`,
    })),
  },
  'user-in-404': {
    what: 'The 404 for a pending deposit names its user in a second field.',
    fails: [noUserData, ...rowsOf('pending', deposit, 'pending')],
    change: editPayload({ kinds: ['notYet'] }, (payload, { finding }) =>
      finding.kind === 'notYet' && finding.deposit.state === 'pending'
        ? { ...payload, user_id: finding.deposit.user_id }
        : payload,
    ),
  },
};
