import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { namedKeys, checkFixture, readFixture, fixtureWarnings, keyVariables } from './fixture.ts';
import type { Fixture } from './generated/types.ts';
import { Problem } from './problem.ts';

const text = readFileSync(new URL('built-in.fixture.json', import.meta.url), 'utf8');
const env = { GOOD: 'pk_from_env', BAD: 'with space' };

/** Returns the lines of the Problem that a call throws. */
function problemsOf(call: () => unknown): readonly string[] {
  try {
    call();
  } catch (error) {
    assert.ok(error instanceof Problem && error.code === 'fixture', String(error));
    return error.message.split('\n');
  }
  return [];
}

const userId = '33333333-3333-4333-8333-333333333333';

/** Invalid changes of the built-in fixture, and the expected problems. */
const mistakes: Readonly<
  Record<string, readonly [change: (fixture: string) => string, ...patterns: readonly RegExp[]]>
> = {
  'a truncated file': [(fixture) => fixture.slice(0, 400), /^f\.json:\d+:\d+: is not JSON: /],
  'a list': [() => '[]', /^f\.json: the fixture must be object: \[\]$/],
  'an unknown part': [
    (fixture) => fixture.replace('"partners"', '"partner"'),
    /^f\.json: the fixture has an unknown key "partner"; known are "\$schema", "partners", /,
  ],
  'a part called __proto__': [
    (fixture) => fixture.replace('"partners"', '"__proto__"'),
    /^f\.json: the fixture has an unknown key "__proto__"; known are /,
  ],
  'an unknown field': [
    (fixture) => fixture.replace('"date_joined"', '"joined"'),
    /^f\.json: users\[0\] lacks "date_joined"$/,
    /^f\.json: users\[0\] has an unknown key "joined"; known are "user_id", "partner", "date_joined"$/,
  ],
  'a date that does not exist': [
    (fixture) => fixture.replace('2023-07-14', '2023-02-30'),
    /^f\.json: users\[\d\]\.date_joined is not a UTC timestamp like 2024-02-29T23:59:59\.999Z: "2023-02-30T/,
  ],
  'a date that breaks pattern and format': [
    (fixture) => fixture.replace(/2023-07-14[^"]*/, 'x'),
    /^f\.json: users\[\d\]\.date_joined is not a UTC timestamp like 2024-02-29T23:59:59\.999Z: "x"$/,
  ],
  'a state that does not exist': [
    (fixture) => fixture.replace('"failed"', '"lost"'),
    /^f\.json: deposits\[\d+\]\.state is not one of "EXECUTED", "pending", "failed"$/,
  ],
  'a limit of 0': [
    (fixture) => fixture.replace('"requests": 250', '"requests": 0'),
    /^f\.json: limits\.deposit-check\.requests is not a number of requests \(1 or more\): 0$/,
  ],
  'the same user in another letter case': [
    (fixture) => fixture.replace('aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa', userId.toUpperCase()),
    /^f\.json: users\[\d\]\.user_id is the same as users\[\d\]\.user_id: "33333333-/,
    /^f\.json: deposits\[\d+\]\.user_id "aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa" is not among the users$/,
  ],
  'duplicate keys, whose value is not shown': [
    (fixture) => fixture.replaceAll(/"key": "[^"]*"/g, '"key": "same"'),
    ...[1, 2, 3, 4, 5, 6, 7].map(
      (nth) => new RegExp(`^f\\.json: apiKeys\\[${nth}\\]\\.key is the same as apiKeys\\[0\\]\\.key$`),
    ),
  ],
  'deposits of an unknown user': [
    (fixture) =>
      fixture.replace(`"user_id": "${userId}",`, '"user_id": "33333333-3333-4333-8333-000000000000",'),
    /^f\.json: deposits\[\d+\]\.user_id "33333333-3333-4333-8333-333333333333" is not among the users$/,
  ],
  'two triggers': [
    (fixture) => fixture.replace('"afterPolls": 3', '"afterPolls": 3, "afterSeconds": 3'),
    /^f\.json: deposits\[\d+\]\.becomes needs either "afterPolls" or "afterSeconds"$/,
  ],
  'a key with two expiry times': [
    (fixture) =>
      fixture.replace('"state": "active"', '"state": "active", "expiresAt": 5, "expiresAfterSeconds": 5'),
    /^f\.json: apiKeys\[0\] has both "expiresAt" and "expiresAfterSeconds": remove one$/,
  ],
  'a partner that does not exist': [
    (fixture) => fixture.replace('"partner": "contoso",\n      "date', '"partner": "x",\n      "date'),
    /^f\.json: users\[\d\]\.partner "x" is not among the partners$/,
  ],
  'a variable that is not set': [
    (fixture) => fixture.replace('"contoso-key"', '"${NONE}"'),
    /^f\.json: apiKeys\[\d\]\.key needs the environment variable NONE, which is not set: export NONE=…$/,
  ],
  'a variable with a space': [
    (fixture) => fixture.replace('"contoso-key"', '"${BAD}"'),
    /^f\.json: apiKeys\[\d\]\.key: the environment variable BAD has characters that a header cannot contain/,
  ],
  'a key with a space, whose value is not shown': [
    (fixture) => fixture.replace('"contoso-key"', '"contoso key"'),
    /^f\.json: apiKeys\[\d\]\.key is not a key that fits into a header \([^)]*\), or \$\{NAME\} to read it from the environment$/,
  ],
};

for (const [what, [change, ...patterns]] of Object.entries(mistakes))
  test(`invalid: ${what}`, () => {
    const found = problemsOf(() => readFixture(change(text), 'f.json', env));
    assert.equal(found.length, patterns.length, found.join('\n'));
    for (const [at, expected] of patterns.entries()) assert.match(found[at]!, expected);
  });

test('a byte order mark is ignored, and keys are read from the environment', () => {
  const { apiKeys } = readFixture(`\uFEFF${text.replace('"contoso-key"', '"${GOOD}"')}`, 'f.json', env);
  assert.ok(apiKeys!.some(({ key }) => key === 'pk_from_env'));
});

test('the first 100 problems are listed, the others are counted, and the time grows only linearly', (t) => {
  let shown = 0;
  const date_joined = { toJSON: () => `${++shown}` };
  const records = 20_000;
  const users = Array.from({ length: records }, (_, nth) => ({
    user_id: `33333333-3333-4333-8333-${String(nth).padStart(12, '0')}`,
    partner: null,
    date_joined: nth === 0 ? 'x' : date_joined,
  }));
  // The validator collects its errors with `concat`.
  let copied = 0;
  const prototype = Array.prototype;
  const { concat } = prototype;
  prototype.concat = function (this: unknown[], ...more) {
    copied += this.length;
    return concat.apply(this, more) as unknown[];
  };
  t.after(() => (prototype.concat = concat));
  const found = problemsOf(() => checkFixture({ users }, 'f.json', {}));
  assert.equal(found.length, 101);
  assert.match(found[99]!, /^f\.json: users\[99\]\.date_joined is not a UTC timestamp/);
  assert.equal(found[100], 'f.json: … and 19,900 more');
  assert.equal(shown, 99);
  assert.ok(copied > records && copied < 100 * records, `${copied} errors copied`);
});

test('invalid references are listed and counted in the same way', () => {
  const deposits = Array.from({ length: 5000 }, (_, nth) => ({
    reference_id: `33333333-3333-4333-8333-${String(nth % 2500).padStart(12, '0')}`,
    user_id: userId,
    state: 'failed' as const,
  }));
  const fixture: Fixture = { users: [], deposits };
  const found = problemsOf(() => checkFixture(fixture, 'f.json', {}));
  assert.equal(
    found[0],
    `f.json: deposits[2500].reference_id is the same as deposits[0].reference_id: "33333333-3333-4333-8333-000000000000"`,
  );
  assert.equal(found.at(-1), 'f.json: … and 7,400 more');
});

test('a key is named by partner and state, with a number if several have both', () => {
  const partners = ['p', null, 'p', 'non-partner'];
  const keys = partners.map((partner, at) => ({ key: `k${at}`, partner, state: 'active' as const }));
  assert.deepEqual(
    namedKeys(keys).map(({ name }) => name),
    ['<key p/active>', '<key non-partner/active>', '<key p/active/2>', '<key non-partner/active/2>'],
  );
});

/** Keys as written, their partners and states, and the shell variables. The fifth is under test. */
const variables = [
  ['literal-1', null, 'active', 'IB_NON_PARTNER_KEY'],
  ['${OTHER}', 'q', 'active', 'OTHER'],
  ['literal-2', 'q', 'active', 'IB_OTHER_KEY_2'],
  ['literal-3', 'p', 'active', 'IB_API_KEY_3'],
  // IB_API_KEY has a part of this one.
  ['live_${IB_API_KEY}', 'p', 'active', 'IB_API_KEY_2'],
  ['${A}${B}', 'p', 'revoked', 'IB_REVOKED_KEY'],
  ['${IB_REVOKED_KEY_2}', 'q', 'revoked', 'IB_REVOKED_KEY_2'],
  ['${A}', null, 'revoked', 'A'],
  ['literal-4', 'p', 'revoked', 'IB_REVOKED_KEY_4'],
  ['${no-name}', 'p', 'expired', 'IB_EXPIRED_KEY'],
  ['${_b}', 'p', 'expired', '_b'],
] as const;

test('each key has a variable of its own: that of the fixture, or one named by kind', () => {
  const names = ['OTHER', 'IB_API_KEY', 'A', 'B', 'IB_REVOKED_KEY_2', 'no-name', '_b'];
  const values = Object.fromEntries(names.map((name) => [name, `value-of-${name}`]));
  const given = { apiKeys: variables.map(([key, partner, state]) => ({ key, partner, state })) };
  const { apiKeys = [] } = checkFixture(given, 'f', values);
  // Copies, as a run and a mock make them.
  const found = keyVariables(namedKeys(apiKeys), apiKeys[4]);
  assert.deepEqual(
    apiKeys.map(({ key }) => found.get(key)),
    variables.map(([, , , name]) => name),
  );
  assert.doesNotMatch(JSON.stringify(apiKeys), /\$/);
});

const key = (given: string) => ({ key: given, partner: 'p', state: 'active' }) as const;
const warningsOf = (given: string) => fixtureWarnings({ apiKeys: [key('sk_live_1'), key(given)] });

for (const given of [
  '$IB_API_KEY',
  '{{ key }}',
  '${{ secrets.KEY }}',
  '%KEY%',
  '"sk_live_1"',
  "'x'",
  '***',
  '<your key>',
])
  test(`a key that is no key: ${given}`, () => {
    const [warning, ...others] = warningsOf(given);
    assert.match(warning!, /^apiKeys\[1\]\.key looks like a /);
    assert.deepEqual(others, []);
  });

test('a real key has no warning, and none is shown', () => {
  for (const given of ['sk_live_1', 'a$b', 'Zm9v==', 'x-1']) assert.deepEqual(warningsOf(given), []);
});

test('executedAt in seconds is told by its year', () => {
  const deposit = (executedAt: number) =>
    ({ reference_id: 'r', user_id: 'u', state: 'EXECUTED', amountInUsd: 1, executedAt }) as const;
  assert.deepEqual(fixtureWarnings({ deposits: [100_000_000_000, 999_999_999_999].map(deposit) }), []);
  assert.deepEqual(fixtureWarnings({ deposits: [deposit(1_705_314_600_000), deposit(99_999_999_999)] }), [
    'deposits[1].executedAt is in 1973: it is in ms, and this may be seconds',
  ]);
});
