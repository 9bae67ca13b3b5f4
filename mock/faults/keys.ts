import type { Endpoint } from '../../schemas/endpoints.ts';
import type { Change } from '../change.ts';
import { orKey } from './or-key.ts';
import { both, deposit, rowsOf, user, type Faults } from './rows.ts';

type KeyTest = (key: string, credential: string) => boolean;

const looseKey = (test: KeyTest, which: readonly Endpoint[] = both): Change =>
  orKey(which, (key, _, credential) => credential !== undefined && test(key, credential));

/** Keys that are nearly right and are let in (auth, unknown-key). */
export const keyFaults: Faults = {
  'any-key-on-user-status': {
    what: 'user-status accepts any key.',
    fails: rowsOf('auth', user, 'unknown-key'),
    change: looseKey(() => true, user),
  },
  'any-key-on-deposit-check': {
    what: 'deposit-check accepts any key.',
    fails: rowsOf('auth', deposit, 'unknown-key'),
    change: looseKey(() => true, deposit),
  },
  'key-prefix-accepted': {
    what: 'The beginning of a key is accepted.',
    fails: rowsOf('auth', both, 'unknown-key'),
    change: looseKey((key, credential) => key.startsWith(credential)),
  },
  'key-suffix-accepted': {
    what: 'The end of a key is accepted.',
    fails: rowsOf('auth', both, 'unknown-key'),
    change: looseKey((key, credential) => key.endsWith(credential)),
  },
  'key-with-more-behind-accepted': {
    what: 'A key with more behind it is accepted.',
    fails: rowsOf('auth', both, 'unknown-key'),
    change: looseKey((key, credential) => credential.startsWith(key)),
  },
  'key-with-more-before-accepted': {
    what: 'A key with more before it is accepted.',
    fails: rowsOf('auth', both, 'unknown-key'),
    change: looseKey((key, credential) => credential.endsWith(key)),
  },
  'key-case-ignored': {
    what: 'Keys are compared without regard to letter case.',
    fails: rowsOf('auth', both, 'unknown-key'),
    change: looseKey((key, credential) => key.toLowerCase() === credential.toLowerCase()),
  },
  'key-compared-by-length': {
    what: 'Anything as long as a key is accepted.',
    fails: rowsOf('auth', both, 'unknown-key'),
    change: looseKey((key, credential) => key.length === credential.length),
  },
  'key-compared-by-eight-characters': {
    what: 'Only the first eight characters of a key are compared.',
    fails: rowsOf('auth', both, 'unknown-key'),
    change: looseKey((key, credential) => key.slice(0, 8) === credential.slice(0, 8)),
  },
};
