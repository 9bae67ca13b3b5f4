import type { RunRecord } from '../schemas/generated/types.ts';
import { countLines, noteLines, suspicionLines, verdictLines } from './console-ending.ts';
import { brokenLines, failureLines, inconclusiveLines } from './console-findings.ts';
import { rowLines } from './console-rows.ts';
import { palette } from './palette.ts';
import { printable } from './printable.ts';
import type { ReportOptions } from './formats.ts';
import { hanging } from './wrap.ts';

/** Narrower, the rows fall apart; wider, nobody reads on. */
const NARROWEST = 60;
const WIDEST = 200;

/** Columns of the target's URL at most. */
const MOST_URL = 300;

/**
 * The report for people: what was driven, a row per requirement, every failure in full, and the
 * verdict as the last lines. Only commands are longer than the width (60 to 200 columns); no
 * control character but the line break comes out of it, whatever a target sent.
 */
export function renderConsole(record: RunRecord, { color, width: asked }: ReportOptions): string {
  const width = Math.min(WIDEST, Math.max(NARROWEST, asked));
  const paint = palette(color);
  const lines = [
    ...hanging(titleOf(record), width).map((line) => paint('quiet', line)),
    ...rowLines(record.requirements, paint, width),
    ...failureLines(record, paint, width),
    ...inconclusiveLines(record, paint, width),
    ...brokenLines(record, paint, width),
    ...suspicionLines(record, width),
    ...noteLines(record, width),
    ...countLines(record, width),
    ...verdictLines(record, paint, width),
  ];
  return `${lines.join('\n')}\n`;
}

function titleOf({ target, partner, seed, version }: RunRecord): string {
  return [
    `target ${printable(target, MOST_URL)}`,
    ...(partner === undefined ? [] : [`partner ${printable(partner, MOST_URL)}`]),
    `seed ${seed}`,
    `ib-conformance ${printable(version, MOST_URL)}`,
  ].join(', ');
}
