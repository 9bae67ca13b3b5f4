import { printable } from './printable.ts';
import { wrap } from './wrap.ts';

/** Indent and label that stand before the lines of a field. */
const INDENT = '  ';
const LABEL = 10;

/** Columns of prose that are shown at most. */
const MOST_PROSE = 600;
/** Columns of a command at most: cut off, it is of no use. */
const MOST_COMMAND = 20_000;

/** Columns that a field leaves to its lines. */
export function fieldWidth(width: number): number {
  return width - INDENT.length - LABEL;
}

/** Lines under one label, all of them aligned. */
export function field(label: string, lines: readonly string[]): readonly string[] {
  return lines.map((line, at) => INDENT + (at === 0 ? label : '').padEnd(LABEL) + line);
}

/** A field of words from anywhere: escaped, wrapped, shortened. */
export function proseField(label: string, text: string, width: number): readonly string[] {
  return field(label, wrap(printable(text, MOST_PROSE), fieldWidth(width)));
}

/** A field of a command, on one line however long, so that it can be copied. */
export function commandField(label: string, command: string): readonly string[] {
  return commandLines(INDENT + label.padEnd(LABEL), command);
}

/** A command behind a label, likewise. */
export function commandLines(label: string, command: string): readonly string[] {
  const shown = printable(command, MOST_COMMAND);
  const remark = `${' '.repeat(label.length)}(escaped or cut: the json report has it whole)`;
  return [label + shown, ...(shown === command ? [] : [remark])];
}
