/** The limiters of `bin/dev/testing/limiters.ts` over sockets, each stated and not, at 5 and 30 ms: `npm test limiters`. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { startMock } from '../../../mock/index.ts';
import type { Fixture } from '../../../schemas/generated/types.ts';
import { catalogue, run } from '../../../suites/index.ts';
import { exitCodeOf } from '../../exit-codes.ts';
import { loadFixture } from '../../input-files.ts';
import { runOptions } from '../../run-options.ts';
import { gatewayOf, limitedServer } from '../testing/limited-server.ts';
import { assertExpected, limiters } from '../testing/limiters.ts';
import { partOf } from '../testing/part.ts';
import { limitsOf } from '../testing/verify-mock.ts';

const limits = limitsOf(60, 60, 3);
const { limits: _, ...unlimited }: Fixture = await loadFixture(undefined, {});

/** Runs at once: most of the time is waiting. */
const AT_ONCE = Number(process.env['AT_ONCE'] ?? 3);

const cases = Object.entries(limiters).flatMap(([name, row]) =>
  [true, false].flatMap((isStated) => [5, 30].map((latencyMs) => ({ name, row, isStated, latencyMs }))),
);

test('limiters over sockets', { concurrency: AT_ONCE, timeout: 3_600_000 }, async (t) => {
  await Promise.all(
    partOf(cases, 9).map(({ name, row, isStated, latencyMs }) =>
      t.test(`${name}, ${isStated ? 'stated' : 'not stated'}, ${latencyMs} ms`, async () => {
        const mock = await startMock({ port: 0, fixture: unlimited });
        const server = limitedServer(
          gatewayOf(unlimited, row, limits),
          latencyMs,
          Number(new URL(mock.url).port),
        );
        server.listen(0, '127.0.0.1');
        await once(server, 'listening');
        const remarks: string[] = [];
        try {
          const fixture = isStated ? { ...unlimited, limits } : unlimited;
          const record = await run({
            ...runOptions({ fixture, seed: 1, cases: 30, maxDurationMs: 300_000 }),
            requirements: catalogue,
            target: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
            onRemark: (words) => remarks.push(words),
          });
          const exit = exitCodeOf(record);
          assertExpected(record, exit, isStated ? row.stated : row.unstated, remarks);
        } finally {
          server.closeAllConnections();
          server.close();
          await mock.close();
        }
      }),
    ),
  );
  assert.ok(cases.length > 0);
});
