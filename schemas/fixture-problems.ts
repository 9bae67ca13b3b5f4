import { Problem, type ProblemCode } from './problem.ts';

/** How many problems of one file are listed before the rest is only counted. */
const MOST_PROBLEMS = 20;

/** Values as they stand in messages. */
export const listed = (values: readonly unknown[]) => values.map((value) => JSON.stringify(value)).join(', ');

/** What is wrong with a fixture, as it is found. */
export interface Problems {
  /** Problems that were not given to an earlier call; twins among them count once. */
  add(problems: Iterable<string>): void;
  /** @throws Problem: a line for each of the first, and how many more there are */
  throwIfAny(): void;
}

/** @param where how messages name the file */
export function collectProblems(where: string, code: ProblemCode = 'fixture'): Problems {
  const first: string[] = [];
  let hidden = 0;
  return {
    add: (problems) => {
      for (const problem of new Set(problems))
        if (first.length < MOST_PROBLEMS) first.push(`${where}: ${problem}`);
        else hidden += 1;
    },
    throwIfAny: () => {
      if (first.length === 0) return;
      const more = hidden > 0 ? [`${where}: and ${hidden} more`] : [];
      throw new Problem(code, [...first, ...more].join('\n'));
    },
  };
}
