import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { answerOf } from '../testing/samples.ts';
import { retryAfterMs, requestedWaitMs } from './retry-after.ts';

const now = Date.parse('2024-02-29T12:00:00Z');

/** Values of Retry-After, and the ms from now (RFC 9110 10.2.3). */
const retryAfter: Readonly<Record<string, number | undefined>> = {
  '0': 0,
  '3': 3000,
  ' 3 ': 3000,
  '007': 7000,
  '86400': 86_400_000,
  'Thu, 29 Feb 2024 12:00:05 GMT': 5000,
  'Thursday, 29-Feb-24 12:00:05 GMT': 5000,
  'Thu Feb 29 12:00:05 2024': 5000,
  'Thu, 29 Feb 2024 11:00:00 GMT': 0,
  '': undefined,
  soon: undefined,
  '-5': undefined,
  '+3': undefined,
  '1.5': undefined,
  '1e3': undefined,
  '0x10': undefined,
  '3s': undefined,
  '3, 3': undefined,
  'in 5': undefined,
  NaN: undefined,
  Infinity: undefined,
};

describe('Retry-After', () => {
  for (const [value, expected] of Object.entries(retryAfter))
    test(`${JSON.stringify(value)}: ${expected} ms`, () => assert.equal(retryAfterMs(value, now), expected));
  test('is missing', () => assert.equal(retryAfterMs(undefined, now), undefined));
  test('does not depend on the time zone of the machine', () => {
    const zone = process.env['TZ'];
    try {
      for (const place of ['UTC', 'Asia/Tokyo', 'America/New_York']) {
        process.env['TZ'] = place;
        assert.equal(retryAfterMs('Thu Feb 29 12:00:05 2024', now), 5000, place);
      }
    } finally {
      if (zone === undefined) delete process.env['TZ'];
      else process.env['TZ'] = zone;
    }
  });
});

/** The wait that these header fields of a 429 ask for, in ms. */
const fields: readonly (readonly [Readonly<Record<string, string>>, number | undefined])[] = [
  [{}, undefined],
  [{ 'retry-after': '3' }, 3000],
  [{ 'retry-after': '3', 'ratelimit-reset': '9' }, 3000],
  [{ 'ratelimit-reset': '9' }, 9000],
  [{ 'x-ratelimit-reset': '9' }, 9000],
  [{ 'x-ratelimit-reset': `${now / 1000 + 60}` }, 60_000],
  [{ 'x-ratelimit-reset': `${now / 1000 + 60}`, date: 'Thu, 29 Feb 2024 12:00:50 GMT' }, 10_000],
  [{ 'x-ratelimit-reset': `${now / 1000 - 60}` }, 0],
  [{ 'x-ratelimit-reset': 'soon' }, undefined],
  [{ ratelimit: 'limit=100, remaining=0, reset=50' }, 50_000],
  [{ ratelimit: '"default";r=0;t=50' }, 50_000],
];

for (const [headers, expected] of fields)
  test(`${JSON.stringify(headers)} asks for ${expected} ms`, () =>
    assert.equal(requestedWaitMs(answerOf(429, {}, headers), now), expected));
