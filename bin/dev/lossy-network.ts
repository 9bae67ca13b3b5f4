/**
 * Verifies the mock through a network with latency and loss, in real time:
 * `npm run lossy-network -- --runs 30`. Each run takes about 3 minutes and mostly waits; more than a few at once
 * for each core are slow, and end incomplete.
 *
 * Exits with 1 if a run is nonconformant, or if too few are conformant.
 */
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startMock } from '../../mock/server.ts';
import { run } from '../../suites/index.ts';
import { loadFixture } from '../fixture-file.ts';
import { runOptions } from '../run-options.ts';

/** Share of the requests that are lost, and share of the runs that have to be conformant. */
const networks = [
  [0.005, 28 / 30],
  [0.01, 28 / 30],
  [0.05, 20 / 30],
] as const;

/** What a run takes, about. */
const SECONDS_EACH = 180;

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '30' },
    atOnce: { type: 'string', default: '5' },
    latency: { type: 'string', default: '100' },
  },
});
const [runs, atOnce, latencyMs] = [values.runs, values.atOnce, values.latency].map(Number) as [
  number,
  number,
  number,
];
const fixture = await loadFixture(undefined, {});

/** A proxy that delays what passes, and resets a connection instead of passing on a request or an answer. */
function proxyTo(port: number, loss: number): Server {
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
        }, latencyMs / 2),
      );
      from.on('error', () => to.destroy());
      from.on('close', () => setTimeout(() => to.destroy(), latencyMs));
    }
  });
}

/** Verdict of a run, and the required rows that neither passed nor were excluded. */
async function verify(loss: number) {
  await using mock = await startMock({ fixture, admin: false });
  const proxy = proxyTo(mock.port, loss).listen(0, '127.0.0.1');
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

for (const [loss, share] of networks) {
  const records: Awaited<ReturnType<typeof verify>>[] = [];
  let begun = 0;
  const work = async (_: unknown, nth: number) => {
    // Bursts of all runs at once would take more time than they may.
    await sleep((nth * SECONDS_EACH * 1000) / atOnce);
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
    `${latencyMs} ms, ${loss * 100} % lost: ${counts.join(', ')}; the longest took ${longest.toFixed(0)} s\n${lines.join('')}`,
  );
  if (count('nonconformant') > 0 || count('conformant') < Math.ceil(share * runs)) process.exitCode = 1;
}
