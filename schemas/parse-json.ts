import { printParseErrorCode, visit, type ParseErrorCode } from 'jsonc-parser';
import { Problem, type ProblemCode } from './problem.ts';

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
    let first: { readonly code: ParseErrorCode; readonly offset: number } | undefined;
    // Only looks: the tree of a large text would not fit into memory.
    const onError = (error: ParseErrorCode, offset: number) => void (first ??= { code: error, offset });
    visit(text, { onError }, { disallowComments: true, allowTrailingComma: false });
    const before = text.slice(0, first?.offset ?? text.length).split('\n');
    const word = first === undefined ? 'not JSON' : wordsOfSyntaxError(first.code);
    throw new Problem(
      code,
      `${where}:${before.length}:${(before.at(-1)?.length ?? 0) + 1}: is not JSON: ${word}`,
    );
  }
}

/** `PropertyNameExpected` → `property name expected` */
function wordsOfSyntaxError(code: ParseErrorCode): string {
  return printParseErrorCode(code)
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase();
}
