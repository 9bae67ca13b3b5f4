import type { Share, FactorName, Levels } from '../rules/requirement.ts';
import { factors, plainLevels, type Factor } from '../plan/factors.ts';
import { drawsFor, drawsWith, idsOf, isSameEntity, isWhole, shareOf, tryInTurn, type Base } from './base.ts';
import type { Outcome } from './comparison.ts';
import type { Prober, Probe } from './probe.ts';

/** Levels of a factor with which a lookup fails, while it passes with others. */
interface Condition {
  readonly factor: FactorName;
  readonly failing: readonly string[];
  /** All levels of lookups that pass without the condition. */
  readonly passing: readonly Levels[];
  /** `id spelling: upper case or mixed case` */
  readonly words: string;
}

/** Factors that cannot matter, because another one decides the answer before. */
export function maskedBy({ factsOf }: Prober, levels: Levels): readonly FactorName[] {
  const { key, parameter } = factsOf(levels);
  if (parameter === 'missing' || parameter === 'empty')
    return ['situation', 'data', 'id version', 'id spelling'];
  const isRead = key === 'accepted' || key === 'open';
  return isRead && parameter === 'plain' ? [] : ['situation', 'data'];
}

/** The factors that may be conditions of a failure with these levels. Probes are sent alone, whatever the load was. */
function candidates(prober: Prober, levels: Levels): readonly Factor[] {
  const masked = maskedBy(prober, levels);
  return factors[prober.endpoint].filter(({ name }) => name !== 'load' && !masked.includes(name));
}

/** Lookups that must fail, if nothing passes, before all are taken to fail. */
const ALL_FAIL = 3;

/**
 * Whether lookups with these levels fail like those of the base. Sends as many as it takes to show that none does. If
 * only some fail where all failed before, nobody knows what the level means.
 *
 * @param isAnyEnough whether a single failure is enough
 */
async function probe(
  prober: Prober,
  base: Base,
  levels: Levels,
  isAnyEnough = false,
): Promise<{ readonly outcome: Outcome; readonly probes: readonly Probe[] }> {
  const isAny = isAnyEnough || !isWhole(base, levels);
  const probes = await tryInTurn(prober, base, [levels], (some) => {
    const { failed, of } = shareOf(some);
    return failed > 0 && (isAny || (failed === of && of === ALL_FAIL));
  });
  const { failed, of } = shareOf(probes);
  const passes = failed === 0 && of >= drawsWith(base, levels);
  const outcome = failed > 0 && (isAny || failed === of) ? 'fails' : passes ? 'passes' : 'unknown';
  return { outcome, probes };
}

/**
 * The levels if the failing answer would be wrong for them too. For another key, it is another situation in which that
 * key sees the same.
 *
 * @param situations to choose from
 */
function comparable(
  prober: Prober,
  levels: Levels,
  from: Levels,
  situations: readonly string[],
): Levels | undefined {
  if (levels.key === from.key) return prober.isComparable(levels) ? levels : undefined;
  const entity = prober.factsOf(from).entity;
  const plain = plainLevels(prober.endpoint);
  return [from.situation, ...situations]
    .flatMap((situation): readonly Levels[] => [
      { ...levels, situation },
      { ...levels, situation, data: plain.data },
    ])
    .find((one) => prober.factsOf(one).entity === entity && prober.isComparable(one));
}

/** Moves each factor to its plain level while a lookup still fails. */
export async function minimise(prober: Prober, base: Base): Promise<Levels> {
  const { endpoint } = prober;
  const plain = plainLevels(endpoint);
  const { names } = factors[endpoint].find(({ name }) => name === 'situation')!;
  let { levels } = base;
  for (const { name } of candidates(prober, levels)) {
    if (levels[name] === plain[name]) continue;
    const moved = comparable(prober, { ...levels, [name]: plain[name] }, base.levels, names);
    if (moved !== undefined && (await probe(prober, base, moved, true)).outcome === 'fails') levels = moved;
  }
  return levels;
}

/** What was found by other levels. */
export interface Varied {
  readonly conditions: readonly Condition[];
  /** Lookups that show the values that fail and those that pass. */
  readonly probes: readonly Probe[];
  /** Whether some values of the same levels fail and others pass. */
  readonly isMixed: boolean;
}

/** Finds the factors of which some levels fail and others pass. */
export async function vary(prober: Prober, base: Base): Promise<Varied> {
  const { levels } = base;
  const plain = plainLevels(prober.endpoint);
  const list = candidates(prober, levels);
  const found: (Condition & { readonly at: number; readonly passed: readonly Probe[] })[] = [];
  const probes = [...base.probes];
  let isMixed = false;
  let situations = list.find(({ name }) => name === 'situation')?.names ?? [];
  const isFirst = ({ name }: Factor) => (name === 'situation' ? 0 : 1);
  for (const factor of list.toSorted((one, other) => isFirst(one) - isFirst(other))) {
    const { name, isGate, names } = factor;
    // Other levels of a plain gate have other right answers. What is repeated is also sent once.
    if (levels[name] === plain[name] && (isGate || name === 'repetition')) continue;
    const failing = [levels[name]];
    const passing: Levels[] = [];
    const passed: Probe[] = [];
    for (const level of names) {
      if (level === levels[name]) continue;
      const others = comparable(prober, { ...levels, [name]: level }, levels, situations);
      if (others === undefined) continue;
      const probed = await probe(prober, base, others);
      const { outcome } = probed;
      if (outcome === 'fails') failing.push(level);
      if (outcome === 'passes') passing.push(others);
      if (isSameEntity(others, levels)) continue;
      probes.push(...probed.probes);
      const { failed, of } = shareOf(probed.probes);
      isMixed ||= failed > 0 && failed < of && !base.isRandom;
      if (outcome === 'passes') passed.push(...probed.probes);
    }
    if (name === 'situation') situations = [...failing, ...names];
    const words = wordsOf(factor, failing, passing.length);
    if (passing.length > 0)
      found.push({ factor: name, failing, passing, words, passed, at: list.indexOf(factor) });
  }
  const failing = idsOf(probes.filter(({ hasFailed }) => hasFailed)).size;
  const conditions = found
    .filter(
      ({ passed }) =>
        passed.length === 0 ||
        base.keepsExample === true ||
        (!isMixed && isByLevels(base, failing, idsOf(passed).size)),
    )
    .toSorted((one, other) => one.at - other.at);
  return { conditions, isMixed, probes: isMixed || conditions.length < found.length ? probes : base.probes };
}

/** Different ids, of those that fail and those that pass, which show that it is not the ids that differ. */
const ENOUGH_IDS = 10;

/** Whether so many ids show that it is their levels that matter, if those that pass are other ones. */
function isByLevels({ share, only }: Base, failing: number, passing: number): boolean {
  // Of the same levels, some ids pass: with few others, that may be all.
  if (only !== undefined) return false;
  if (share.failed < share.of) return passing >= drawsFor(share);
  return failing > 1 ? failing + passing >= ENOUGH_IDS : passing > ENOUGH_IDS;
}

function wordsOf({ name, names }: Factor, failing: readonly string[], passing: number) {
  const [passed = '', ...more] = names.filter((level) => !failing.includes(level));
  const isAnyOther = failing.length > 2 && more.length === 0 && passing === 1;
  const inOrder = names.filter((level) => failing.includes(level));
  return `${name}: ${isAnyOther ? `other than ${passed}` : inOrder.join(' or ')}`;
}

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
): readonly Probe[] {
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
