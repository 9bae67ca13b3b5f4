import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { sendAll, builtIn, deposit, lookup, user, ids, lastAnswer as last } from '../testing/session.ts';
import { testSession, type TimedRequest } from '../testing/session.ts';
import { parserError } from './server.ts';

const path = '/api/ib/user-status';
const target = `${path}?user_id=${ids.member}`;
const limited = Array.from({ length: 60 }, () => user(ids.nobody));

const status = (...probes: readonly TimedRequest[]) => last(...probes).status;
/** Whether the member was found. */
const finds = (one: TimedRequest) => last(one).body.startsWith('{"is_under_ib":true,');

/** Proof of the decision by question. */
const shown: Readonly<Record<string, () => boolean>> = {
  'Order of the checks': () =>
    status(...limited, user('x', { key: null })) === 401 && status(...limited, user('x')) === 429,
  'Scheme of Authorization': () =>
    ['bearer northwind-key', 'BEARER   northwind-key'].every((authorization) =>
      finds(user(ids.member, { authorization })),
    ),
  'Repeated parameter': () =>
    finds(lookup(`${target}&user_id=x`)) && status(lookup(`${path}?user_id=x&user_id=${ids.member}`)) === 400,
  'Unknown parameter': () => finds(lookup(`${path}?page=1&user_id=${ids.member}&key=`)),
  'Letter case of parameter names': () => status(lookup(`${path}?User_id=${ids.member}`)) === 400,
  'Percent-encoding in a value': () =>
    finds(lookup(`${path}?user%5Fid=%31${ids.member.slice(1)}`)) && status(lookup(`${target}+`)) === 400,
  'Broken percent-encoding': () => ['%', '%zz', '%ff'].every((end) => status(lookup(target + end)) === 400),
  'Versions of reference_id': () =>
    [...'12345678'].every(
      (version) => status(deposit(`abcdef01-2345-${version}678-9abc-def012345678`)) === 404,
    ) &&
    status(deposit('00000000-0000-0000-0000-000000000000')) === 400 &&
    status(deposit('ffffffff-ffff-ffff-ffff-ffffffffffff')) === 400,
  HEAD: () =>
    status(lookup(target, { method: 'HEAD' })) === 200 &&
    last(lookup(target, { method: 'HEAD' })).body === '',
  'Other methods': () => {
    const { status: got, body } = last(lookup(target, { method: 'POST', key: null }));
    return got === 405 && body === '{"error":"Method not allowed"}';
  },
  'Other paths': () => last(lookup('/metrics', { key: null })).body === '{"error":"Not found"}',
  'Trailing slash, or other letter case, in a path': () =>
    status(lookup(`${path}/?user_id=${ids.member}`)) === 404 && status(lookup(target.toUpperCase())) === 404,
  'Body of a request': () => finds(user(ids.member, { body: '{"user_id":"x"}' })),
  'What is no HTTP request': () =>
    parserError('HPE_INVALID_METHOD', '').body === '{"error":"Bad Request"}' &&
    parserError('HPE_INVALID_METHOD', '').status === 400 &&
    parserError('HPE_HEADER_OVERFLOW', '').status === 431,
  'A request that does not arrive': () => parserError('ERR_HTTP_REQUEST_TIMEOUT', '').status === 408,
  'Failed lookup': () =>
    status(...limited.slice(30), ...limited.slice(30).map(() => user('')), user(ids.member)) === 429,
  'What deposit-check counts': () =>
    status(
      ...Array.from({ length: 250 }, (_, index) => deposit(index % 2 ? ids.executed : '')),
      deposit(ids.executed),
    ) === 429,
  'Scope of a limiter': () =>
    status(...limited, user(ids.member, { key: 'northwind-spare-key' })) === 200 &&
    status(...limited, deposit(ids.executed)) === 200,
  'Window of a limiter': () =>
    status(...limited, user(ids.member, { atMs: 2999 })) === 429 &&
    status(...limited, user(ids.member, { atMs: 3000 })) === 200,
  'Threshold N': () =>
    sendAll([...limited, user(ids.nobody)]).findIndex((response) => response.status === 429) === 60,
  'No limits in the fixture': () => {
    const { limits: _, ...unlimited } = builtIn;
    const { get } = testSession({ fixture: unlimited });
    return Array.from({ length: 500 }, () => get(path)).every((response) => response.status === 400);
  },
  'Retry-After': () => last(...limited, user(ids.nobody, { atMs: 1001 })).headers['Retry-After'] === '2',
  'WWW-Authenticate': () => last(user(ids.member, { key: null })).headers['WWW-Authenticate'] === 'Bearer',
  Caching: () =>
    [user(ids.member), user('x'), lookup('/')].every(
      (one) => last(one).headers['Cache-Control'] === 'no-store',
    ),
  'Expiry of a key': () =>
    status(user(ids.member, { key: 'fabrikam-expiring-key', atMs: 29_999 })) === 200 &&
    status(user(ids.member, { key: 'fabrikam-expiring-key', atMs: 30_000 })) === 401,
  'Limits of a key': () =>
    status(user(ids.member, { key: 'fabrikam-always-limited-key' })) === 429 &&
    status(deposit(ids.executed, { key: 'fabrikam-always-limited-key' })) === 429,
  Date: () =>
    [user(ids.member, { atMs: 4001 }), user('x', { key: null, atMs: 4001 })].every(
      (one) => last(one).headers['Date'] === 'Wed, 15 Jan 2025 12:00:04 GMT',
    ),
  'Transition after polls': () =>
    sendAll(Array.from({ length: 4 }, () => deposit(ids.afterPolls)))
      .map((one) => one.status)
      .join() === '404,404,404,200',
  'Transition after seconds': () =>
    status(deposit(ids.afterSeconds, { atMs: 4999 })) === 404 &&
    status(deposit(ids.afterSeconds, { atMs: 5000 })) === 200,
  'executedAt after a transition': () =>
    last(deposit(ids.afterSeconds, { atMs: 7000 })).body.endsWith(':1736942405000}'),
  'A deposit that became EXECUTED': () =>
    status(
      ...Array.from({ length: 9 }, () => deposit(ids.afterPolls, { atMs: 1 })),
      deposit(ids.afterPolls, { atMs: 1e9 }),
    ) === 200,
};

const page = readFileSync(new URL('../../docs/answers.md', import.meta.url), 'utf8');
const [, section = ''] = page.split('## Where the interface is silent');
const decisions = Array.from(
  section.split('\n## ')[0]!.matchAll(/^\| (.+?) +\| (.+?) +\|$/gm),
  ([, question, answer]) => ({ question: question!, answer: answer! }),
).slice(2);

test('the docs list every tested decision', () =>
  assert.deepEqual(decisions.map(({ question }) => question).toSorted(), Object.keys(shown).toSorted()));

for (const { question, answer } of decisions)
  test(`${question}: ${answer}`, () => assert.equal(shown[question]?.(), true));
