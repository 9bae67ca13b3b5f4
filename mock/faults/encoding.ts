import type { Endpoint } from '../../schemas/endpoints.ts';
import { answerWith, crash, editResponse, type Change } from '../change.ts';
import type { Exchange } from '../exchange.ts';
import { both, deposit, noServerErrors, rowsOf, user, type Faults } from './rows.ts';

const undecoded =
  (which: Endpoint): Change =>
  (behaviour) => ({
    ...behaviour,
    isId: (endpoint, value) => behaviour.isId(endpoint, endpoint === which ? value : behaviour.decode(value)),
    idOf: (endpoint, value) => behaviour.idOf(endpoint, behaviour.decode(value)),
    decode: (text) => text,
  });

const queryOf = ({ request }: Exchange) => request.target.split('?')[1] ?? '';
const hasArray = ({ call }: Exchange) => call?.parameters.some(([name]) => name.includes('[')) ?? false;
const isBroken = (exchange: Exchange) => {
  try {
    decodeURIComponent(queryOf(exchange));
    return false;
  } catch {
    return true;
  }
};
const isLong = (exchange: Exchange) => queryOf(exchange).length > 4000;
const hostile = (which: readonly Endpoint[]) => rowsOf('invalid-uuid', which, 'hostile');

/** Encoded and hostile values (valid, percent-encoding; invalid-uuid, hostile). */
export const encodingFaults: Faults = {
  'user-id-not-decoded': {
    what: 'Percent-encoding in user_id is not decoded.',
    fails: rowsOf('valid', user, 'percent-encoding'),
    change: undecoded('user-status'),
  },
  'reference-id-not-decoded': {
    what: 'Percent-encoding in reference_id is not decoded.',
    fails: rowsOf('valid', deposit, 'percent-encoding'),
    change: undecoded('deposit-check'),
  },
  'array-crashes': {
    what: 'An array parameter crashes.',
    fails: [...hostile(both), noServerErrors],
    change: crash({ where: hasArray }),
  },
  'array-read-as-unknown-user': {
    what: 'user_id[] is answered 200 without being read.',
    fails: hostile(user),
    change: answerWith({ endpoint: 'user-status', status: 400, where: hasArray }, 200, {
      is_under_ib: false,
      date_joined: null,
    }),
  },
  'broken-encoding-crashes': {
    what: 'Broken percent-encoding crashes.',
    fails: [...hostile(both), noServerErrors],
    change: crash({ where: isBroken }),
  },
  'long-value-crashes': {
    what: 'A value of several thousand characters crashes.',
    fails: [...hostile(both), noServerErrors],
    change: crash({ where: isLong }),
  },
  'long-user-id-drops-connection': {
    what: 'A user_id of several thousand characters ends the connection without an answer.',
    fails: hostile(user),
    change: editResponse({ endpoint: 'user-status', where: isLong }, () => ({ dropped: true })),
  },
  'broken-reference-id-drops-connection': {
    what: 'Broken percent-encoding in reference_id ends the connection without an answer.',
    fails: hostile(deposit),
    change: editResponse({ endpoint: 'deposit-check', where: isBroken }, () => ({ dropped: true })),
  },
};
