import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { answerOf } from '../testing/samples.ts';
import { advertisedBy, policiesOf, requestedWait } from './advertised.ts';

const now = Date.parse('2024-02-29T12:00:00Z');

/** Values of Retry-After, and the ms from now (RFC 9110 10.2.3). */
const retryAfter: Readonly<Record<string, number>> = {
  '0': 0,
  '3': 3000,
  ' 3 ': 3000,
  '007': 7000,
  '86400': 86_400_000,
  'Thu, 29 Feb 2024 12:00:05 GMT': 5000,
  'Thursday, 29-Feb-24 12:00:05 GMT': 5000,
  'Thu Feb 29 12:00:05 2024': 5000,
  'Thu, 29 Feb 2024 11:00:00 GMT': 0,
};
const noRetryAfter = ['', 'soon', '-5', '+3', '1.5', '1e3', '0x10', '3s', '3, 3', 'in 5', 'NaN', 'Infinity'];

const waitFor = (value: string) => requestedWait(answerOf(429, {}, { 'retry-after': value }), now)?.ms;

describe('Retry-After', () => {
  const zone = process.env['TZ'];
  after(() => {
    if (zone === undefined) delete process.env['TZ'];
    else process.env['TZ'] = zone;
  });
  test('is seconds or a date, whatever the time zone of the machine', () => {
    for (const place of ['UTC', 'Asia/Tokyo', 'America/New_York']) {
      process.env['TZ'] = place;
      for (const [value, ms] of Object.entries(retryAfter)) assert.equal(waitFor(value), ms, value);
    }
  });
  test('is ignored if it is neither', () => {
    for (const value of noRetryAfter) assert.equal(waitFor(value), undefined, value);
  });
});

type Headers = Readonly<Record<string, string>>;
const unix = now / 1000;

/** The wait that these header fields of a 429 ask for, in ms, and the field that says so. */
const waits: readonly (readonly [Headers, number | undefined, string?])[] = [
  [{}, undefined],
  [{ 'retry-after': '3' }, 3000, 'Retry-After'],
  [{ 'retry-after': '3', 'ratelimit-reset': '9' }, 3000, 'Retry-After'],
  [{ 'retry-after': 'soon', 'ratelimit-reset': '9' }, 9000, 'ratelimit-reset'],
  [
    { 'retry-after': 'Thu, 29 Feb 2024 12:00:05 GMT', date: 'Thu, 29 Feb 2024 12:00:03 GMT' },
    2000,
    'Retry-After',
  ],
  [{ 'ratelimit-reset': '9' }, 9000, 'ratelimit-reset'],
  [{ 'x-ratelimit-reset': '9' }, 9000, 'x-ratelimit-reset'],
  [{ 'x-rate-limit-reset': '9' }, 9000, 'x-rate-limit-reset'],
  [{ 'x-ratelimit-reset': `${unix + 60}` }, 60_000, 'x-ratelimit-reset'],
  [{ 'x-ratelimit-reset': `${now + 60_000}` }, 60_000, 'x-ratelimit-reset'],
  [
    { 'x-ratelimit-reset': `${unix + 60}`, date: 'Thu, 29 Feb 2024 12:00:50 GMT' },
    10_000,
    'x-ratelimit-reset',
  ],
  [{ 'x-ratelimit-reset': `${unix - 60}` }, 0, 'x-ratelimit-reset'],
  [{ 'x-ratelimit-reset': 'soon' }, undefined],
  [{ 'x-ratelimit-reset': '-9' }, undefined],
  [{ 'x-ratelimit-reset': '9'.repeat(16) }, undefined],
  [{ ratelimit: 'limit=100, remaining=0, reset=50' }, 50_000, 'RateLimit'],
  [{ ratelimit: '"default";r=0;t=50' }, 50_000, 'RateLimit'],
  [{ ratelimit: '"default";t=50' }, 50_000, 'RateLimit'],
  [{ ratelimit: '"burst";r=5;t=1, "daily";r=0;t=50' }, 50_000, 'RateLimit'],
  [{ ratelimit: '"default";r=0;t=-50' }, undefined],
];

for (const [headers, ms, field = ''] of waits)
  test(`${JSON.stringify(headers)} asks for ${ms} ms`, () =>
    assert.deepEqual(
      requestedWait(answerOf(429, {}, headers), now),
      ms === undefined ? undefined : { ms, field },
    ));

/** What these header fields say is left: the number of requests, the ms until it changes, and the field. */
const left: readonly (readonly [headers: Headers, left?: readonly [number, number, string]])[] = [
  [{}],
  [{ 'x-ratelimit-remaining': '4', 'x-ratelimit-reset': '9' }, [4, 9000, 'x-ratelimit-remaining']],
  [{ 'x-ratelimit-remaining': '4', 'x-ratelimit-reset': `${unix + 9}` }, [4, 9000, 'x-ratelimit-remaining']],
  [{ 'ratelimit-remaining': '0', 'ratelimit-reset': '30' }, [0, 30_000, 'ratelimit-remaining']],
  [{ 'ratelimit-remaining': '4' }],
  [{ 'ratelimit-reset': '9' }],
  [{ 'ratelimit-remaining': '-1', 'ratelimit-reset': '9' }],
  [{ 'ratelimit-remaining': '1.5', 'ratelimit-reset': '9' }],
  [{ ratelimit: 'limit=100, remaining=7, reset=50' }, [7, 50_000, 'RateLimit']],
  [{ ratelimit: '"default";r=7;t=50' }, [7, 50_000, 'RateLimit']],
  [{ ratelimit: '"burst";r=5;t=1, "daily";r=2;t=50' }, [2, 50_000, 'RateLimit']],
  [{ ratelimit: '"default";r=7' }],
];

for (const [headers, expected] of left)
  test(`${JSON.stringify(headers)}: ${expected?.[0]} left`, () => {
    const found = advertisedBy(answerOf(404, {}, headers), now);
    assert.deepEqual(found && [found.remaining, found.resetAt - now, found.field], expected);
  });

/** The limits that these header fields name: requests and ms. */
const policies: readonly (readonly [Headers, ...(readonly (readonly [number, number])[])])[] = [
  [{}],
  [{ 'ratelimit-policy': '"default";q=100;w=60' }, [100, 60_000]],
  [{ 'ratelimit-policy': '"burst";q=10;w=1, "daily";q=1000;w=86400' }, [10, 1000], [1000, 86_400_000]],
  [{ 'ratelimit-policy': '100;w=60' }, [100, 60_000]],
  [{ 'ratelimit-policy': '10;w=1;burst=1000, 5000;w=3600' }, [10, 1000], [5000, 3_600_000]],
  [{ 'ratelimit-limit': '100, 100;w=60' }, [100, 60_000]],
  [{ 'x-ratelimit-limit': '100;w=60' }, [100, 60_000]],
  [{ 'ratelimit-limit': '100' }],
  [{ 'ratelimit-policy': '"default";q=100' }],
  [{ 'ratelimit-policy': '"default";q=100;w=0' }],
  [{ 'ratelimit-policy': '"default";q=-1;w=60' }],
  [{ 'ratelimit-policy': '"default";q=0;w=60' }],
  [{ 'ratelimit-policy': `"default";q=1;w=${'9'.repeat(16)}` }],
  [{ 'ratelimit-policy': ';;;,,,==;q;w=' }],
];

for (const [headers, ...expected] of policies)
  test(`${JSON.stringify(headers)} names ${expected.length} limits`, () =>
    assert.deepEqual(
      policiesOf(answerOf(404, {}, headers)).map(({ most, windowMs }) => [most, windowMs]),
      expected,
    ));
