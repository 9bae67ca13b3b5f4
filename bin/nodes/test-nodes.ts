/**
 * Runs the tests on other versions of Node (`npm run test:nodes`), and ends with 1 where one fails. With versions
 * (`-- 26.10.0 27.0.0`) on those alone; everything on one that is not in the table.
 */
import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { delimiter, join } from 'node:path';
import { ended } from '../child-process.ts';
import { root } from '../package/paths.ts';
import { binariesOf } from './binaries.ts';
import { complaintsOf, countTests, isPassed, outcomeTable, type Outcome } from './outcome.ts';
import { runs, type RunName } from './runs.ts';
import { versions } from './versions.ts';

const say = (line: string) => process.stderr.write(`${line}\n`);

/** Runs tests with a Node that every program finds first, and says what failed. */
async function test(version: string, run: RunName): Promise<Outcome> {
  const binaries = await binariesOf(version);
  const env = { ...process.env, PATH: `${binaries}${delimiter}${process.env['PATH']}` };
  say(`Node ${version}: ${run}`);
  const begun = performance.now();
  const argv = [
    '--import',
    'tsx',
    '--test',
    '--test-reporter=spec',
    `--test-concurrency=${availableParallelism()}`,
    ...runs[run](),
  ];
  const child = spawn(join(binaries, 'node'), argv, { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const { code: exitCode, printed, complaint } = await ended(child);
  const seconds = (performance.now() - begun) / 1000;
  const outcome: Outcome = { version, run, exitCode, tests: countTests(printed), seconds };
  if (!isPassed(outcome)) say(`${complaintsOf(printed)}${complaint}`);
  return outcome;
}

const outcomes: Outcome[] = [];
const asked = process.argv.slice(2);
for (const version of asked.length > 0 ? asked : Object.keys(versions)) {
  for (const run of versions[version] ?? (['everything', 'package'] as const))
    outcomes.push(await test(version, run));
}
process.stdout.write(outcomeTable(outcomes));
if (!outcomes.every(isPassed)) process.exitCode = 1;
