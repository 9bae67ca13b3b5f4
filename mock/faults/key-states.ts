import type { Endpoint } from '../../schemas/endpoints.ts';
import type { Change } from '../change.ts';
import type { ApiKey } from '../world.ts';
import { deposit, rowsOf, user, type Faults } from './rows.ts';

const alsoAdmits =
  (which: readonly Endpoint[], test: (key: ApiKey) => boolean): Change =>
  (behaviour) => ({
    ...behaviour,
    admits: (key, call) => behaviour.admits(key, call) || (which.includes(call.endpoint) && test(key)),
  });

/** What let one in once lets one in for ever. */
const remembersKeys =
  (which: readonly Endpoint[]): Change =>
  (behaviour) => {
    const admitted = new Set<string>();
    return {
      ...behaviour,
      admits: (key, call) => {
        if (behaviour.admits(key, call)) admitted.add(key.key);
        else if (!which.includes(call.endpoint)) return false;
        return admitted.has(key.key);
      },
    };
  };

/** Keys in a state in which they should not be let in (Authentication 2). */
export const keyStateFaults: Faults = {
  'revoked-key-on-user-status': {
    what: 'user-status accepts revoked keys.',
    fails: rowsOf('auth', user, 'revoked'),
    change: alsoAdmits(user, ({ state }) => state === 'revoked'),
  },
  'revoked-key-on-deposit-check': {
    what: 'deposit-check accepts revoked keys.',
    fails: rowsOf('auth', deposit, 'revoked'),
    change: alsoAdmits(deposit, ({ state }) => state === 'revoked'),
  },
  'expired-key-on-user-status': {
    what: 'user-status accepts expired keys.',
    fails: rowsOf('auth', user, 'expired'),
    change: alsoAdmits(user, ({ state }) => state === 'expired'),
  },
  'expired-key-on-deposit-check': {
    what: 'deposit-check accepts expired keys.',
    fails: rowsOf('auth', deposit, 'expired'),
    change: alsoAdmits(deposit, ({ state }) => state === 'expired'),
  },
  'other-account-on-user-status': {
    what: 'user-status accepts keys of non-Partner accounts.',
    fails: rowsOf('auth', user, 'non-partner'),
    change: alsoAdmits(user, ({ partner, state }) => partner === null && state === 'active'),
  },
  'other-account-on-deposit-check': {
    what: 'deposit-check accepts keys of non-Partner accounts.',
    fails: rowsOf('auth', deposit, 'non-partner'),
    change: alsoAdmits(deposit, ({ partner, state }) => partner === null && state === 'active'),
  },
  'revocation-unnoticed-on-user-status': {
    what: 'user-status goes on accepting a key that was revoked after its first use.',
    fails: rowsOf('auth', user, 'revocation'),
    change: remembersKeys(user),
  },
  'revocation-unnoticed-on-deposit-check': {
    what: 'deposit-check goes on accepting a key that was revoked after its first use.',
    fails: rowsOf('auth', deposit, 'revocation'),
    change: remembersKeys(deposit),
  },
};
