import type { TranscriptLine } from '../../schemas/generated/types.ts';
import { Problem } from '../../schemas/problem.ts';

/**
 * A function that is shown one line of a transcript after the other, and sees to it that they are those
 * of one run: what is missing among them, or of another run, might be what failed.
 *
 * @throws Problem (the function) with code `usage` at the line that shows that they are not
 */
export function createSequence(): (line: TranscriptLine) => void {
  const seen = new Set<string>();
  let lines = 0;
  let exchanges = 0;
  let isOver = false;
  return (line) => {
    const name = nameOf(line);
    if (isOver) throw notWhole('goes on behind its end');
    if (seen.has(name)) throw notWhole(`has this twice: ${name}`);
    if (line.line === 'exchange' && line.n !== exchanges)
      throw notWhole(`lacks exchange ${exchanges}, or has it elsewhere`);
    if (line.line === 'end' && line.lines !== lines)
      throw notWhole(`has ${lines} lines before its end, of ${line.lines}`);
    // Exchanges are told by their order, and there are very many of them.
    if (line.line === 'exchange') exchanges++;
    else seen.add(name);
    lines++;
    isOver = line.line === 'end';
  };
}

/** What no two lines of one run are. */
function nameOf(line: TranscriptLine): string {
  switch (line.line) {
    case 'start':
    case 'end':
      return line.line;
    case 'exchange':
      return `${line.line} ${line.n}`;
    case 'explained':
    case 'stopped':
      return `${line.line} of ${line.of}`;
    case 'missed':
      return `${line.line} ${line.path}`;
    case 'door':
      return `${line.line} ${line.nth} of ${line.of}`;
    case 'outcome':
      return `${line.line} of ${String(line.result['id'])}`;
  }
}

const notWhole = (what: string) =>
  new Problem(
    'usage',
    `the transcript is not as its run left it: it ${what}; judge the file that \`verify\` wrote`,
  );
