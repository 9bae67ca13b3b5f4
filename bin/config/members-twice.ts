import { visit } from 'jsonc-parser';
import { printable } from '../../reports/printable.ts';

/**
 * Members of a name that their object has already: `JSON.parse` takes the last one alone, and what the
 * first one says, such as whom to verify, would be lost.
 *
 * @param text JSON
 * @returns a problem for each, with its line
 */
export function membersTwice(text: string): readonly string[] {
  const problems: string[] = [];
  const open: Set<string>[] = [];
  visit(text, {
    onObjectBegin: () => void open.push(new Set()),
    onObjectEnd: () => void open.pop(),
    onObjectProperty: (name, _offset, _length, line) => {
      const names = open.at(-1)!;
      if (names.has(name)) problems.push(`line ${line + 1}: ${printable(name, 80)} stands there once more`);
      names.add(name);
    },
  });
  return problems;
}
