/**
 * Runs the suites against every fault and every variant of the mock, and against generated faults (`npm run self-test`).
 * Flags: `--only id` for single faults or variants, `--seed`, `--combined` generated faults of each kind, `--json`, and
 * `--update`, which writes `kill-matrix.json` and prints what it removes from it. Without `--seed`, faults run with seed
 * 1 and variants with five seeds. In CI, both run with one, drawn by the commit. An update runs the faults with five.
 */
import { parseArgs } from 'node:util';
import { faults } from '../../../mock/deviations/faults.ts';
import { loadFixture } from '../../input-files.ts';
import { numberOfCommit } from '../commit.ts';
import {
  failedInEach,
  readKillMatrix,
  removals,
  strayEntries,
  updated,
  writeKillMatrix,
} from './kill-matrix.ts';
import {
  combinedGaps,
  combinedRuns,
  entries,
  faultRun,
  gaps,
  judgedIds,
  renderMatrix,
  type FaultRun,
} from './matrix.ts';

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true, default: [] },
    seed: { type: 'string' },
    combined: { type: 'string', default: '40' },
    json: { type: 'boolean', default: false },
    update: { type: 'boolean', default: false },
  },
});
const { only, json, update } = values;
const [seed, combined] = [Number(values.seed ?? 1), Number(values.combined)];
if (!Number.isInteger(seed) || !Number.isInteger(combined))
  throw new Error('--seed and --combined need whole numbers');
const unknown = only.filter((name) => !entries.some(({ id }) => id === name));
if (unknown.length > 0) throw new Error(`there is no fault or variant ${unknown.join(', ')}`);
if (update && values.seed !== undefined) throw new Error('--update runs five seeds, so it takes no --seed');

const five = [1, 2, 3, 4, 5];
const drawn = process.env['CI'] && values.seed === undefined ? [numberOfCommit()] : undefined;
const seedsOf = {
  fault: update ? five : (drawn ?? [seed]),
  variant: drawn ?? (values.seed === undefined ? five : [seed]),
};

const isWhole = only.length === 0;
const faultIds = Object.keys(faults);
const fixture = await loadFixture(undefined, {});
const matrix = readKillMatrix();
const some = isWhole ? entries : entries.filter(({ id }) => only.includes(id));
// One thread: a second one would compile everything again, which takes a fifth of the time.
const runs: FaultRun[] = [];
for (const one of some) {
  const ofOne: FaultRun[] = [];
  for (const each of seedsOf[one.kind]) {
    // To update, a fault gets all lookups once. Then, only what it failed so far can fail with each seed.
    const isFirst = ofOne.length === 0;
    const expected = !update ? matrix[one.id] : isFirst ? undefined : failedInEach(ofOne);
    ofOne.push(await faultRun(fixture, each, one, expected));
  }
  runs.push(...ofOne);
}
const now = update ? updated(matrix, runs, faultIds) : matrix;
if (update) writeKillMatrix(now);
const kills = runs.map((one) => (one.kind === 'fault' ? { ...one, expected: now[one.id] } : one));
const generated = isWhole ? await combinedRuns(fixture, seed, combined) : [];
// Single faults do not show that each requirement can fail.
const found = [
  ...strayEntries(now, faultIds),
  ...gaps(kills, isWhole ? judgedIds : []),
  ...combinedGaps(generated),
];
const shownIds = isWhole ? judgedIds : [...new Set(kills.flatMap(({ failed }) => failed))];
process.stdout.write(
  json
    ? `${JSON.stringify({ seeds: seedsOf, gaps: found, kills, combined: generated }, undefined, 1)}\n`
    : `seeds: ${seedsOf.fault.join()} for faults, ${seedsOf.variant.join()} for variants\n${renderMatrix(kills, generated, shownIds, found)}`,
);
for (const removed of removals(matrix, now)) process.stdout.write(`removed: ${removed}\n`);
process.exitCode = found.length === 0 ? 0 : 1;
