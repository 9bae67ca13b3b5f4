import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { reference } from '../mock/behaviour.ts';
import type { Client } from '../suites/index.ts';
import { noise } from '../suites/limiter/simulated.ts';
import { verifyMock, type MockRunOptions } from './canary.ts';
import { defaults } from './commands/flags.ts';
import { loadFixture } from './fixture-file.ts';

/** Runs for each network; `LOSSY_RUNS=30` makes it more. */
const RUNS = Number(process.env['LOSSY_RUNS'] ?? 4);

const fixture = await loadFixture(undefined, {});

type Reply = Awaited<ReturnType<Client['send']>>;
const reset: Reply = {
  kind: 'trouble',
  code: 'network',
  words: 'the connection was reset',
  unreachable: false,
};

/** Takes about 100 ms, and loses a share of the requests, half of them before the mock sees them. */
function lossy(loss: number, seed: number): NonNullable<MockRunOptions['network']> {
  const random = noise(seed);
  return (client, clock) => ({
    ...client,
    send: async (request) => {
      const sentAt = clock.now();
      const travel = async () => {
        await clock.sleep(40 + 20 * random());
        return random() >= loss / 2;
      };
      if (!(await travel())) return reset;
      const reply = await client.send(request);
      if (!(await travel())) return reset;
      return reply.kind === 'answer' ? { ...reply, sentAt, receivedAt: clock.now() } : reply;
    },
  });
}

describe('the mock behind a network with latency and loss', () => {
  for (const [loss, share] of [
    [0.005, 28 / 30],
    [0.01, 28 / 30],
    [0.05, 20 / 30],
  ] as const)
    test(`is mostly conformant and never nonconformant at a loss of ${loss}`, async () => {
      const found: Record<string, number> = { conformant: 0 };
      for (let seed = 0; seed < RUNS; seed++) {
        const network = lossy(loss, seed + 1);
        const options = { fixture, seed, cases: defaults.cases, hasStateHook: false, network };
        const { verdict, requirements } = await verifyMock(reference, options);
        const failed = requirements.filter(({ outcome }) => outcome === 'failed');
        assert.deepEqual(failed, [], `seed ${seed}`);
        found[verdict] = (found[verdict] ?? 0) + 1;
      }
      assert.ok(found['conformant']! >= Math.ceil(share * RUNS), JSON.stringify(found));
    });
});
