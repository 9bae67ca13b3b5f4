/** Large tables of tests run in parts. */
import assert from 'node:assert/strict';
import { numberOfCommit } from '../commit.ts';

/** `npm test` sets the number of the commit. A file that runs alone runs all, as CI does. */
const { PART = 'all' } = process.env;

/** The number of the part, also for all. Tests of which CI runs only a part have it in their names. */
export const part = PART === 'all' ? numberOfCommit() : Number(PART);
// Otherwise, nothing would run.
assert.ok(Number.isSafeInteger(part) && part >= 0, `PART=${PART}: needs a whole number, or all`);

/** Every `parts`th row. All rows would take too long even in CI. */
export const onePartOf = <Row>(rows: readonly Row[], parts: number): readonly Row[] =>
  rows.filter((_, at) => at % parts === part % parts);

/** Every `parts`th row, or all rows without a part. */
export const partOf = <Row>(rows: readonly Row[], parts: number): readonly Row[] =>
  PART === 'all' ? rows : onePartOf(rows, parts);
