import { Problem, type ProblemCode } from './problem.ts';
import { syntaxErrorIn } from './syntax-error.ts';

/**
 * Reads JSON that people write. `JSON.parse` is fast but does not always say where; only broken text is
 * read again by a parser that does.
 *
 * @param where how the message names the file
 * @throws Problem with the code, and the line and column of the first error
 */
export function parseJson(text: string, where: string, code: ProblemCode): unknown {
  try {
    return JSON.parse(text);
  } catch {
    const { line, column, words } = syntaxErrorIn(text);
    throw new Problem(code, `${where}:${line}:${column}: is not JSON: ${words}`);
  }
}
