/**
 * A million mixed requests to a mock in a process of its own (`npm run soak`, with
 * `-- --requests 1000000 --seed 1 --command path/to/ib-conformance`): every answer is checked against what the
 * fixture says, memory and descriptors are looked at, and the exit code is 1 where something is wrong.
 * For Linux: it looks into /proc.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { Fixture } from '../../schemas/generated/types.ts';
import { generatedFixture } from '../fixture/generate.ts';
import { admin } from './admin.ts';
import { crowdOf } from './crowd.ts';
import { growthOf, soakTable, type Sample } from './growth.ts';
import { startChild, type Child } from './process.ts';
import { CYCLE, runCycle, type Soaked } from './run-cycle.ts';

const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '1000000' },
    seed: { type: 'string', default: '1' },
    connections: { type: 'string', default: '10000' },
    command: { type: 'string', default: join(import.meta.dirname, '../ib-conformance.mjs') },
  },
});
const [requests, seed, crowd] = [values.requests, values.seed, values.connections].map(Number) as [
  number,
  number,
  number,
];
if (![requests, seed, crowd].every(Number.isSafeInteger) || requests < 1)
  throw new Error('each of the flags needs a whole number');

/** Cycles before memory is looked at: by then journals and worlds are full. */
const WARM_UP = 5;
/** Growth (MB) that is no leak: 50 bytes a request, or what collecting garbage sooner or later makes of it. */
const MOST_GROWTH = Math.max(40, (requests * 0.8 * 50) / 2 ** 20);
/** How long (ms) descriptors may take to go after the clients; refused ones linger for a second. */
const LINGER = 5_000;

const say = (text: string) => process.stderr.write(`${text}\n`);

/** Waits until no more descriptors are open than at first; says how many are too many. */
async function tooManyDescriptors(child: Child, atFirst: number): Promise<number> {
  for (let waited = 0; waited < LINGER && child.descriptors() > atFirst; waited += 100) await wait(100);
  return Math.max(0, child.descriptors() - atFirst);
}

async function fixtureOf(ofSeed: number): Promise<Fixture> {
  const amount = { users: 300, deposits: 400, partners: 4 };
  return JSON.parse([...generatedFixture(amount, ofSeed)].join('')) as Fixture;
}

const folder = mkdtempSync(join(tmpdir(), 'ib-conformance-soak-'));
const fixtures = [await fixtureOf(seed), await fixtureOf(seed + 1)];
const file = join(folder, 'fixture.json');
writeFileSync(file, JSON.stringify(fixtures[0]));
const child = await startChild(process.execPath, [
  values.command,
  'mock',
  '--port',
  '0',
  '--fixture',
  file,
  '--clock',
  'frozen',
  '--log',
  'json',
]);
try {
  const soaked: Soaked = { port: child.port, seed, fixtures, wrong: [], checked: 0, lost: 0 };
  await admin(child.port, 'POST', 'reset');
  await wait(LINGER / 5);
  const atFirst = child.descriptors();
  const cycles = Math.ceil(requests / CYCLE);
  const samples: Sample[] = [];
  let begun = performance.now();
  for (let cycle = 0; cycle < WARM_UP + cycles; cycle += 1) {
    if (cycle === WARM_UP) begun = performance.now();
    await runCycle(soaked, cycle);
    if (cycle < WARM_UP) continue;
    samples.push({
      requests: (cycle - WARM_UP + 1) * CYCLE,
      residentMb: child.residentMb(),
      descriptors: child.descriptors(),
      seconds: (performance.now() - begun) / 1000,
    });
    if (samples.length % 5 === 0)
      say(`${samples.at(-1)!.requests} requests, ${samples.at(-1)!.residentMb.toFixed(0)} MB`);
  }
  const { answered, opening, answering } = await crowdOf(
    child.port,
    crowd,
    'GET /api/ib/user-status HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n',
  );
  const left = await tooManyDescriptors(child, atFirst);
  const { code, complaints } = await child.end();
  const growth = growthOf(samples);
  const { wrong, checked, lost } = soaked;
  process.stdout.write(
    [
      soakTable(samples),
      `${checked} answers were checked, with those of the warm-up; ${lost} of them chaos took away`,
      `${answered} of ${crowd} connections at once were answered: open after ${opening.toFixed(1)} s, answered ${answering.toFixed(1)} s later`,
      `memory grew by ${growth.toFixed(1)} MB from the first fifth to the last; ${MOST_GROWTH.toFixed(0)} are allowed`,
      `descriptors: ${atFirst} at first, ${left} more when the clients had gone`,
      `${wrong.length} answers were wrong`,
      ...wrong.slice(0, 10),
      '',
    ].join('\n'),
  );
  if (code !== 0 || complaints !== '') say(`the mock ended with ${code}: ${complaints}`);
  const isWell = wrong.length === 0 && answered === crowd && left === 0 && growth <= MOST_GROWTH;
  if (!isWell || code !== 0 || complaints !== '') process.exitCode = 1;
} finally {
  await child.end();
  rmSync(folder, { recursive: true, force: true });
}
