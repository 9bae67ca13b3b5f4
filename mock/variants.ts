import { answerVariants } from './variants/answers.ts';
import { limitVariants } from './variants/limits.ts';
import { requestVariants } from './variants/requests.ts';
import type { Variants } from './variants/variant.ts';

export type { Variants } from './variants/variant.ts';

/** Legal variants, by id: the suites have to pass each of them. */
export const variants: Variants = { ...requestVariants, ...limitVariants, ...answerVariants };
