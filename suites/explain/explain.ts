import { plainLevels, type Levels } from '../model/factors.ts';
import { headerLevels } from '../model/levels.ts';
import { factsOfLevels } from '../model/facts-of-levels.ts';
import { isFeasible } from '../model/feasible.ts';
import type { LookupRow } from '../requirement.ts';
import type { Failure, Judgement } from '../engine/tally.ts';
import { confirm, repeat, type Confirmed } from './confirm.ts';
import { idOf, LATER } from './history.ts';
import { minimise, shrink } from './minimise.ts';
import { createProber, type ExplainContext, type Prober } from './probe.ts';
import {
  freshOf,
  isAt,
  isLike,
  isOfEntity,
  isSameEntity,
  timesOf,
  type Regime,
  type Trial,
} from './regime.ts';
import { MIN_SHARE, shareOf } from './statistics.ts';
import { alike, askFresh, timesPart, validate, type Part, type Validated } from './validate.ts';
import { findFeature, type ValueCondition } from './values.ts';
import { maskedBy, vary, type LevelCondition } from './vary.ts';

/**
 * Confirms a failure, finds its conditions, and shrinks its value.
 *
 * @returns what to add to the judgement of the requirement
 */
export async function explain(
  row: LookupRow,
  failure: Failure,
  context: ExplainContext,
): Promise<Partial<Judgement>> {
  const prober = createProber(row, failure, context);
  const { origin } = failure;
  const repeats = await repeat(prober);
  const intermittent = repeats.failed < repeats.of ? { intermittent: repeats } : {};
  if (origin === undefined || prober.isOver()) return intermittent;
  const start = startOf(prober, origin.levels);
  let confirmed = await confirm(prober, start, repeats);
  if (confirmed.regime.share.failed === 0 && start !== origin.levels)
    confirmed = await confirm(prober, origin.levels, repeats);
  const isLost = confirmed.times === undefined || confirmed.regime.share.failed === 0;
  if (repeats.failed === 1 && isLost) return intermittent;
  // Even many draws show nothing.
  if (isTooRare(confirmed.regime)) return { ...intermittent, ...recorded(NOTHING, confirmed.trials) };
  const levels = await minimise(prober, confirmed.levels, confirmed.regime);
  if (!isSameValue(levels, confirmed.levels)) confirmed = await confirm(prober, levels, repeats);
  const { conditions, failing } = await vary(prober, levels, confirmed.regime);
  const { checked, regime, partial } = await settled(prober, conditions, failing, { ...confirmed, levels });
  const shrunk = await shrink(prober, plainOf(prober, levels), regime);
  const isOnlyOnce = checked.where.some((part) => part.kind === 'times' && part.times.isOnly);
  return {
    ...(isOnlyOnce ? {} : intermittent),
    ...recorded(checked, partial),
    ...shrunk,
  };
}

const NOTHING: Validated = { where: [], suspected: [], without: [] };

/** The levels with unknown ids, if the entity cannot matter: there are always more of them. */
function startOf({ endpoint }: Prober, levels: Levels): Levels {
  const isMasked = maskedBy(factsOfLevels(endpoint, levels)).includes('situation');
  return isMasked ? { ...levels, situation: 'unknown', data: plainLevels(endpoint).data } : levels;
}

/** The levels with plain ones where they cannot matter, if the fixture has such an entity. */
function plainOf({ endpoint, known }: Prober, levels: Levels): Levels {
  const plain = plainLevels(endpoint);
  const masked = maskedBy(factsOfLevels(endpoint, levels));
  const moved = { ...levels, ...Object.fromEntries(masked.map((name) => [name, plain[name]])) };
  return isFeasible(endpoint, moved, known) ? moved : levels;
}

/** Whether lookups with these levels have the same values. */
const isSameValue = (one: Levels, other: Levels) =>
  isSameEntity(one, other) && one.malformation === other.malformation;

const isTooRare = ({ share, only, fits }: Regime): boolean =>
  only === undefined && fits === undefined && share.failed < MIN_SHARE * share.of;

/** What is left of the conditions, with what shows only now. */
async function settled(
  prober: Prober,
  conditions: readonly LevelCondition[],
  failing: readonly Levels[],
  confirmed: Confirmed,
): Promise<{ readonly checked: Validated; readonly regime: Regime; readonly partial: readonly Trial[] }> {
  const { parts, regime, partial } = await completed(prober, conditions, failing, confirmed);
  const checked = await validate({ prober, levels: confirmed.levels, regime }, parts);
  const kept = new Set<Part>([...checked.where, ...checked.suspected]);
  const dropped = conditions.filter((one) => isOfEntity(one.factor) && !kept.has(one));
  if (dropped.length === 0 || partial.length > 0 || regime.fits !== undefined)
    return { checked, regime, partial };
  // With other levels some entities pass, and others fail: their values may differ.
  const others = dropped.flatMap(({ passing }) => passing);
  const rest = conditions.filter((one) => !dropped.includes(one));
  return settled(prober, rest, [...failing, ...others], confirmed);
}

/** Adds what shows only when the levels are known: the times of asking, and a feature of the values. */
async function completed(
  prober: Prober,
  conditions: readonly Part[],
  failing: readonly Levels[],
  { regime, times: before, feature: early, trials }: Confirmed,
) {
  const [levels] = failing as readonly [Levels];
  const seen = () =>
    alike(prober, levels, conditions).filter(({ request }) => regime.fits?.(request) !== false);
  let times = before;
  if (!regime.isRandom && times === undefined && prober.nthOfFailure.id !== 1) {
    await askFresh(prober, levels, { ...regime, maxAsked: 1, sendings: LATER });
    times = timesOf(seen());
  }
  const isTried = regime.isRandom || early !== undefined;
  const isFailing = (one: ReturnType<typeof seen>[number]) =>
    failing.some((some) => isLike(some)(one)) && (times === undefined || isAt(times, one));
  const { feature, partial } = isTried
    ? { feature: early, partial: [] }
    : await valuesOf(prober, failing, regime, [trials, byId(seen().filter(isFailing))]);
  return {
    partial,
    regime: {
      ...regime,
      ...(feature !== undefined && { fits: (one: Trial['request']) => feature.holds(one) === true }),
      ...(times !== undefined && { sendings: times.nth, ...freshOf(times) }),
    },
    parts: [
      ...conditions,
      ...(times === undefined ? [] : [timesPart(times)]),
      ...(feature === undefined ? [] : [feature]),
    ],
  };
}

/** If some values pass: a feature of those that fail, or lookups that show both. */
async function valuesOf(
  prober: Prober,
  failing: readonly Levels[],
  regime: Regime,
  [trials, ids]: readonly [readonly Trial[], readonly Trial[]],
): Promise<{ readonly feature?: ValueCondition | undefined; readonly partial: readonly Trial[] }> {
  const [levels] = failing as readonly [Levels];
  for (const list of hasOnlyIds(levels) ? [trials, ids] : [trials]) {
    if (!(await isPartial(prober, levels, list))) continue;
    const some = ids.length >= MIN_TO_HALVE ? ids.filter((_, nth) => nth % 2 === 0) : ids;
    const feature = await findFeature(prober, failing, { ...regime, maxAsked: Infinity }, some);
    return { feature, partial: feature === undefined ? list : [] };
  }
  return { partial: [] };
}

/** Whether some values pass, also when they are asked for again. */
async function isPartial(prober: Prober, levels: Levels, trials: readonly Trial[]): Promise<boolean> {
  const passing = trials.filter(({ hasFailed }) => !hasFailed).slice(0, 3);
  for (const { request } of passing)
    if ((await prober.ask(request, levels, LATER)).outcome !== 'passes') return false;
  return passing.length > 0;
}

/** Whether lookups with these levels differ only in their ids, not in the form of a gate. */
const hasOnlyIds = ({ malformation, header }: Levels) =>
  malformation === 'none' && headerLevels[header]!.forms.length === 1;

/** If so many values were tried, half of them are kept for the prediction. */
const MIN_TO_HALVE = 40;

/** The values that were tried, those that fail first. One fails if one of its lookups did. */
function byId(observations: readonly Trial[]): readonly Trial[] {
  const found = new Map<string, Trial>();
  for (const { request, hasFailed } of observations) {
    const id = idOf(request);
    if (hasFailed || !found.has(id)) found.set(id, { request, hasFailed });
  }
  return [...found.values()].toSorted((one, other) => Number(other.hasFailed) - Number(one.hasFailed));
}

function someIds(trials: readonly Trial[]): string {
  const { failed, of } = shareOf(trials);
  return `some ids, not all (${failed} of ${of})`;
}

/** Maximum number of characters of a value that is shown. */
const MAX_SHOWN = 40;

/** Two values that fail and two that pass. */
function examplesOf(trials: readonly Trial[]) {
  const some = (isWanted: boolean) =>
    trials
      .filter(({ hasFailed }) => hasFailed === isWanted)
      .slice(0, 2)
      .map(({ request }) => idOf(request).slice(0, MAX_SHOWN));
  return { ids: { failing: some(true), passing: some(false) } };
}

function recorded(
  { where, suspected, with: withAll, without }: Validated,
  partial: readonly Trial[],
): Partial<Judgement> {
  const words = (parts: readonly Part[]) => parts.map((part) => part.words);
  const isSome = partial.length > 0;
  const examples = isSome ? examplesOf(partial) : {};
  const shares = withAll === undefined || where.length === 0 ? {} : { with: withAll, without };
  return {
    where: [...words(where), ...(isSome ? [someIds(partial)] : [])],
    ...(suspected.length === 0 ? {} : { suspected: words(suspected) }),
    ...(!isSome && where.length === 0 ? {} : { separation: { ...shares, ...examples } }),
  };
}
