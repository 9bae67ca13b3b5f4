import { columns } from './printable.ts';

/**
 * Printable text in lines of at most `width` columns (2 or more), broken between words; a word
 * that is too long for a line is cut. Runs of spaces count as one.
 */
export function wrap(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ').filter((part) => part !== '')) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (columns(longer) <= width) {
      line = longer;
      continue;
    }
    if (line !== '') lines.push(line);
    const pieces = chunk(word, width);
    lines.push(...pieces.slice(0, -1));
    line = pieces.at(-1) ?? '';
  }
  return line === '' ? lines : [...lines, line];
}

/** The same with every line but the first indented, so that no further line looks like a first. */
export function hanging(text: string, width: number): readonly string[] {
  return wrap(text, width - 2).map((line, at) => (at === 0 ? line : `  ${line}`));
}

/**
 * Printable text cut into lines of at most `width` columns (2 or more), every character kept: for
 * what has to be read letter by letter.
 */
export function chunk(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  let line = '';
  let used = 0;
  for (const character of text) {
    const wide = columns(character);
    if (used + wide > width) {
      lines.push(line);
      line = '';
      used = 0;
    }
    line += character;
    used += wide;
  }
  return line === '' ? lines : [...lines, line];
}
