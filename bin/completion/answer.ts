import { commands } from '../commands/index.ts';
import { candidates } from './candidates.ts';
import { wordsOf } from './vocabulary.ts';

/**
 * Answers the scripts of the shells: a line for each word that may stand at the cursor, with what it
 * means behind a tab; or the one line `:file`, with what of the word is to stay behind a tab.
 *
 * @param words of the command line up to the cursor, without the program; the last one may be empty
 */
export async function answer(words: readonly string[]): Promise<string> {
  const found = await candidates(words.slice(0, -1), words.at(-1) ?? '', { commands, wordsOf });
  return found.kind === 'file'
    ? `:file\t${found.behind}\n`
    : found.words.map(({ word, what }) => `${word}\t${what}\n`).join('');
}
