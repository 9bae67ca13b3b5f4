/**
 * Verifies the mock through a network with latency and loss, in real time:
 * `npm run lossy-network -- --runs 30`. Each run takes about 3 minutes and mostly waits. Too many parallel runs per
 * core are slow and end incomplete.
 *
 * Exits with 1 if a run is nonconformant or too few are conformant.
 */
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startMock } from '../../mock/server.ts';
import { run } from '../../suites/index.ts';
import { loadFixture } from '../fixture-file.ts';
import { runOptions } from '../run-options.ts';

/** Rate of lost requests, and minimum rate of conformant runs. */
const lossRates = [
  [0.005, 28 / 30],
  [0.01, 28 / 30],
  [0.05, 20 / 30],
] as const;

/** Time between a request and its answer, in ms. */
const LATENCY_MS = 100;

/** Approximate duration of a run. */
const SECONDS_PER_RUN = 180;

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '30' },
    atOnce: { type: 'string', default: '5' },
  },
});
const [runs, atOnce] = [Number(values.runs), Number(values.atOnce)];
const fixture = await loadFixture(undefined, {});

/** Creates a proxy that delays data, and resets connections instead of forwarding a request or response. */
function lossyProxy(port: number, loss: number): Server {
  return createServer((client) => {
    const server = connect(port, '127.0.0.1');
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      from.setNoDelay(true);
      from.on('data', (data) =>
        setTimeout(() => {
          if (Math.random() >= loss / 2) return void (to.writable && to.write(data));
          client.resetAndDestroy();
          server.destroy();
        }, LATENCY_MS / 2),
      );
      from.on('error', () => to.destroy());
      from.on('close', () => setTimeout(() => to.destroy(), LATENCY_MS));
    }
  });
}

/** Runs verify. Returns the verdict and the requirements that neither passed nor were excluded. */
async function verify(loss: number) {
  await using mock = await startMock({ fixture, admin: false });
  const proxy = lossyProxy(mock.port, loss).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const { port } = proxy.address() as AddressInfo;
  const record = await run({ ...runOptions({ fixture }), target: new URL(`http://127.0.0.1:${port}`) });
  proxy.close();
  const open = record.requirements.flatMap((row) => {
    if (row.level === 'observed' || row.outcome === 'passed' || row.outcome === 'excluded') return [];
    return [`${row.id} ${row.outcome}: ${row.outcome === 'failed' ? row.actual : row.words}`];
  });
  return { verdict: record.verdict, open, seconds: record.durationMs / 1000 };
}

for (const [loss, share] of lossRates) {
  const records: Awaited<ReturnType<typeof verify>>[] = [];
  let begun = 0;
  const work = async (_: unknown, nth: number) => {
    // Spread the starts: simultaneous bursts of all runs would take too long.
    await sleep((nth * SECONDS_PER_RUN * 1000) / atOnce);
    while (begun++ < runs) records.push(await verify(loss));
  };
  await Promise.all(Array.from({ length: atOnce }).map(work));
  const count = (verdict: string) => records.filter((record) => record.verdict === verdict).length;
  const longest = Math.max(...records.map(({ seconds }) => seconds));
  const counts = ['conformant', 'incomplete', 'nonconformant'].map(
    (verdict) => `${count(verdict)} ${verdict}`,
  );
  const lines = records.flatMap(({ open }) => open.map((words) => `  ${words}\n`));
  process.stdout.write(
    `${LATENCY_MS} ms, ${loss * 100} % lost: ${counts.join(', ')}; the longest took ${longest.toFixed(0)} s\n${lines.join('')}`,
  );
  if (count('nonconformant') > 0 || count('conformant') < Math.ceil(share * runs)) process.exitCode = 1;
}
