import { defined } from '../schemas/defined.ts';

/** By section: each obligation, with the ids of the requirements that check it. */
const sections: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'What the service does': {
    'tell whether a user is under the IB, and since when': 'valid/user-status/{member,date-joined}',
    'tell whether a deposit is executed, and if so its amount and time':
      'valid/deposit-check/{executed,amount,executed-at}',
    'two GETs with their parameters in the query, answered in JSON':
      'valid/service/json-content-type robustness/service/{methods,head}',
    'lookups only: they change nothing and depend on nothing else':
      'valid/*/repeatable robustness/service/concurrency',
    'scoped to the calling partner': 'foreign-ib/*',
    'no user data but membership and join date': 'valid/service/no-user-data valid/deposit-check/shape',
  },
  'IB membership result': {
    'is_under_ib, a boolean; date_joined, an ISO 8601 UTC time or null':
      'valid/user-status/{shape,date-joined-format,date-joined-rfc3339} foreign-ib/user-status/shape',
  },
  'Executed deposit result': {
    'status EXECUTED, amountInUsd a number, executedAt in Unix milliseconds':
      'valid/deposit-check/{shape,closed,executed,amount,executed-at}',
  },
  'Deposit reference': {
    'a UUID that belongs to the deposit of a user under the IB':
      'valid/deposit-check/{any-uuid-version,uuid-case,percent-encoding}',
  },
  'Error body': {
    'a single field, error, with a message':
      'invalid-uuid/* auth/* pending/* rate-limit/*/message foreign-ib/deposit-check/*',
  },
  'States and transitions': {
    'EXECUTED is visible': 'valid/deposit-check/executed',
    'pending and failed are answered as unknown': 'pending/deposit-check/{pending,failed,indistinguishable}',
    'what is not yet EXECUTED can become visible': 'pending/deposit-check/becomes-executed',
  },
  'GET user-status, 200': {
    'true and the join date for a user under the IB': 'valid/user-status/*',
    'false and null for any other user, and no error': 'foreign-ib/user-status/{other-ib,unknown}',
  },
  'GET user-status, 400': {
    'user_id missing or not a UUID (of version 4)': 'invalid-uuid/user-status/*',
  },
  'GET user-status, 401': { 'authentication failed': 'auth/user-status/*' },
  'GET user-status, 429': { 'rate limit exceeded': 'rate-limit/user-status/*' },
  'GET deposit-check, 200': { 'an EXECUTED deposit of a user under the IB': 'valid/deposit-check/*' },
  'GET deposit-check, 400': { 'reference_id missing or not a UUID': 'invalid-uuid/deposit-check/*' },
  'GET deposit-check, 401': { 'key missing, invalid, or not a Partner key': 'auth/deposit-check/*' },
  'GET deposit-check, 404': {
    'unknown, outside the IB, or not EXECUTED':
      'foreign-ib/deposit-check/{other-ib,unknown} pending/deposit-check/{pending,failed}',
  },
  'GET deposit-check, 429': { 'rate limit exceeded': 'rate-limit/deposit-check/*' },
  Authentication: {
    'the key stands in the Authorization header, as a Bearer token':
      'auth/*/{missing,malformed,header-only,scheme-case} auth/service/www-authenticate',
    'a key that is invalid, revoked, expired or of a non-Partner account yields 401':
      'auth/*/{unknown-key,revoked,expired,non-partner,revocation}',
    'only Partner accounts are issued keys': '',
  },
  Errors: {
    'the message of each status, in the words of its endpoint':
      'invalid-uuid/* auth/* foreign-ib/deposit-check/* rate-limit/*/message',
  },
  'Errors, notes': {
    'a missing parameter is an invalid one': 'invalid-uuid/*/missing auth/*/order',
    'after a 429 one waits, and may come back': 'rate-limit/*/{recovers,window,retry-after}',
    'other statuses are not shown': 'robustness/* invalid-uuid/*/hostile',
  },
  Limits: {
    'a limiter on both endpoints':
      'rate-limit/user-status/failed-lookups rate-limit/deposit-check/requests rate-limit/*/{threshold,scope}',
    'that of user-status is triggered by failed lookups':
      'rate-limit/user-status/{failed-lookups,spares-successes}',
  },
  Versioning: {
    'paths begin with /api/ib, without a version': 'valid/user-status/member valid/deposit-check/executed',
  },
};

/** Why a black-box test cannot check an obligation, or not fully. */
const unchecked: Readonly<Record<string, string>> = {
  'no user data but membership and join date': 'only data that the fixture knows can be recognized',
  'a UUID that belongs to the deposit of a user under the IB':
    'that it is the id shown in the deposit list: the list is not part of the interface',
  'only Partner accounts are issued keys': 'how keys are issued is not shown',
  'a limiter on both endpoints': 'a limiter whose threshold nobody states may lie beyond what a run sends',
};

/** Every obligation of the interface, in our words and in the order of its sections. */
export const clauses = Object.entries(sections).flatMap(([section, rows]) =>
  Object.entries(rows).map(([obligation, checkedBy]) => ({
    section,
    obligation,
    /** Ids of requirements, or patterns: see `matchesPattern`. */
    checkedBy: checkedBy.split(' ').filter(Boolean).flatMap(expandBraces),
    ...defined({ unchecked: unchecked[obligation] }),
  })),
);

/** `a/{b,c}` stands for `a/b` and `a/c`. */
function expandBraces(pattern: string): readonly string[] {
  const [, before, list] = /^(.*)\{(.*)\}$/.exec(pattern) ?? [];
  return list === undefined ? [pattern] : list.split(',').map((name) => before + name);
}

/** Whether an id matches a pattern. `*` stands for one part of the id, or at the end for all further parts. */
export const matchesPattern = (id: string, pattern: string): boolean =>
  new RegExp(`^${pattern.replace(/\*$/, '.+').replaceAll('*', '[^/]+')}$`).test(id);
