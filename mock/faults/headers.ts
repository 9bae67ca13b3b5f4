import type { Endpoint } from '../../schemas/endpoints.ts';
import type { Change } from '../change.ts';
import { orKey } from './or-key.ts';
import { both, deposit, rowsOf, user, type Faults } from './rows.ts';

type KeyTest = (key: string, credential: string) => boolean;

const looseHeader = (test: KeyTest, which: readonly Endpoint[] = both): Change =>
  orKey(which, (key, { request }) => test(key, request.headers.authorization ?? ''));

const hasTwoParts: KeyTest = (key, header) => {
  const parts = header.replace(/^bearer /i, '').split(/\s+/);
  return parts.length > 1 && (parts.includes(key) || parts.join('') === key);
};
const isBasic: KeyTest = (key, header) => {
  const token = /^basic +(\S+)$/i.exec(header)?.[1] ?? '';
  return token !== '' && (token === key || Buffer.from(token, 'base64').toString().split(':').includes(key));
};
const isTrimmed: KeyTest = (key, header) => /^bearer[\s"']+([^\s"']+)[\s"']*$/i.exec(header)?.[1] === key;
const isEmptyToken: KeyTest = (_, header) => /^bearer *$/i.test(header);

/** Requests without a header as it should be that are let in (Authentication 1). */
export const headerFaults: Faults = {
  'user-status-open-without-key': {
    what: 'user-status answers requests without a header as those of the first key.',
    fails: rowsOf('auth', user, 'missing'),
    change: orKey(user, (_, { request }) => request.headers.authorization === undefined),
  },
  'deposit-check-open-without-key': {
    what: 'deposit-check answers requests without a header as those of the first key.',
    fails: rowsOf('auth', deposit, 'missing'),
    change: orKey(deposit, (_, { request }) => request.headers.authorization === undefined),
  },
  'any-scheme-on-user-status': {
    what: 'user-status accepts the key after any scheme.',
    fails: rowsOf('auth', user, 'malformed'),
    change: looseHeader(
      (key, header) => header.split(' ')[1] === key && header.split(' ').length === 2,
      user,
    ),
  },
  'no-scheme-on-deposit-check': {
    what: 'deposit-check accepts the key without a scheme.',
    fails: rowsOf('auth', deposit, 'malformed'),
    change: looseHeader((key, header) => header === key, deposit),
  },
  'basic-accepted': {
    what: 'The key is accepted in the scheme Basic.',
    fails: rowsOf('auth', both, 'malformed'),
    change: looseHeader(isBasic),
  },
  'empty-token-accepted': {
    what: 'The scheme without a key is accepted.',
    fails: rowsOf('auth', both, 'malformed'),
    change: looseHeader(isEmptyToken),
  },
  'key-in-two-parts-accepted': {
    what: 'A key in two parts, or with a word beside it, is accepted.',
    fails: rowsOf('auth', both, 'malformed'),
    change: looseHeader(hasTwoParts),
  },
  'key-trimmed': {
    what: 'Quotation marks and any white space around the key are trimmed.',
    fails: rowsOf('auth', both, 'unknown-key'),
    change: looseHeader(isTrimmed),
  },
};
