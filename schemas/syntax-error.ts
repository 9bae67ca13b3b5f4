import { printParseErrorCode, visit, type ParseErrorCode } from 'jsonc-parser';

/** Where a text stops to be JSON, both counted from 1, and what is wrong there. */
export interface SyntaxErrorPlace {
  readonly line: number;
  readonly column: number;
  readonly words: string;
}

/** The first syntax error of a text that `JSON.parse` refuses. Nothing of the text is in the words: it may hold keys. */
export function syntaxErrorIn(text: string): SyntaxErrorPlace {
  let first: { readonly words: string; readonly offset: number } | undefined;
  let deepest = 0;
  const onArrayBegin = (offset: number) => void (deepest = offset);
  const onError = (code: ParseErrorCode, offset: number) => void (first ??= { words: wordsOf(code), offset });
  try {
    // Only looks: the tree of a large text would not fit into memory.
    visit(
      text,
      { onError, onArrayBegin, onObjectBegin: onArrayBegin },
      { disallowComments: true, allowTrailingComma: false },
    );
  } catch (error) {
    // It calls itself for each level, and the stack has an end.
    if (!(error instanceof RangeError)) throw error;
    first ??= { words: 'nested too deeply to say where', offset: deepest };
  }
  const before = text.slice(0, first?.offset ?? text.length).split('\n');
  return {
    line: before.length,
    column: (before.at(-1)?.length ?? 0) + 1,
    words: first?.words ?? 'not JSON',
  };
}

/** `PropertyNameExpected` → `property name expected` */
function wordsOf(code: ParseErrorCode): string {
  return printParseErrorCode(code)
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase();
}
