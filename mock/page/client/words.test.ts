import assert from 'node:assert/strict';
import { test } from 'node:test';
import { amount, dateAndTime, duration, firstOf, foreign, plural, timeOfDay } from './words.ts';

test('amounts show all their digits, and two at least', () => {
  assert.deepEqual([16777217.01, 1000, 0.07, 0.1 + 0.2].map(amount), [
    '16,777,217.01',
    '1,000.00',
    '0.07',
    '0.30000000000000004',
  ]);
});

test('times are UTC; what no date can hold stays a number', () => {
  assert.equal(dateAndTime(1705314600000), '2024-01-15 10:30:00');
  assert.equal(dateAndTime(9e15), '9000000000000000');
  assert.deepEqual([timeOfDay(1705314600123), timeOfDay(1705314600123, 3)], ['10:30:00', '10:30:00.123']);
});

test('durations have two units at most, and are never shorter than they are', () => {
  assert.deepEqual([0, 1, 5000, 60_000, 125_000, 3_660_000, 90_000_000, -5].map(duration), [
    '0 s',
    '1 s',
    '5 s',
    '1 min',
    '2 min 5 s',
    '1 h 1 min',
    '1 d 1 h',
    '0 s',
  ]);
});

test('counts', () => {
  assert.deepEqual([plural(1, 'key'), plural(2, 'key')], ['1 key', '2 keys']);
  assert.deepEqual([firstOf(25, 1_000_000), firstOf(11, 11)], ['first 25 of 1,000,000', '11']);
});

test('what cannot be seen in a foreign text is made visible, and there is not too much of it', () => {
  assert.equal(foreign('/a\u202Eb\u0000\u200Dc\u2028'), '/a\\u{202e}b\\u{0}\\u{200d}c\\u{2028}');
  assert.equal(foreign('x'.repeat(1401)), `${'x'.repeat(400)}… (1,001 more)`);
});
