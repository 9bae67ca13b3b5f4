/** Large tables of tests run in parts. */
import { randomInt } from 'node:crypto';

/** `npm test` sets a number, another one each time, which repeats its part. A file that runs alone runs all, as CI does. */
const { PART = 'all' } = process.env;

/** The number of the part. A test that uses it has it in its name. */
export const part = PART === 'all' ? randomInt(720) : Number(PART);

/** Every `parts`th row. All rows would take too long even in CI. */
export const onePartOf = <Row>(rows: readonly Row[], parts: number): readonly Row[] =>
  rows.filter((_, at) => at % parts === part % parts);

/** Every `parts`th row, or all rows without a part. */
export const partOf = <Row>(rows: readonly Row[], parts: number): readonly Row[] =>
  PART === 'all' ? rows : onePartOf(rows, parts);
