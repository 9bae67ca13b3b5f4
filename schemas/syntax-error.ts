import { printParseErrorCode, visit, type ParseErrorCode } from 'jsonc-parser';

/** Where a text stops to be JSON, both counted from 1, and what is wrong there. */
export interface SyntaxErrorPlace {
  readonly line: number;
  readonly column: number;
  readonly words: string;
}

/** The first syntax error of a text that `JSON.parse` refuses. Nothing of the text is in the words: it may hold keys. */
export function syntaxErrorIn(text: string): SyntaxErrorPlace {
  let first: { readonly code: ParseErrorCode; readonly offset: number } | undefined;
  // Only looks: the tree of a large text would not fit into memory.
  const onError = (code: ParseErrorCode, offset: number) => void (first ??= { code, offset });
  visit(text, { onError }, { disallowComments: true, allowTrailingComma: false });
  const before = text.slice(0, first?.offset ?? text.length).split('\n');
  return {
    line: before.length,
    column: (before.at(-1)?.length ?? 0) + 1,
    words: first === undefined ? 'not JSON' : wordsOf(first.code),
  };
}

/** `PropertyNameExpected` → `property name expected` */
function wordsOf(code: ParseErrorCode): string {
  return printParseErrorCode(code)
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase();
}
