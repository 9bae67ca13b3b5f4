import { closest, distance } from 'fastest-levenshtein';

/** Kind of a problem, which decides the exit code. `closed`: the reader of an output closed it. */
export type ProblemCode = 'usage' | 'fixture' | 'unreachable' | 'interrupted' | 'closed';

/** An error that the user can fix. The message says what is wrong, where, and how to fix it. Shown without a stack. */
export class Problem extends Error {
  readonly code: ProblemCode;

  constructor(code: ProblemCode, message: string) {
    super(message);
    this.name = 'Problem';
    this.code = code;
  }
}

/** Makes a Problem with the code `usage`. */
export const wrongUsage = (message: string) => new Problem('usage', message);

export const TOO_MANY_FILES = 'too many open files and connections: raise the limit (ulimit -n 1024)';

const MAX_LISTED = 100;

export interface Problems extends ReturnType<typeof collectProblems> {}

/**
 * Collects the problems of one file.
 *
 * @param where name of the file in messages
 */
export function collectProblems(where: string, code: ProblemCode = 'fixture') {
  const listed = new Set<string>();
  let others = 0;
  return {
    /** Adds problems. A function is called only if its problem is listed; others are counted. */
    add: (problems: Iterable<string | (() => string)>): void => {
      for (const problem of problems)
        if (listed.size >= MAX_LISTED) others += 1;
        else listed.add(`${where}: ${typeof problem === 'string' ? problem : problem()}`);
    },
    /** @throws Problem with a line for each listed problem, and a line with the number of the others */
    throwIfAny: () => {
      if (listed.size === 0) return;
      const rest = others > 0 ? [`${where}: … and ${others.toLocaleString('en')} more`] : [];
      throw new Problem(code, [...listed, ...rest].join('\n'));
    },
  };
}

/** Returns the code of an error of the system or of Node, such as ENOENT; empty for other errors. */
export const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? '';

/** Quotes values for messages. */
export const quoted = (...values: readonly unknown[]): string =>
  values.map((value) => JSON.stringify(value)).join(', ');

/** `; did you mean valid?` if one of the choices is similar, or has the same words and more or fewer; else an empty text. */
export function didYouMean(text: string, choices: readonly string[]): string {
  if (choices.length === 0) return '';
  const nearest = closest(text, [...choices]);
  const limit = Math.min(text.length / 2, Math.max(2, nearest.length / 3));
  const words = (one: string) => `-${one.replaceAll(/[^a-z\d]+/gi, '-').replaceAll(/^-|-$/g, '')}-`;
  const isPart = (one: string) => words(one).includes(words(text)) || words(text).includes(words(one));
  const similar = distance(text, nearest) <= limit ? [nearest] : choices.filter(isPart);
  return similar.length === 0 ? '' : `; did you mean ${closest(text, similar)}?`;
}
