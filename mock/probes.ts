/**
 * Requests for the tests of the registries: by requirement, some that a deviation from it would show
 * in. Ids and keys are those of the built-in fixture. The suites have requests of their own.
 */
import type { HttpRequest } from './exchange.ts';

/** A request at so many ms after the creation of the world, or the revocation of a key. */
export type Probe =
  | { readonly request: HttpRequest; readonly atMs: number }
  | { readonly revoke: string; readonly atMs: number };

interface Details {
  readonly key?: string | null;
  readonly authorization?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly method?: string;
  readonly body?: string;
  readonly alongside?: number;
  readonly atMs?: number;
}

/** `key: null` sends no Authorization header. */
export function probe(target: string, details: Details = {}): Probe {
  const { key = 'northwind-key', authorization = `Bearer ${key}`, method = 'GET', atMs = 0 } = details;
  const { headers, body, alongside = 0 } = details;
  return {
    request: {
      method,
      target,
      headers: { ...(key === null ? {} : { authorization }), ...headers },
      alongside,
      ...(body === undefined ? {} : { body }),
    },
    atMs,
  };
}

const USER = '/api/ib/user-status?user_id=';
const DEPOSIT = '/api/ib/deposit-check?reference_id=';
export const user = (value: string, details?: Details) => probe(USER + encodeURIComponent(value), details);
export const deposit = (value: string, details?: Details) =>
  probe(DEPOSIT + encodeURIComponent(value), details);

const members = [
  '11111111-1111-4111-8111-111111111111',
  'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa',
  '1e500000-0000-4000-8000-000000000001',
] as const;
const executed = [
  '44444444-4444-4444-8444-444444444444',
  'dddddddd-dddd-4ddd-8ddd-dddddddddddd',
  '018d0c2e-9f00-7abc-8def-0123456789ab',
  '1e400000-0000-1000-8000-000000000002',
] as const;
const [member, letters] = members;
const [cash, lettersToo] = executed;
const foreignUser = '22222222-2222-4222-8222-222222222222';
const lastForeignUser = 'bbbbbbbb-bbbb-4bbb-bbbb-bbbbbbbbbbbb';
const freeUser = '33333333-3333-4333-8333-333333333333';
const foreignDeposit = '99999999-9999-4999-8999-999999999999';
const freeDeposit = 'cccccccc-cccc-4ccc-8ccc-cccccccccccc';
const pending = '55555555-5555-4555-8555-555555555555';
const failed = '66666666-6666-4666-8666-666666666666';
const nobody = 'abcdef01-2345-4678-9abc-def012345678';

/** `aaaa` → `%61%61%61%61` */
const encoded = (text: string) =>
  [...text].map((character) => `%${character.charCodeAt(0).toString(16)}`).join('');
const mixed = (text: string) => text.replace(/[a-f]/, (letter) => letter.toUpperCase());

const notIds = (id: string) => [
  'x',
  `${id}0`,
  id.slice(1),
  id.slice(0, -1),
  `${id}\n`,
  `a\n${id}`,
  `x${id}`,
  `${id}x`,
  '1-1-1-1-1',
  '12345',
  `g${id.slice(1)}`,
  `${id.slice(0, -1)}g`,
  `_${id.slice(1)}`,
  `G${id.slice(1)}`,
  `٣${id.slice(1)}`,
  `１${id.slice(1)}`,
  `${id}\0`,
  `${id.slice(0, 9)}\u0001${id.slice(9)}`,
  "' or 1=1 --",
  'x'.repeat(36),
  `${id.slice(0, 7)}-${id.slice(7, 8)}${id.slice(9)}`,
  'xxxxxxxx-xxxx-4xxx-8xxx-xxxxxxxxxxxx',
];
const otherSpellings = (id: string) => [
  `{${id}}`,
  `urn:uuid:${id}`,
  id.replaceAll('-', ''),
  ` ${id} `,
  `${id} `,
  `\t${id}`,
  `\n${id}`,
  id.replace(/-8/, '-c'),
];
const ofVersion = (version: number) => `abcdef01-2345-${version}678-9abc-def012345678`;
const hostile = (path: string, name: string, id: string) =>
  [
    '=%',
    '=%zz',
    '=%E0%A4%A',
    '[]=x',
    `=${'a'.repeat(8192)}`,
    `=${id}${'0'.repeat(8156)}`,
    `=${'%00'.repeat(2730)}`,
    '=x&x=1&x=1',
  ].map((rest) => probe(`${path}?${name}${rest}`));
const times = (count: number, one: Probe) => Array.from({ length: count }, () => one);

const key = 'northwind-key';
const badKeys = (ask: (details: Details) => Probe) => ({
  missing: [ask({ key: null })],
  malformed: [
    key,
    `Basic ${key}`,
    `Basic ${btoa(`${key}:`)}`,
    `Token ${key}`,
    'Bearer',
    'Bearer northwind -key',
    `Bearer ${key} ${key}`,
    '',
  ].map((authorization) => ask({ authorization })),
  'unknown-key': [
    'nope',
    key.slice(0, -1),
    key.slice(1),
    `${key}x`,
    `x${key}`,
    `"${key}"`,
    'Northwind-key',
    'northwind-kez',
  ].map((one) => ask({ key: one })),
  revoked: [ask({ key: 'northwind-revoked-key' })],
  expired: [ask({ key: 'northwind-expired-key' })],
  'non-partner': [ask({ key: 'jane-personal-key' })],
  'header-only': [
    ask({ key: null, headers: { cookie: `api_key=${key}` } }),
    ask({ key: null, headers: { 'x-api-key': key } }),
    ask({ key: null, body: `{"key":"${key}"}` }),
  ],
  revocation: [ask({}), { revoke: key, atMs: 0 }, ask({})],
});

function prefixed(prefix: string, probes: Readonly<Record<string, readonly Probe[]>>) {
  return Object.fromEntries(Object.entries(probes).map(([name, value]) => [`${prefix}/${name}`, value]));
}

const allMembers = members.map((id) => user(id));
const allExecuted = executed.map((id) => deposit(id));
const keysOfUsers = badKeys((details) => user(member, details));
const keysOfDeposits = badKeys((details) => deposit(cash, details));
const overUserLimit = [...times(60, user(nobody)), user(nobody)];
const overDepositLimit = [...times(250, deposit(cash)), deposit(cash)];

/** Every required and recommended requirement of the catalogue, with requests that bear on it. */
export const probes: Readonly<Record<string, readonly Probe[]>> = {
  ...prefixed('valid/user-status', {
    member: allMembers,
    'date-joined': allMembers,
    'date-joined-format': allMembers,
    'date-joined-rfc3339': allMembers,
    shape: allMembers,
    'uuid-case': [user(letters.toUpperCase()), user(mixed(letters))],
    'percent-encoding': [probe(USER + encoded(member))],
    repeatable: times(3, user(member)),
  }),
  ...prefixed('valid/deposit-check', {
    executed: allExecuted,
    amount: allExecuted,
    'executed-at': allExecuted,
    shape: allExecuted,
    closed: allExecuted,
    'uuid-case': [deposit(lettersToo.toUpperCase()), deposit(mixed(lettersToo))],
    'any-uuid-version': [1, 2, 3, 4, 5, 6, 7, 8].map((version) => deposit(ofVersion(version))),
    'percent-encoding': [probe(DEPOSIT + encoded(cash))],
    repeatable: times(3, deposit(cash)),
  }),
  ...prefixed('valid/service', {
    'json-content-type': [user(member), user('x')],
    'no-user-data': [
      user(member),
      user(foreignUser),
      deposit(cash),
      deposit(pending),
      user(member, { key: null }),
    ],
  }),
  ...prefixed('invalid-uuid/user-status', {
    missing: [probe('/api/ib/user-status'), probe('/api/ib/user-status?')],
    empty: [user(''), probe('/api/ib/user-status?user_id=&other=1')],
    malformed: notIds(member).map((id) => user(id)),
    'not-v4': [1, 2, 3, 5, 6, 7, 8].map((version) => user(ofVersion(version))),
    'alternative-spelling': otherSpellings(member).map((id) => user(id)),
    hostile: hostile('/api/ib/user-status', 'user_id', member),
  }),
  ...prefixed('invalid-uuid/deposit-check', {
    missing: [probe('/api/ib/deposit-check')],
    empty: [deposit(''), probe('/api/ib/deposit-check?reference_id=&other=1')],
    malformed: notIds(cash).map((id) => deposit(id)),
    'alternative-spelling': otherSpellings(cash).map((id) => deposit(id)),
    hostile: hostile('/api/ib/deposit-check', 'reference_id', cash),
  }),
  ...prefixed('foreign-ib/user-status', {
    'other-ib': [user(foreignUser), user(freeUser)],
    unknown: [user(nobody)],
    shape: [user(foreignUser), user(nobody)],
    indistinguishable: [user(foreignUser), user(nobody)],
    'follows-key': [
      user(member),
      user(foreignUser),
      ...[member, foreignUser, lastForeignUser].map((id) => user(id, { key: 'contoso-key' })),
    ],
  }),
  ...prefixed('foreign-ib/deposit-check', {
    'other-ib': [deposit(foreignDeposit), deposit(freeDeposit)],
    unknown: [deposit(nobody)],
    indistinguishable: [deposit(foreignDeposit), deposit(nobody)],
    'follows-key': [
      deposit(foreignDeposit),
      ...[cash, foreignDeposit].map((id) => deposit(id, { key: 'contoso-key' })),
    ],
  }),
  ...prefixed('pending/deposit-check', {
    pending: [deposit(pending)],
    failed: [deposit(failed)],
    indistinguishable: [deposit(pending), deposit(failed), deposit(nobody)],
    'becomes-executed': [
      ...times(4, deposit('77777777-7777-4777-8777-777777777777', { atMs: 123 })),
      deposit('88888888-8888-4888-8888-888888888888', { atMs: 5000 }),
    ],
  }),
  ...prefixed('auth/user-status', {
    ...keysOfUsers,
    'header-only': [...keysOfUsers['header-only'], probe(`${USER}${member}&api_key=${key}`, { key: null })],
  }),
  ...prefixed('auth/deposit-check', {
    ...keysOfDeposits,
    'header-only': [
      ...keysOfDeposits['header-only'],
      probe(`${DEPOSIT}${cash}&api_key=${key}`, { key: null }),
    ],
  }),
  ...prefixed('rate-limit', {
    'user-status/message': overUserLimit,
    'user-status/failed-lookups': overUserLimit,
    'user-status/spares-successes': times(61, user(member)),
    'user-status/recovers': [...overUserLimit, user(member, { atMs: 3000 })],
    'deposit-check/message': overDepositLimit,
    'deposit-check/requests': overDepositLimit,
    'deposit-check/recovers': [...overDepositLimit, deposit(cash, { atMs: 3000 })],
  }),
  ...prefixed('robustness/service', {
    concurrency: [...members, ...members].map((id) => user(id, { alongside: 5 })),
    'no-5xx': [
      ...hostile('/api/ib/user-status', 'user_id', member),
      ...hostile('/api/ib/deposit-check', 'reference_id', cash),
      user("'"),
      deposit("'"),
      user('\0'),
      deposit('\0'),
      ...overUserLimit,
      ...overDepositLimit,
      probe(USER + member, { method: 'POST' }),
      probe(USER + member, { method: 'HEAD' }),
      probe(`${USER}${member}&page=1`),
      probe('/api/ib/user-status/'),
    ],
  }),
};

/** Requests about what the interface leaves open; variants may differ here, and only here. */
export const openProbes: readonly Probe[] = [
  probe(`${USER}${member}`, { method: 'HEAD' }),
  probe(`${USER}${member}`, { method: 'POST' }),
  probe(`${USER}${member}`, { method: 'OPTIONS' }),
  probe('/api/ib/user-status/'),
  probe(`/API/IB/user-status?user_id=${member}`),
  probe('/', { key: null }),
  probe(`${USER}${member}&user_id=${foreignUser}`),
  probe(`${USER}${member}&page=1`),
  probe(`/api/ib/user-status?USER_ID=${member}`),
  deposit('00000000-0000-0000-0000-000000000000'),
  user(member, { authorization: `bearer ${key}` }),
  user('x', { key: null }),
  ...times(61, user('x')),
  user(nobody),
  user('x'),
  user(nobody, { key: 'northwind-spare-key' }),
  user(nobody, { key: 'contoso-key' }),
  ...times(61, user(nobody, { key: 'contoso-key', atMs: 1000 })),
  ...times(2, user(nobody, { key: 'contoso-key', atMs: 3500 })),
  ...times(61, user(nobody, { key: 'nope', atMs: 10_000 })),
  ...times(60, user(nobody, { atMs: 20_000 })),
  { revoke: key, atMs: 20_000 },
  user(nobody, { atMs: 20_000 }),
  user(member, { headers: { 'accept-encoding': 'br, gzip' } }),
];
