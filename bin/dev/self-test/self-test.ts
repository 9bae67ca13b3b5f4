/**
 * Runs the suites against every fault and every variant of the mock, and against generated faults (`npm run self-test`).
 * Flags: `--only id` for single faults or variants, `--seed`, `--combined` generated faults of each kind, `--json`.
 */
import { parseArgs } from 'node:util';
import { loadFixture } from '../../fixture-file.ts';
import { combinedGaps, combinedRuns, entries, faultRuns, gaps, judgedIds, renderMatrix } from './matrix.ts';

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true, default: [] },
    seed: { type: 'string', default: '1' },
    combined: { type: 'string', default: '40' },
    json: { type: 'boolean', default: false },
  },
});
const { only, json } = values;
const [seed, combined] = [Number(values.seed), Number(values.combined)];
if (!Number.isInteger(seed) || !Number.isInteger(combined))
  throw new Error('--seed and --combined need whole numbers');
const unknown = only.filter((name) => !entries.some(({ id }) => id === name));
if (unknown.length > 0) throw new Error(`there is no fault or variant ${unknown.join(', ')}`);

const isWhole = only.length === 0;
const all = { fixture: await loadFixture(undefined, {}), seed, from: 0, step: 1 };
// One thread: a second one would compile everything again, which takes a fifth of the time.
const kills = await faultRuns(all, isWhole ? entries : entries.filter(({ id }) => only.includes(id)));
const runs = isWhole ? await combinedRuns(all, combined) : [];
// Single faults do not show that each requirement can fail.
const found = [...gaps(kills, isWhole ? judgedIds : []), ...combinedGaps(runs)];
process.stdout.write(
  json
    ? `${JSON.stringify({ seed, gaps: found, kills, combined: runs }, undefined, 1)}\n`
    : renderMatrix(
        kills,
        runs,
        isWhole ? judgedIds : [...new Set(kills.flatMap(({ failed }) => failed))],
        found,
      ),
);
process.exitCode = found.length === 0 ? 0 : 1;
