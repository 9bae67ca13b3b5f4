import type { Requirement } from './requirement.ts';

/** What is at stake if a requirement fails, by its id. The first that fits counts. 1 is the worst. */
const ranks: readonly (readonly [id: RegExp, rank: number])[] = [
  // 1: data reach somebody who must not see them.
  [/^foreign-ib\/[^/]+\/(?:other-ib|shape|follows-key)$/, 1],
  [/^valid\/service\/no-user-data$/, 1],
  [/^robustness\/service\/concurrency$/, 1],
  [/^pending\/deposit-check\/pending$/, 1],
  // 2: a key works that must not, or needs not be sent.
  [/^auth\/[^/]+\/active-key$/, 3],
  [/^auth\//, 2],
  // 4: the words of an answer.
  [/\/message$/, 4],
  // 5: how a right answer is written.
  [/\/date-joined-format$/, 5],
];

/** Advice comes after everything that is required. */
const ADVICE = 6;
const ANSWER = 3;

/** How bad it is if a requirement fails: 1 is the worst, 3 a wrong answer, 6 advice. */
export const rankOf = ({ id, level }: Pick<Requirement, 'id' | 'level'>): number =>
  level === 'required' ? (ranks.find(([pattern]) => pattern.test(id))?.[1] ?? ANSWER) : ADVICE;
