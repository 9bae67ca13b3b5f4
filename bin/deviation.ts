import type { Change } from '../mock/change.ts';
import { Problem } from '../schemas/problem.ts';
import { didYouMean } from '../schemas/problem.ts';

interface Described {
  readonly what: string;
  readonly change: Change;
}

/** Loaded only where one is asked for. */
export const deviations: Readonly<
  Record<'fault' | 'variant', () => Promise<Readonly<Record<string, Described>>>>
> = {
  fault: async () => (await import('../mock/faults.ts')).faults,
  variant: async () => (await import('../mock/variants.ts')).variants,
};

/**
 * The deviation that a flag names.
 *
 * @throws Problem with code `usage` where there is none of that name
 */
export async function deviation(flag: keyof typeof deviations, id: string) {
  const known = await deviations[flag]();
  const found = Object.hasOwn(known, id) ? known[id] : undefined;
  if (found === undefined)
    throw new Problem(
      'usage',
      `--${flag} ${id}: there is none of that name${didYouMean(id, Object.keys(known))} (--${flag} list lists them)`,
    );
  return { id, change: found.change };
}

/** Ids with what they stand for, one behind the other. */
export const listed = (known: Readonly<Record<string, Described>>) =>
  Object.entries(known)
    .map(([id, { what }]) => `${id}\n    ${what}\n`)
    .join('');
