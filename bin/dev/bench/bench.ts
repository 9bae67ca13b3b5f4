/** Measures the installed package beside other servers (`npm run bench`). It needs Linux, a quiet machine and half an hour. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { format, resolveConfig } from 'prettier';
import { install } from '../package/install.ts';
import { root } from '../paths.ts';
import { pages, parts, type Part } from './parts.ts';
import { table, withFigures, type Sample } from './table.ts';

const { values } = parseArgs({
  options: {
    part: { type: 'string', multiple: true },
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '3' },
    docs: { type: 'boolean', default: false },
  },
});
const [rounds, seconds] = [Number(values.rounds), Number(values.seconds)];
if (!(rounds >= 1) || !(seconds >= 1)) throw new Error('--rounds and --seconds need a number from 1');
const chosen = values.part ?? Object.keys(parts).filter((name) => parts[name]!.onDemand === undefined);
for (const name of chosen)
  if (!Object.hasOwn(parts, name)) throw new Error(`--part is one of ${Object.keys(parts).join(', ')}`);

const { folder, command } = await install();
try {
  for (const name of chosen) {
    const text = await tableOf(name, parts[name]!);
    process.stdout.write(`## ${name}\n\n${text}\n`);
    if (values.docs) await writeIntoPages(name, text);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** Measures each row once a round; every second round goes backwards, so that no row gains from its place. */
async function tableOf(name: string, { heading, columns, rows }: Part): Promise<string> {
  const before = loadavg()[0]!;
  const measures = Object.entries(rows({ folder, command, seconds }));
  const samples: Record<string, Sample[]> = Object.fromEntries(measures.map(([row]) => [row, []]));
  for (let round = 0; round < rounds; round += 1)
    for (const [row, measure] of round % 2 === 0 ? measures : measures.toReversed()) {
      process.stderr.write(`${name}, round ${round + 1} of ${rounds}: ${row}\n`);
      samples[row]!.push(await measure());
    }
  const machine = `${cpus().length} × ${cpus()[0]?.model.trim()}, Node ${process.version}`;
  const load = `load average ${before.toFixed(1)} to ${loadavg()[0]!.toFixed(1)}`;
  const how = `Medians of ${rounds} alternating rounds, in brackets the middle half. ${machine}; ${new Date().toISOString().slice(0, 10)}, ${load}.`;
  return `${table(heading, columns, samples)}\n${how}\n`;
}

async function writeIntoPages(part: string, text: string): Promise<void> {
  for (const [name, shown] of Object.entries(pages)) {
    if (!shown.includes(part)) continue;
    const file = join(root, name);
    const page = withFigures(readFileSync(file, 'utf8'), part, text);
    writeFileSync(file, await format(page, { ...(await resolveConfig(file)), filepath: file }));
  }
}
