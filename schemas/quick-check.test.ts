import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import validate from './generated/fixture.cjs';
import { isPlain } from './quick-check.ts';

const hex = (length: number) =>
  fc.string({ unit: fc.constantFrom(...'0123456789abcdefABCDEF'), minLength: length, maxLength: length });
const uuids = fc
  .tuple(hex(8), hex(4), fc.constantFrom(...'0123456789a'), hex(3), fc.constantFrom(...'789abcABC'), hex(15))
  .map(
    ([a, b, version, c, variant, d]) => `${a}-${b}-${version}${c}-${variant}${d.slice(0, 3)}-${d.slice(3)}`,
  );
const goodIds = fc.uuid({ version: 4 });
const twoDigits = (most: number) => fc.integer({ min: 0, max: most }).map((n) => String(n).padStart(2, '0'));
const dates = fc
  .tuple(
    fc.oneof(fc.integer({ min: 0, max: 9999 }), fc.constantFrom(0, 4, 100, 1900, 2000, 2023, 2024, 2100)),
    twoDigits(13),
    fc.oneof(twoDigits(32), fc.constantFrom('28', '29', '30', '31')),
    twoDigits(24),
    twoDigits(60),
    twoDigits(61),
    fc.constantFrom('', '.', '.5', '.123456789', ',5', '.5x'),
    fc.constantFrom('Z', 'z', '+00:00', ''),
  )
  .map(
    ([year, month, day, hour, minute, second, fraction, zone]) =>
      `${String(year).padStart(4, '0')}-${month}-${day}T${hour}:${minute}:${second}${fraction}${zone}`,
  );
const anything = fc.oneof(
  fc.anything(),
  fc.constantFrom('', null, -1, 0.5, Number.POSITIVE_INFINITY, Number.NaN, 'pending', 'EXECUTED', 'failed'),
);
/** A value as it should be, the same with one character changed, or anything. */
const nearly = (good: fc.Arbitrary<unknown>) =>
  fc.oneof(
    { arbitrary: good, weight: 20 },
    {
      arbitrary: fc.tuple(good, fc.nat(40), fc.constantFrom(...'-:.TZ0x 9')).map(([value, at, put]) => {
        return typeof value === 'string' ? value.slice(0, at) + put + value.slice(at + 1) : value;
      }),
      weight: 2,
    },
    { arbitrary: anything, weight: 1 },
  );

const ids = nearly(fc.oneof(goodIds, uuids));
const amounts = nearly(fc.double({ min: 0, noNaN: true, noDefaultInfinity: true }));
const transitions = fc.record(
  {
    state: nearly(fc.constant('EXECUTED')),
    amountInUsd: amounts,
    afterPolls: fc.constantFrom(0, 1, 3, 0.5, '1'),
    afterSeconds: fc.constantFrom(0, 0.5, 3, -1, Number.POSITIVE_INFINITY),
    executedAt: fc.constant(1),
  },
  { requiredKeys: ['state', 'amountInUsd'] },
);
const waiting = {
  reference_id: ids,
  user_id: nearly(goodIds),
  state: nearly(fc.constantFrom('pending', 'failed')),
};

const entities: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  users: fc.record(
    {
      user_id: ids,
      partner: nearly(fc.constantFrom(null, 'northwind', '')),
      date_joined: nearly(
        fc.oneof(
          dates,
          fc.date({ noInvalidDate: true }).map((date) => date.toJSON()),
        ),
      ),
      other: fc.constant(1),
    },
    { requiredKeys: ['user_id', 'partner', 'date_joined'] },
  ),
  deposits: fc.oneof(
    { arbitrary: fc.record({ ...waiting, reference_id: goodIds, becomes: transitions }), weight: 3 },
    fc.record({ ...waiting, becomes: nearly(transitions), other: fc.constant(1) }),
    fc.record({ ...waiting, executedAt: fc.nat() }, { requiredKeys: ['reference_id', 'user_id', 'state'] }),
    fc.record(
      {
        ...waiting,
        state: fc.constant('EXECUTED'),
        amountInUsd: amounts,
        executedAt: nearly(fc.nat()),
        becomes: fc.constant(1),
      },
      { requiredKeys: ['reference_id', 'user_id', 'state', 'amountInUsd', 'executedAt'] },
    ),
  ),
};

for (const [part, entity] of Object.entries(entities))
  test(`${part} that look good at once are good by the schema`, () => {
    let [quick, good] = [0, 0];
    fc.assert(
      fc.property(entity, (value) => {
        const isGood = validate({ [part]: [value] });
        if (isPlain[part]!(value)) {
          quick += 1;
          assert.ok(isGood);
        }
        good += Number(isGood);
      }),
      { numRuns: 20_000 },
    );
    // Not by refusing all: it decides on many of the good ones.
    assert.ok(good > 50 && quick > good / 5, `${quick} of ${good}`);
  });

test('leap days are good in leap years only, where it does not leave them to the validator', () => {
  const user = { user_id: '11111111-1111-4111-8111-111111111111', partner: null };
  const isGood = (day: string) => isPlain['users']!({ ...user, date_joined: `${day}T00:00:00Z` });
  assert.ok(isGood('2024-02-29') && isGood('2023-02-28') && isGood('0004-02-29'));
  assert.ok(!isGood('2023-02-29') && !isGood('1900-02-29') && !isGood('2024-02-30') && !isGood('2023-04-31'));
});
