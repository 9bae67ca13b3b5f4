import type { RunRecord } from '../schemas/generated/types.ts';
import { conclusion } from './conclusion.ts';
import { printable } from './printable.ts';

/** Columns of the line at most. */
const MOST = 200;

/** The verdict with its numbers, on a line: for where no report could be written. */
export function renderVerdict(record: RunRecord): string {
  return `${printable(conclusion(record)[0], MOST)}\n`;
}
