/** A piece of a text that must not get too long. */
export interface Block {
  readonly text: string;
  /** What it tells of, to say how many were left out; without one it is always kept. */
  readonly finding?: string;
}

/**
 * Blocks of Markdown with a blank line between them. Where all of them would take more than `most` bytes, the last
 * findings are left out, and a last line says how many.
 *
 * @param where the reader finds what was left out
 */
export function fit(blocks: readonly Block[], most: number, where: string): string {
  const whole = joined(blocks);
  if (bytesOf(whole) <= most) return whole;
  const closing = (left: number) => ({ text: `${left} more would not fit here: ${where}.` });
  let room =
    most - bytesOf(joined([...blocks.filter(({ finding }) => finding === undefined), closing(99_999)]));
  let isFull = false;
  const kept = blocks.filter(({ text, finding }) => {
    if (finding === undefined) return true;
    room -= bytesOf(text) + 2;
    isFull ||= room < 0;
    return !isFull;
  });
  return joined([...kept, closing(blocks.length - kept.length)]);
}

/** Items of a list follow each other line by line. */
function joined(blocks: readonly Block[]): string {
  const isItem = (block: Block | undefined) => block?.text.startsWith('- ') === true;
  return blocks
    .map((block, at) => block.text + (isItem(block) && isItem(blocks[at + 1]) ? '\n' : '\n\n'))
    .join('')
    .replace(/\n\n$/, '\n');
}

const bytesOf = (text: string) => Buffer.byteLength(text);
