import assert from 'node:assert/strict';
import { test } from 'node:test';
import { advanced, scaled, setTo, startClock, timeOf } from './clock.ts';

test('a real clock shows the base time', () => {
  assert.deepEqual(
    [100, 101, 250].map((base) => timeOf(startClock('real', 100), base)),
    [100, 101, 250],
  );
});
test('a frozen clock stands still until it is moved', () => {
  const frozen = startClock('frozen', 100);
  assert.equal(timeOf(frozen, 5000), 100);
  assert.equal(timeOf(advanced(frozen, 5000, 60_000), 9000), 60_100);
});
test('an advanced clock goes on from there', () => {
  const clock = advanced(startClock('real', 100), 150, 1000);
  assert.deepEqual([timeOf(clock, 150), timeOf(clock, 160)], [1150, 1160]);
});
test('a set clock goes on from there', () => {
  const clock = setTo(startClock('real', 100), 150, 7);
  assert.deepEqual([timeOf(clock, 150), timeOf(clock, 160)], [7, 17]);
});
test('a scaled clock goes on without a leap, in whole ms', () => {
  const clock = scaled(startClock('real', 100), 150, 2.5);
  assert.deepEqual([timeOf(clock, 150), timeOf(clock, 151), timeOf(clock, 152)], [150, 152, 155]);
  const slower = scaled(clock, 152, 1);
  assert.equal(timeOf(slower, 162), 165);
});
test('rate 0 freezes, and 1 lets it run again', () => {
  const frozen = scaled(startClock('real', 100), 150, 0);
  assert.equal(timeOf(frozen, 900), 150);
  assert.equal(timeOf(scaled(frozen, 900, 1), 901), 151);
});
