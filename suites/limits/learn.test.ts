import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { bestScope, inferLimit } from './learn.ts';

const evenly = (count: number, from: number, to: number) =>
  Array.from({ length: count }, (_, nth) => from + (nth * (to - from)) / count);

describe('the inferred limit', () => {
  test('covers the window, not the time before it', () => {
    // 40 in 2 s, after a slow start. Retry-After rounds up the end of the window.
    const passes = [...evenly(18, 0, 5000), ...evenly(40, 5000, 5500)];
    const found = inferLimit([{ passes, least: 6500, most: 7500 }])!;
    assert.equal(found.windowMs, 2000);
    assert.ok(found.most === 40 || found.most === 41, `${found.most}`);
  });
  test('is clear after the second refusal if the first is ambiguous', () => {
    // The end of a full window, and the next one.
    const passes = [...evenly(60, 2900, 3000), ...evenly(60, 3000, 3100)];
    const first = { passes, least: 5100, most: 6100 };
    const second = { passes: [...passes, ...evenly(60, 6020, 6100)], least: 8100, most: 9100 };
    const found = inferLimit([first, second])!;
    assert.deepEqual([found.most, found.windowMs], [60, 3000]);
  });
  test('is the refill rate of a bucket', () => {
    // 20, and 5 a second.
    const passes = evenly(20, 0, 100);
    const refusals = [{ passes: [...passes], least: 100, most: 1100 }];
    for (let at = 1100; at < 12_000; at += 1000) {
      passes.push(...evenly(5, at, at + 50));
      refusals.push({ passes: [...passes], least: at + 50, most: at + 1000 });
    }
    const { most, windowMs } = inferLimit(refusals.slice(-8))!;
    assert.ok(most / windowMs > 0.004 && most / windowMs < 0.0065, `${most} in ${windowMs} ms`);
  });
  test('fits badly if other clients use the key too', () => {
    const alone = { passes: evenly(60, 0, 100), least: 2000, most: 3000 };
    const shared = { passes: evenly(20, 3100, 3200), least: 5100, most: 6100 };
    assert.ok(inferLimit([alone, shared])!.fit < 0.5);
  });
  test('is unknown if nothing passed', () => {
    assert.equal(inferLimit([{ passes: [], least: 0, most: 1000 }]), undefined);
  });
});

/** The requests of each scope, by default those of the key. */
type Passes = { readonly key: readonly number[] } & Readonly<
  Partial<Record<'both' | 'endpoint' | 'service', readonly number[]>>
>;

describe('the scope of a limit', () => {
  const refusals = [
    { key: 'a', least: 2000, most: 3000 },
    { key: 'a', least: 12_000, most: 13_000 },
  ];
  const early = evenly(60, 50, 150);
  /** Another key, or the other endpoint, used most of the limit before the second refusal. */
  const few = evenly(20, 10_050, 10_150);
  const many = evenly(40, 10_050, 10_150);
  for (const [expected, passes] of [
    ['key', { key: [...early, ...few, ...many], endpoint: [...early, ...few, ...many, ...few] }],
    ['key on both endpoints', { key: [...early, ...few], both: [...early, ...few, ...many] }],
    ['endpoint', { key: [...early, ...few], endpoint: [...early, ...few, ...many] }],
    ['service', { key: [...early, ...few], service: [...early, ...few, ...many] }],
  ] as const)
    test(`is the ${expected}, if the same number passed before each refusal there`, () => {
      const found = bestScope(refusals, (_key, scope) => {
        const { key, both = key, endpoint = key, service = key } = passes as Passes;
        return { key, 'key on both endpoints': both, endpoint, service }[scope];
      });
      assert.deepEqual([found?.scope, found?.most], [expected, 60]);
    });
});
