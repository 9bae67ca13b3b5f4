import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import { readTimestamp, sameInstant, type Instant } from './timestamp.ts';

const base = Date.UTC(2024, 1, 29, 23, 59, 59) / 1000;
const midnight = Date.UTC(2024, 1, 29) / 1000;

/** ISO 8601 texts in UTC: seconds, fraction digits, and whether RFC 3339 allows them. */
const utc: Readonly<Record<string, readonly [seconds: number, fraction: string, rfc3339: boolean]>> = {
  '2024-02-29T23:59:59Z': [base, '', true],
  '2024-02-29t23:59:59z': [base, '', true],
  '2024-02-29T23:59:59+00:00': [base, '', true],
  '2024-02-29T23:59:59+00': [base, '', false],
  '2024-02-29T23:59:59+0000': [base, '', false],
  '2024-02-29T23:59:59,999Z': [base, '999', false],
  '20240229T235959Z': [base, '', false],
  '2024-060T23:59:59Z': [base, '', false],
  '2024-W09-4T23:59:59Z': [base, '', false],
  '2024-02-29T23:59Z': [base - 59, '', false],
  '2024-02-29T12Z': [midnight + 43_200, '', false],
  '2024-02-28T24:00:00Z': [midnight, '', false],
  '2016-12-31T23:59:60Z': [Date.UTC(2017, 0, 1) / 1000, '', true],
  '1969-12-31T23:59:59.5Z': [-1, '5', true],
  '0001-01-01T00:00:00Z': [-62_135_596_800, '', true],
  '9999-12-31T23:59:59Z': [253_402_300_799, '', true],
  ...Object.fromEntries(
    Array.from({ length: 9 }, (_, n) => '123456789'.slice(0, n + 1)).map((digits) => [
      `2024-02-29T23:59:59.${digits}Z`,
      [base, digits, true] as const,
    ]),
  ),
};

describe('ISO 8601 in UTC', () => {
  for (const [text, [seconds, fraction, rfc3339]] of Object.entries(utc))
    test(text, () =>
      assert.deepEqual(readTimestamp(text), { kind: 'utc', instant: { seconds, fraction }, rfc3339 }),
    );
});

/** Fractions of the minute or the hour: only the instant counts. */
const fractions: Readonly<Record<string, string>> = {
  '2024-02-29T12.5Z': '2024-02-29T12:30:00Z',
  '2024-02-29T12:34.5Z': '2024-02-29T12:34:30Z',
  '2024-02-29T12:34,25Z': '2024-02-29T12:34:15Z',
  '2024-02-29T12:34.999999999Z': '2024-02-29T12:35:00Z',
};

describe('a fraction of a minute or an hour', () => {
  for (const [text, same] of Object.entries(fractions))
    test(text, () => {
      const reading = readTimestamp(text);
      assert.equal(reading.kind, 'utc');
      assert.ok(sameInstant(instantOf(same), instantOf(text)), JSON.stringify(reading.instant));
    });
});

/** Other texts: the reason, and the likely instant in seconds. */
const other: Readonly<Record<string, readonly [why: RegExp, seconds?: number]>> = {
  '2024-02-29T23:59:59': [/no time zone/, base],
  '2024-03-01T01:59:59+02:00': [/offset is not zero/, base],
  '2024-02-29T23:59:59+02:00': [/offset is not zero/, base - 7200],
  '2024-02-29 23:59:59Z': [/a space/, base],
  '2024-02-29 23:59:59': [/a space/, base],
  'Thu, 29 Feb 2024 23:59:59 GMT': [/not an ISO 8601/, base],
  '2024-02-29': [/not an ISO 8601/],
  '23:59:59Z': [/not an ISO 8601/],
  'see 2024-02-29': [/not an ISO 8601/],
  'May 2024': [/not an ISO 8601/],
  '': [/not an ISO 8601/],
  null: [/not an ISO 8601/],
  '2024-02-29T23:59:59Z ': [/not an ISO 8601/],
  '2024-02-29T23:59:59Z\n': [/not an ISO 8601/],
  '2024-02-29T23:59:59UTC': [/not an ISO 8601/],
  '2024-2-29T23:59:59Z': [/not an ISO 8601/],
  '２０２４-02-29T23:59:59Z': [/not an ISO 8601/],
  '2024-02-30T23:59:59Z': [/no such day/],
  '2023-02-29T23:59:59Z': [/no such day/],
  '2024-13-01T00:00:00Z': [/no such day/],
  '2024-01-00T00:00:00Z': [/no such day/],
  '2023-366T00:00:00Z': [/no such day/],
  '2024-W00-1T00:00:00Z': [/no such day/],
  '2024-W53-1T00:00:00Z': [/no such day/],
  '2024-02-29T25:00:00Z': [/no such time/],
  '2024-02-29T24:00:01Z': [/no such time/],
  '2024-02-29T23:60:00Z': [/no such time/],
  '2024-02-29T23:59:61Z': [/no such time/],
};

describe('not ISO 8601 in UTC', () => {
  for (const [text, [why, seconds]] of Object.entries(other))
    test(JSON.stringify(text), () => {
      const reading = readTimestamp(text);
      assert.equal(reading.kind, 'other');
      assert.match(reading.why, why);
      assert.equal(reading.instant?.seconds, seconds);
    });
});

test('a time is read alike in any time zone of the machine', () => {
  const texts = ['2024-02-29T23:59:59', 'Thu, 29 Feb 2024 23:59:59 GMT', 'Feb 29, 2024 23:59:59'];
  const zone = process.env['TZ'];
  try {
    for (const text of texts) {
      const readings = ['UTC', 'Asia/Tokyo', 'America/New_York'].map((place) => {
        process.env['TZ'] = place;
        return readTimestamp(text);
      });
      assert.deepEqual(readings[1], readings[0], text);
      assert.deepEqual(readings[2], readings[0], text);
    }
  } finally {
    if (zone === undefined) delete process.env['TZ'];
    else process.env['TZ'] = zone;
  }
});

function instantOf(text: string): Instant {
  const { instant } = readTimestamp(text);
  assert.ok(instant, text);
  return instant;
}

/** Times in a fixture and in an answer, and whether they are equal. */
const comparisons: readonly (readonly [fixture: string, actual: string, same: boolean])[] = [
  ['2024-02-29T23:59:59.999Z', '2024-02-29T23:59:59.999Z', true],
  ['2024-02-29T23:59:59.999Z', '2024-02-29T23:59:59.999000+00:00', true],
  ['2024-02-29T23:59:59.999Z', '2024-03-01T01:59:59.999+02:00', true],
  ['2024-02-29T23:59:59.000Z', '2024-02-29T23:59:59Z', true],
  ['2024-03-01T00:00:00Z', '2024-02-29T24:00:00Z', true],
  // Cut off in the fixture.
  ['2024-02-29T23:59:59.999Z', '2024-02-29T23:59:59.999999999Z', true],
  ['2024-02-29T23:59:59Z', '2024-02-29T23:59:59.999Z', true],
  // Rounded in the fixture.
  ['2024-02-29T23:59:59.999Z', '2024-02-29T23:59:59.9985Z', true],
  ['2024-03-01T00:00:00Z', '2024-02-29T23:59:59.5Z', true],
  // Neither.
  ['2024-02-29T23:59:59.999Z', '2024-02-29T23:59:59.998Z', false],
  ['2024-02-29T23:59:59.999Z', '2024-02-29T23:59:59.9984999Z', false],
  ['2024-02-29T23:59:59.999Z', '2024-03-01T00:00:00.000Z', false],
  ['2024-02-29T23:59:59.999Z', '2024-02-29T23:59:59Z', false],
  ['2024-02-29T23:59:59Z', '2024-03-01T00:00:00Z', false],
  ['2024-02-29T23:59:59Z', '2024-02-29T23:59:58.4Z', false],
  ['2024-02-29T23:59:59Z', '2024-02-29T23:59:59+02:00', false],
];

describe('the same instant, at the precision of the fixture', () => {
  for (const [fixture, actual, same] of comparisons)
    test(`${fixture} ${same ? 'is' : 'is not'} ${actual}`, () =>
      assert.equal(sameInstant(instantOf(fixture), instantOf(actual)), same));
});

const date = fc.date({
  min: new Date('0001-01-01T00:00:00Z'),
  max: new Date('9999-12-31T23:59:59.999Z'),
  noInvalidDate: true,
});

test('week and ordinal dates match the days of Date', () => {
  fc.assert(
    fc.property(date, (when) => {
      const year = when.getUTCFullYear();
      const ofYear = (from: Date) => String(from.getUTCFullYear()).padStart(4, '0');
      const day = Math.floor((when.getTime() - new Date(when).setUTCMonth(0, 1)) / 86_400_000) + 1;
      const time = when.toISOString().slice(10);
      const expected = instantOf(when.toISOString());
      assert.deepEqual(instantOf(`${ofYear(when)}-${String(day).padStart(3, '0')}${time}`), expected);
      // The week belongs to the year of its Thursday.
      const weekday = when.getUTCDay() || 7;
      const thursday = new Date(when.getTime() + (4 - weekday) * 86_400_000);
      if (thursday.getUTCFullYear() !== year && (year === 1 || year === 9999)) return;
      const first = new Date(thursday).setUTCMonth(0, 1);
      const week = Math.floor((thursday.getTime() - first) / 86_400_000 / 7) + 1;
      const text = `${ofYear(thursday)}-W${String(week).padStart(2, '0')}-${weekday}${time}`;
      assert.deepEqual(instantOf(text), expected, text);
    }),
  );
});
