/** How many of so many lookups failed. */
export interface Share {
  readonly failed: number;
  readonly of: number;
}

/** How many of these lookups failed. */
export const shareOf = (trials: readonly { readonly hasFailed: boolean }[]): Share => ({
  failed: trials.filter(({ hasFailed }) => hasFailed).length,
  of: trials.length,
});

/** Number of lookups that must pass before they show that nothing fails: at least, and at most. */
const MIN_DRAWS = 6;
export const MAX_DRAWS = 40;

/** The probability that all of them pass although the same share of them fails. */
const CHANCE = 0.02;

/** The smallest share with which `MAX_DRAWS` lookups are enough. */
export const MIN_SHARE = 0.1;

/** Number of lookups that must pass to show that none fails, if this share of them failed before. */
export function drawsFor({ failed, of }: Share): number {
  const share = of === 0 ? 1 : failed / of;
  if (share >= 1) return MIN_DRAWS;
  const draws = Math.ceil(Math.log(CHANCE) / Math.log(1 - share));
  return Math.min(MAX_DRAWS, Math.max(MIN_DRAWS, draws));
}

/** Natural logarithm of a factorial. */
const logFactorial = (n: number): number => (n < 2 ? 0 : Math.log(n) + logFactorial(n - 1));

const logChoose = (n: number, k: number) => logFactorial(n) - logFactorial(k) - logFactorial(n - k);

/** How many choices of `k` of `n` there are. */
export const choices = (n: number, k: number): number => Math.exp(logChoose(n, k));

/** The two-sided probability (Fisher's exact test) that two shares differ by chance as much as these. */
export function chanceOf(one: Share, other: Share): number {
  const failed = one.failed + other.failed;
  const all = one.of + other.of;
  const probability = (k: number) =>
    Math.exp(logChoose(one.of, k) + logChoose(other.of, failed - k) - logChoose(all, failed));
  const seen = probability(one.failed);
  let sum = 0;
  for (let k = Math.max(0, failed - other.of); k <= Math.min(failed, one.of); k++) {
    const each = probability(k);
    if (each <= seen * (1 + 1e-9)) sum += each;
  }
  return Math.min(1, sum);
}

/** Differences that are less probable than this are none by chance. */
export const SIGNIFICANT = 0.05;
