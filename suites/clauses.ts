/** What one place of the interface binds a server to, in our words, and what checks it. */
export interface Clause {
  /** The section of the interface. */
  readonly section: string;
  readonly binds: string;
  /** Requirements that check it; an id may end in /* for all below it. */
  readonly checkedBy: readonly string[];
  /** Why a black box cannot tell, or not all of it. */
  readonly unchecked?: string;
}

/** Every sentence of the interface that binds a server, in its order. */
export const clauses: readonly Clause[] = [
  {
    section: 'What the service does',
    binds: 'tell whether a user is under the IB, and since when',
    checkedBy: ['valid/user-status/member', 'valid/user-status/date-joined'],
  },
  {
    section: 'What the service does',
    binds: 'tell whether a deposit is executed, and if so its amount and time',
    checkedBy: [
      'valid/deposit-check/executed',
      'valid/deposit-check/amount',
      'valid/deposit-check/executed-at',
    ],
  },
  {
    section: 'What the service does',
    binds: 'two GETs with their parameters in the query, answered in JSON',
    checkedBy: ['valid/service/json-content-type', 'robustness/service/methods', 'robustness/service/head'],
  },
  {
    section: 'What the service does',
    binds: 'lookups only: they change nothing and depend on nothing else',
    checkedBy: ['valid/*/repeatable', 'robustness/service/concurrency'],
  },
  {
    section: 'What the service does',
    binds: 'scoped to the calling partner',
    checkedBy: ['foreign-ib/*'],
  },
  {
    section: 'What the service does',
    binds: 'no user data but membership and join date',
    checkedBy: ['valid/service/no-user-data', 'valid/deposit-check/shape'],
    unchecked: 'only data that the fixture knows can be recognized',
  },
  {
    section: 'IB membership result',
    binds: 'is_under_ib, a boolean; date_joined, an ISO 8601 UTC time or null',
    checkedBy: [
      'valid/user-status/shape',
      'valid/user-status/date-joined-format',
      'valid/user-status/date-joined-rfc3339',
      'foreign-ib/user-status/shape',
    ],
  },
  {
    section: 'Executed deposit result',
    binds: 'status EXECUTED, amountInUsd a number, executedAt in Unix milliseconds',
    checkedBy: [
      'valid/deposit-check/shape',
      'valid/deposit-check/closed',
      'valid/deposit-check/executed',
      'valid/deposit-check/amount',
      'valid/deposit-check/executed-at',
    ],
  },
  {
    section: 'Deposit reference',
    binds: 'a UUID that belongs to the deposit of a user under the IB',
    checkedBy: [
      'valid/deposit-check/any-uuid-version',
      'valid/deposit-check/uuid-case',
      'valid/deposit-check/percent-encoding',
    ],
    unchecked: 'that it is the id shown in the deposit list: the list is not part of the interface',
  },
  {
    section: 'Error body',
    binds: 'a single field, error, with a message',
    checkedBy: [
      'invalid-uuid/*',
      'auth/*',
      'pending/*',
      'rate-limit/*/message',
      'foreign-ib/deposit-check/*',
    ],
  },
  {
    section: 'States and transitions',
    binds: 'EXECUTED is visible',
    checkedBy: ['valid/deposit-check/executed', 'pending/deposit-check/after-executed'],
  },
  {
    section: 'States and transitions',
    binds: 'pending and failed are answered as unknown',
    checkedBy: [
      'pending/deposit-check/pending',
      'pending/deposit-check/failed',
      'pending/deposit-check/indistinguishable',
    ],
  },
  {
    section: 'States and transitions',
    binds: 'what is not yet EXECUTED can become visible',
    checkedBy: ['pending/deposit-check/becomes-executed'],
  },
  {
    section: 'GET user-status, 200',
    binds: 'true and the join date for a user under the IB',
    checkedBy: ['valid/user-status/*'],
  },
  {
    section: 'GET user-status, 200',
    binds: 'false and null for any other user, and no error',
    checkedBy: ['foreign-ib/user-status/other-ib', 'foreign-ib/user-status/unknown'],
  },
  {
    section: 'GET user-status, 400',
    binds: 'user_id missing or not a UUID (of version 4)',
    checkedBy: ['invalid-uuid/user-status/*'],
  },
  {
    section: 'GET user-status, 401',
    binds: 'authentication failed',
    checkedBy: ['auth/user-status/*'],
  },
  {
    section: 'GET user-status, 429',
    binds: 'rate limit exceeded',
    checkedBy: ['rate-limit/user-status/*'],
  },
  {
    section: 'GET deposit-check, 200',
    binds: 'an EXECUTED deposit of a user under the IB',
    checkedBy: ['valid/deposit-check/*'],
  },
  {
    section: 'GET deposit-check, 400',
    binds: 'reference_id missing or not a UUID',
    checkedBy: ['invalid-uuid/deposit-check/*'],
  },
  {
    section: 'GET deposit-check, 401',
    binds: 'key missing, invalid, or not a Partner key',
    checkedBy: ['auth/deposit-check/*'],
  },
  {
    section: 'GET deposit-check, 404',
    binds: 'unknown, outside the IB, or not EXECUTED',
    checkedBy: [
      'foreign-ib/deposit-check/other-ib',
      'foreign-ib/deposit-check/unknown',
      'pending/deposit-check/pending',
      'pending/deposit-check/failed',
    ],
  },
  {
    section: 'GET deposit-check, 429',
    binds: 'rate limit exceeded',
    checkedBy: ['rate-limit/deposit-check/*'],
  },
  {
    section: 'Authentication',
    binds: 'the key stands in the Authorization header, as a Bearer token',
    checkedBy: [
      'auth/*/missing',
      'auth/*/malformed',
      'auth/*/header-only',
      'auth/*/scheme-case',
      'auth/service/www-authenticate',
    ],
  },
  {
    section: 'Authentication',
    binds: 'a key that is invalid, revoked, expired or of a non-Partner account yields 401',
    checkedBy: [
      'auth/*/unknown-key',
      'auth/*/revoked',
      'auth/*/expired',
      'auth/*/non-partner',
      'auth/*/revocation',
    ],
  },
  {
    section: 'Authentication',
    binds: 'only Partner accounts are issued keys',
    checkedBy: [],
    unchecked: 'how keys are issued is not shown',
  },
  {
    section: 'Errors',
    binds: 'the message of each status, in the words of its endpoint',
    checkedBy: ['invalid-uuid/*', 'auth/*', 'foreign-ib/deposit-check/*', 'rate-limit/*/message'],
  },
  {
    section: 'Errors, notes',
    binds: 'a missing parameter is an invalid one',
    checkedBy: ['invalid-uuid/*/missing', 'auth/*/order'],
  },
  {
    section: 'Errors, notes',
    binds: 'after a 429 one waits, and may come back',
    checkedBy: ['rate-limit/*/recovers', 'rate-limit/*/window', 'rate-limit/*/retry-after'],
  },
  {
    section: 'Errors, notes',
    binds: 'other statuses are not shown',
    checkedBy: ['robustness/*', 'invalid-uuid/*/hostile'],
  },
  {
    section: 'Limits',
    binds: 'a limiter on both endpoints',
    checkedBy: [
      'rate-limit/user-status/failed-lookups',
      'rate-limit/deposit-check/requests',
      'rate-limit/*/threshold',
      'rate-limit/*/scope',
    ],
    unchecked: 'a limiter whose threshold nobody states may lie beyond what a run sends',
  },
  {
    section: 'Limits',
    binds: 'that of user-status is triggered by failed lookups',
    checkedBy: ['rate-limit/user-status/failed-lookups', 'rate-limit/user-status/spares-successes'],
  },
  {
    section: 'Versioning',
    binds: 'paths begin with /api/ib, without a version',
    checkedBy: ['valid/user-status/member', 'valid/deposit-check/executed'],
  },
];

/** Whether an id is meant by a pattern: `*` stands for a part, at the end for all that follows. */
export function isMeant(id: string, pattern: string): boolean {
  const wanted = pattern.split('/');
  const parts = id.split('/');
  return (
    wanted.every((part, at) => part === '*' || part === parts[at]) &&
    (wanted.length === parts.length || wanted.at(-1) === '*')
  );
}
