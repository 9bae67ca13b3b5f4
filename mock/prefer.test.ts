import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import { preferredStatus } from './prefer.ts';

const asks = (prefer: string | undefined) =>
  preferredStatus(prefer === undefined ? {} : { prefer }, 'deposit-check');

/** By field, what it asks of deposit-check. */
const fields: Readonly<Record<string, number | undefined>> = {
  'code=429': 429,
  'CODE = 429': 429,
  '\tcode\t=\t429 ': 429,
  'code="429"': 429,
  'code="4\\29"': 429,
  'code=429; reason="a, b"': 429,
  'respond-async, wait=10, code=404': 404,
  'wait=10;code=404': undefined,
  'note="a, code=500", code=503': 503,
  'note="a, code=500, b", code=503': 503,
  'note="say \\", code=500", code=503': 503,
  ',, ,code=500,,': 500,
  'code=400, code=500': 400,
  'code=418, code=500': undefined,
  code: undefined,
  'code=': undefined,
  'code=""': undefined,
  'code=429x': undefined,
  'code=0429': undefined,
  'code=4.29e2': undefined,
  'code=429 code=500': undefined,
  'xcode=429': undefined,
  'return=representation': undefined,
  'code="429': undefined,
  'code=__proto__': undefined,
  '': undefined,
};

describe('what a Prefer field asks for', () => {
  for (const [field, status] of Object.entries(fields))
    test(JSON.stringify(field), () => assert.equal(asks(field), status));
  test('no field: nothing', () => assert.equal(asks(undefined), undefined));
  test('several lines are one list, and the first code counts', () => {
    const headers = { prefer: ['wait=10', 'code=401', 'code=429'] } as unknown as { prefer: string };
    assert.equal(preferredStatus(headers, 'deposit-check'), 401);
  });
  test('the statuses of an endpoint are those of its table, and 500 and 503', () => {
    const all = Array.from({ length: 1000 }, (_, code) => code);
    const had = (endpoint: 'user-status' | 'deposit-check') =>
      all.filter((code) => preferredStatus({ prefer: `code=${code}` }, endpoint) !== undefined);
    assert.deepEqual(had('user-status'), [200, 400, 401, 429, 500, 503]);
    assert.deepEqual(had('deposit-check'), [200, 400, 401, 404, 429, 500, 503]);
  });
});

describe('a hostile field', () => {
  test('any text asks for a status of the table or for nothing', () => {
    const piece = fc.oneof(
      fc.constantFrom('code', '=', '429', '"', '\\', ',', ';', ' ', '\t', 'wait=1', '=200'),
      fc.string(),
    );
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        assert.ok([undefined, 200, 400, 401, 404, 429, 500, 503].includes(asks(pieces.join(''))));
      }),
      { seed: 7, numRuns: 2000 },
    );
  });
  test('a code is found behind any other preference', () => {
    const quoted = fc.string().map((text) => `"${text.replaceAll(/["\\]/g, '\\$&')}"`);
    const other = fc
      .tuple(fc.constantFrom('wait', 'x', 'codes'), quoted)
      .map(([name, value]) => `${name}=${value}`);
    fc.assert(
      fc.property(fc.array(other), (others) => assert.equal(asks([...others, 'code=503'].join(', ')), 503)),
      { seed: 7, numRuns: 1000 },
    );
  });
  // 64 KiB is the most that the transport takes; a reading that is quadratic takes seconds for it.
  for (const [unit, before, after] of [
    ['"\\"', '', '\\'],
    ['"', '', ''],
    [' ', 'code', 'x'],
    [' ', 'code=', '"'],
    ['\t', 'code="4"', 'x'],
    ['\\', 'code="', ''],
    ['a=;', '', ''],
    [',', '', ''],
  ] as const)
    test(`64 KiB of ${JSON.stringify(before + unit)} are read in no time`, () => {
      const field = before + unit.repeat(65_536 / unit.length) + after;
      const start = process.cpuUsage();
      assert.equal(asks(field), undefined);
      const { user } = process.cpuUsage(start);
      assert.ok(user < 500_000, `${user} µs`);
    });
});
