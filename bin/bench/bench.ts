/**
 * How fast all of it is, beside others (`npm run bench`; what its flags are stands in CONTRIBUTING). It takes minutes, wants a quiet
 * machine, and no test depends on it.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { format, resolveConfig } from 'prettier';
import { root } from '../dev/paths.ts';
import { installations } from './installations.ts';
import { machine, useThisNode } from './machine.ts';
import type { Bench, Part, Samples } from './part.ts';
import { parts } from './parts/index.ts';
import { pages, withFigures } from './figures.ts';
import { alternate } from './rounds.ts';
import { table, type Conditions } from './table.ts';

const { values } = parseArgs({
  options: {
    part: { type: 'string', multiple: true },
    rounds: { type: 'string', default: '9' },
    seconds: { type: 'string', default: '3' },
    json: { type: 'string' },
    markdown: { type: 'string' },
    docs: { type: 'boolean', default: false },
  },
});

function wholeFrom1(name: 'rounds' | 'seconds'): number {
  const value = Number(values[name]);
  if (!Number.isInteger(value) || value < 1) throw new Error(`--${name} needs a whole number from 1`);
  return value;
}

const [rounds, seconds] = [wholeFrom1('rounds'), wholeFrom1('seconds')];
const all: Readonly<Record<string, Part>> = parts;
const chosen = values.part ?? Object.keys(all).filter((name) => all[name]!.byDefault);
for (const name of chosen)
  if (!Object.hasOwn(all, name)) throw new Error(`--part is one of ${Object.keys(all).join(', ')}`);

const say = (text: string) => process.stderr.write(`${text}\n`);

/** What came of a part; the samples are all that was measured. */
interface Result extends Conditions {
  readonly part: string;
  readonly title: string;
  readonly samples: Samples;
}

async function resultOf(name: string, bench: Bench): Promise<Result> {
  const { title, prepare } = all[name]!;
  say(`${name}: prepares`);
  const { versions, entrants } = await prepare(bench);
  const before = loadavg()[0]!;
  const samples = await alternate(entrants, rounds, (text) => say(`${name}: ${text}`));
  const [date, load] = [new Date().toISOString(), [before, loadavg()[0]!] as const];
  return { part: name, title, date, machine, node: process.version, versions, rounds, load, samples };
}

const tableOf = ({ part, samples, ...how }: Result) => table(all[part]!, samples, how);
const sectionOf = (result: Result) => `## ${result.title}\n\n${tableOf(result)}`;

/** Into the files that were asked for, after each part: the next one may fail. */
async function write(results: readonly Result[]): Promise<void> {
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(results, undefined, 2)}\n`);
  if (values.markdown !== undefined) writeFileSync(values.markdown, results.map(sectionOf).join('\n'));
  if (!values.docs) return;
  for (const [name, isShown] of Object.entries(pages)) {
    const file = `${root}${name}`;
    const text = results
      .filter(({ part }) => isShown(part))
      .reduce((page, result) => withFigures(page, result.part, tableOf(result)), readFileSync(file, 'utf8'));
    writeFileSync(file, await format(text, { ...(await resolveConfig(file)), filepath: file }));
  }
}

useThisNode();
const ending = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => ending.abort(new Error(signal)));
const folder = mkdtempSync(join(tmpdir(), 'ib-conformance-bench-'));
try {
  using installed = installations(say);
  const results: Result[] = [];
  for (const name of chosen) {
    const result = await resultOf(name, {
      installations: installed,
      folder,
      seconds,
      signal: ending.signal,
    });
    results.push(result);
    process.stdout.write(`${sectionOf(result)}\n`);
    await write(results);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
