import { factors, type Levels } from '../model/factors.ts';
import { isWhole, shareOf, tryInTurn, drawsWith, type Base, type Share } from './base.ts';
import type { Prober, Trial } from './probe.ts';
import { probe, type Condition } from './vary.ts';
import type { KnownKey } from '../catalogue/known.ts';

/** What new lookups showed about conditions. */
export interface Validated {
  readonly where: readonly string[];
  readonly with?: Share;
  readonly without: readonly (Share & { readonly condition: string })[];
}

/**
 * Sends new lookups with all conditions, and without each of them. If one fails without a condition, or if that cannot
 * be tried, it is left out, and the others are tried again.
 */
export async function validate(
  prober: Prober,
  base: Base,
  conditions: readonly Condition[],
): Promise<Validated> {
  if (conditions.length === 0) return { where: [], without: [] };
  const { levels } = base;
  const rows = conditions.flatMap(({ factor, failing }) =>
    failing.map((level): Levels => ({ ...levels, [factor]: level })),
  );
  const having = shareOf(await tryInTurn(prober, base, [levels, ...rows.filter(prober.isComparable)]));
  const isAsBefore =
    base.only === undefined && isWhole(base, levels) ? having.failed === having.of : having.failed > 0;
  if (!isAsBefore) return { where: [], without: [] };
  const without: Validated['without'][number][] = [];
  for (const condition of conditions) {
    const { words, passing } = condition;
    const others = conditions.filter((one) => one !== condition);
    if (seenWithout(prober, base, condition, others).some(({ hasFailed }) => hasFailed))
      return validate(prober, base, others);
    const share = shareOf(await tryInTurn(prober, base, passing, (some) => shareOf(some).failed > 0));
    if (share.failed > 0 || share.of < drawsWith(base, passing[0]!)) return validate(prober, base, others);
    without.push({ condition: words, ...share });
  }
  return { where: conditions.map(({ words }) => words), with: having, without };
}

/** Lookups that were sent before, with all conditions but one. A gate that is none may explain another answer. */
function seenWithout(
  prober: Prober,
  { levels }: Base,
  { factor, passing }: Condition,
  others: readonly Condition[],
): readonly Trial[] {
  const isFree = (name: string) => name === factor || others.some((one) => one.factor === name);
  const same = factors[prober.endpoint].filter(
    ({ name, isGate }) => (name === 'key' && factor !== 'key') || (isGate && !isFree(name)),
  );
  return prober
    .observations()
    .filter(
      (one) =>
        passing.some(({ [factor]: level }) => level === one.levels[factor]) &&
        (factor !== 'repetition' || one.asked === 1) &&
        others.every((other) => other.failing.includes(one.levels[other.factor])) &&
        same.every(({ name }) => one.levels[name] === levels[name]),
    );
}

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
