import type { Check } from '../../schemas/generated/types.ts';

/** What was found of one thing, and what to do about it where it is not as it should be. */
export type Finding = Pick<Check, 'outcome' | 'words' | 'mend'>;

export const good = (words: string): Finding => ({ outcome: 'good', words });
export const bad = (words: string, mend: string): Finding => ({ outcome: 'bad', words, mend });
export const unknown = (words: string): Finding => ({ outcome: 'unknown', words });

/** Tells what a check is about: its area, its subject, its finding. */
export const check = (area: Check['area'], subject: string, finding: Finding): Check => ({
  area,
  subject,
  ...finding,
});
