import type { Endpoint } from '../../schemas/endpoints.ts';
import { editResponse, type Change } from '../change.ts';
import type { HttpResponse } from '../exchange.ts';
import { valuesOf } from '../overlay.ts';
import { deposit, rowsOf, user, type Faults } from './rows.ts';

/** Every accepted key counts as one of the first partner's. */
const firstPartnerOnly =
  (which: Endpoint): Change =>
  (behaviour) => ({
    ...behaviour,
    findKey: (world, credential, call) => {
      const key = behaviour.findKey(world, credential, call);
      if (call.endpoint !== which || key === undefined || !behaviour.admits(key, call)) return key;
      return valuesOf(world.keys).find((one) => behaviour.admits(one, call));
    },
  });

/** Whoever asks first about a user decides what all are told. */
const sharedCache: Change = (behaviour) => {
  const cache = new Map<string, HttpResponse>();
  return editResponse({ endpoint: 'user-status', status: 200 }, (response, { call }) => {
    const id = call?.value?.toLowerCase() ?? '';
    if (!cache.has(id)) cache.set(id, response);
    return cache.get(id) ?? response;
  })(behaviour);
};

const ownsAll =
  (which: Endpoint, isOwned: (partner: string | null) => boolean): Change =>
  (behaviour) => ({
    ...behaviour,
    owns: (call, partner) => behaviour.owns(call, partner) || (call.endpoint === which && isOwned(partner)),
  });

/** What belongs to other partners is shown, or the key's partner is not heeded (foreign-ib). */
export const scopeFaults: Faults = {
  'foreign-user-is-member': {
    what: "Users of other IBs are shown as the caller's members.",
    fails: rowsOf('foreign-ib', user, 'other-ib', 'follows-key'),
    change: ownsAll('user-status', (partner) => partner !== null),
  },
  'user-of-no-ib-is-member': {
    what: "Users of no IB are shown as the caller's members.",
    fails: rowsOf('foreign-ib', user, 'other-ib'),
    change: ownsAll('user-status', (partner) => partner === null),
  },
  'foreign-deposit-visible': {
    what: "Deposits of other IBs' users are shown.",
    fails: rowsOf('foreign-ib', deposit, 'other-ib', 'follows-key'),
    change: ownsAll('deposit-check', (partner) => partner !== null),
  },
  'deposit-of-no-ib-visible': {
    what: 'Deposits of users of no IB are shown.',
    fails: rowsOf('foreign-ib', deposit, 'other-ib'),
    change: ownsAll('deposit-check', (partner) => partner === null),
  },
  'first-partner-for-users': {
    what: "user-status answers every key as one of the first partner's.",
    fails: rowsOf('foreign-ib', user, 'follows-key'),
    change: firstPartnerOnly('user-status'),
  },
  'first-partner-for-deposits': {
    what: "deposit-check answers every key as one of the first partner's.",
    fails: rowsOf('foreign-ib', deposit, 'follows-key'),
    change: firstPartnerOnly('deposit-check'),
  },
  'user-cache-ignores-key': {
    what: 'user-status repeats the first answer about a user to every other key.',
    fails: rowsOf('foreign-ib', user, 'follows-key'),
    change: sharedCache,
  },
};
