import type { KnownKey } from '../catalogue/known.ts';
import { isWhole, shareOf, type Base } from './base.ts';
import type { Prober } from './probe.ts';
import type { Validated } from './validate.ts';
import { probe } from './vary.ts';

/** The condition that the key is one of another partner. */
const ANOTHER = "key: another partner's";

/** Adds whose key it was, if lookups with the key of a further partner, or with another one of the same, pass. */
export async function withOwner(prober: Prober, base: Base, validated: Validated): Promise<Validated> {
  const { otherKey } = prober;
  if (otherKey === undefined || !isWhole(base, base.levels)) return validated;
  const failing: KnownKey[] = [otherKey];
  const passing: { readonly key: KnownKey; readonly of: number }[] = [];
  for (const [key, known] of prober.others) {
    const { outcome, trials } = await probe(prober, { ...base, known }, base.levels);
    if (outcome === 'fails') failing.push(key);
    if (outcome === 'passes') passing.push({ key, of: shareOf(trials).of });
  }
  if (passing.length === 0) return validated;
  const isOneOfSeveral = passing.some(({ key }) => key.partner === otherKey.partner);
  const names = failing.map(({ name, partner }) => (isOneOfSeveral ? name : `${partner}'s`));
  const words = `key: ${[...new Set(names)].join(' or ')}`;
  const tried = { condition: words, failed: 0, of: passing.reduce((sum, { of }) => sum + of, 0) };
  return {
    ...validated,
    where: [words, ...validated.where.filter((one) => one !== ANOTHER)],
    without: [tried, ...validated.without.filter(({ condition }) => condition !== ANOTHER)],
  };
}
