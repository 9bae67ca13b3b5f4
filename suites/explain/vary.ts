import type { Facts } from '../facts.ts';
import { factsOfLevels } from '../model/facts-of-levels.ts';
import { factors, plainLevels, type Factor, type FactorName, type Levels } from '../model/factors.ts';
import type { Outcome, Prober } from './probe.ts';
import {
  drawsWith,
  idsOf,
  isOfEntity,
  isSameEntity,
  ofSeveral,
  shareWith,
  tryInTurn,
  type Regime,
  type Trial,
} from './regime.ts';
import { alike, type LevelCondition } from './parts.ts';
import { chanceOf, choices, shareOf, SIGNIFICANT, type Share } from './statistics.ts';

/** Factors that cannot matter, because another one decides the answer before. */
export function maskedBy({ key, parameter }: Facts): readonly FactorName[] {
  if (parameter === 'missing' || parameter === 'empty')
    return ['situation', 'data', 'id version', 'id spelling'];
  const isRead = key === 'accepted' || key === 'open';
  return isRead && parameter === 'plain' ? [] : ['situation', 'data'];
}

/** The factors that may be conditions of a failure with these levels. */
export function candidates({ endpoint }: Prober, levels: Levels): readonly Factor[] {
  const masked = maskedBy(factsOfLevels(endpoint, levels));
  return factors[endpoint].filter(({ name }) => !ofSeveral.has(name) && !masked.includes(name));
}

/** Lookups that must fail, if nothing passes, before all are taken to fail. */
const ALL_FAIL = 3;

/** `too few pass`: all pass, but they have too few different ids to show that the levels matter. */
export type ProbeOutcome = Outcome | 'too few pass' | 'some fail';

/**
 * Whether lookups with these levels fail as often as those that failed first. Sends as many as it takes to show that
 * none does. If only some fail where all failed before, nobody knows what the level means.
 *
 * @param base levels that failed
 * @param isAnyEnough whether a single failure is enough
 */
export async function probe(
  prober: Prober,
  levels: Levels,
  base: Levels,
  regime: Regime,
  isAnyEnough = false,
): Promise<ProbeOutcome> {
  const before = shareWith(regime, levels);
  const isWhole = before.failed === before.of;
  const isDone = (trials: readonly Trial[]) => {
    const { failed, of } = shareOf(trials);
    return failed > 0 && (isAnyEnough || !isWhole || (failed === of && of === ALL_FAIL));
  };
  const trials = await tryInTurn(prober, [levels], regime, { isDone });
  if (isDone(trials)) return 'fails';
  const enough = drawsWith(regime, levels);
  if (trials.length < enough) return 'unknown';
  const share = shareOf(trials);
  if (share.failed > 0) return chanceOf(share, before) > SIGNIFICANT ? 'fails' : 'some fail';
  const hasEnough = idsOf(trials).size >= enough || regime.isRandom || isSameEntity(levels, base);
  return hasEnough ? 'passes' : 'too few pass';
}

/**
 * The levels if the failing answer would be wrong for them too. For another key, it is another situation in which that
 * key sees the same.
 *
 * @param situations to choose from
 */
export function comparable(
  prober: Prober,
  levels: Levels,
  from: Levels,
  situations: readonly string[],
): Levels | undefined {
  if (levels.key === from.key) return prober.isComparable(levels) ? levels : undefined;
  const { entity } = factsOfLevels(prober.endpoint, from);
  const plain = plainLevels(prober.endpoint);
  return [from.situation, ...situations]
    .flatMap((situation): readonly Levels[] => [
      { ...levels, situation },
      { ...levels, situation, data: plain.data },
    ])
    .find((one) => factsOfLevels(prober.endpoint, one).entity === entity && prober.isComparable(one));
}

/** A factor, with the levels that fail and those that pass. */
interface Varied {
  readonly factor: Factor;
  readonly failing: string[];
  readonly passing: Levels[];
  /** Levels that pass with too few different ids. */
  readonly weak: Levels[];
}

/**
 * Finds the factors of which some levels fail and others pass.
 *
 * @returns these factors as conditions, and the levels of lookups that may fail
 */
export async function vary(
  prober: Prober,
  levels: Levels,
  regime: Regime,
): Promise<{ readonly conditions: readonly LevelCondition[]; readonly failing: readonly Levels[] }> {
  const plain = plainLevels(prober.endpoint);
  const list = candidates(prober, levels);
  const found: Varied[] = [];
  const all = [levels];
  let situations = list.find(({ name }) => name === 'situation')?.names ?? [];
  const isFirst = ({ name }: Factor) => (name === 'situation' ? 0 : 1);
  for (const factor of list.toSorted((one, other) => isFirst(one) - isFirst(other))) {
    const { name, isGate, names } = factor;
    // Other levels of a plain gate have other right answers.
    if (isGate && levels[name] === plain[name]) continue;
    const varied: Varied = { factor, failing: [levels[name]], passing: [], weak: [] };
    for (const level of names) {
      if (level === levels[name]) continue;
      const others = comparable(prober, { ...levels, [name]: level }, levels, situations);
      if (others === undefined) continue;
      const outcome = await probe(prober, others, levels, regime);
      if (outcome === 'fails') varied.failing.push(level);
      if (outcome === 'fails' || (outcome === 'some fail' && isOfEntity(name))) all.push(others);
      if (outcome === 'passes') varied.passing.push(others);
      if (outcome === 'too few pass') varied.weak.push(others);
    }
    if (name === 'situation') situations = [...varied.failing, ...names];
    found.push(varied);
  }
  for (const one of found) all.push(...settleWeak(prober, levels, regime, one, found));
  const conditions = found.flatMap(({ factor, ...one }) =>
    one.passing.length === 0 ? [] : [conditionOf(factor, one)],
  );
  return { conditions: conditions.toSorted((one, other) => at(list, one) - at(list, other)), failing: all };
}

/**
 * Decides about levels that pass with too few ids. If only one fails, they may have enough together, which the validation
 * decides. If several fail, and all could do so by chance, it is the values that may differ.
 *
 * @returns levels of lookups that may fail
 */
function settleWeak(
  prober: Prober,
  levels: Levels,
  regime: Regime,
  { factor: { name }, failing, passing, weak }: Varied,
  found: readonly Varied[],
): readonly Levels[] {
  const others = found.flatMap(({ factor, ...one }) =>
    factor.name === name || one.passing.length === 0 ? [] : [conditionOf(factor, one)],
  );
  const having = alike(prober, levels, others, name === 'key' ? [] : ['key']);
  const shareWithLevels = (of: readonly string[]): Share => {
    const some = having.filter((one) => of.includes(one.levels[name]));
    const failed = some.filter(({ hasFailed }) => hasFailed);
    const tried = some.filter(({ nth }) => (nth.id ?? 0) >= regime.sendings);
    return { failed: idsOf(failed).size, of: idsOf([...failed, ...tried]).size };
  };
  const names = weak.map((one) => one[name]);
  // Any so many of the levels might have been those that fail.
  const chance =
    chanceOf(shareWithLevels(failing), shareWithLevels(names)) *
    choices(failing.length + weak.length, failing.length);
  if (failing.length === 1 || chance < SIGNIFICANT) {
    passing.push(...weak);
    return [];
  }
  const { failed, of } = shareWith(regime, levels);
  if (failed < of) failing.push(...names);
  return isOfEntity(name) ? weak : [];
}

const conditionOf = (factor: Factor, { failing, passing }: Omit<Varied, 'factor'>): LevelCondition => ({
  kind: 'levels',
  factor: factor.name,
  failing,
  passing,
  words: wordsOf(factor, failing, passing.length),
});

const at = (list: readonly Factor[], { factor }: LevelCondition) =>
  list.findIndex(({ name }) => name === factor);

function wordsOf({ name, names: [plain, ...others] }: Factor, failing: readonly string[], passing: number) {
  const isAnyOther =
    failing.length > 2 && failing.length === others.length && passing === 1 && !failing.includes(plain!);
  return `${name}: ${isAnyOther ? `other than ${plain}` : failing.join(' or ')}`;
}
