import { defined } from '../../schemas/defined.ts';
import { plainLevels, type Levels } from '../model/factors.ts';
import { factsOfLevels } from '../model/facts-of-levels.ts';
import { isFeasible } from '../model/feasible.ts';
import type { Request } from '../request.ts';
import type { LookupRow } from '../requirement.ts';
import type { Failure, Judgement } from '../engine/tally.ts';
import { confirm, repeat, type Confirmed } from './confirm.ts';
import { LATER } from './history.ts';
import { minimise, shrink } from './minimise.ts';
import { createProber, type ExplainContext, type Prober } from './probe.ts';
import { freshOf, isAt, isLike, isOfEntity, isSameEntity, timesOf, type Regime } from './regime.ts';
import { MIN_SHARE } from './statistics.ts';
import { alike, timesPart, type LevelCondition, type Part } from './parts.ts';
import { askFresh, askOtherwise, validate, type Validated } from './validate.ts';
import { byId, someValues, valuesOf, type SomeValues } from './values.ts';
import { maskedBy, vary } from './vary.ts';

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
  if (isTooRare(confirmed.regime))
    return {
      ...intermittent,
      ...recorded(NOTHING, await someValues(prober, confirmed.levels, confirmed.trials)),
    };
  const levels = await minimise(prober, confirmed.levels, confirmed.regime);
  if (!isSameValue(levels, confirmed.levels)) confirmed = await confirm(prober, levels, repeats);
  const { conditions, failing } = await vary(prober, levels, confirmed.regime);
  const { checked, regime, some } = await settled(prober, conditions, failing, { ...confirmed, levels });
  const shrunk = await shrink(prober, plainOf(prober, levels), regime);
  const isOnlyOnce = checked.where.some((part) => part.kind === 'times' && part.times.isOnly);
  return { ...(isOnlyOnce ? {} : intermittent), ...recorded(checked, some), ...shrunk };
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
): Promise<{ readonly checked: Validated; readonly regime: Regime; readonly some: SomeValues | undefined }> {
  const { parts, regime, some } = await completed(prober, conditions, failing, confirmed);
  const checked = await validate({ prober, levels: confirmed.levels, regime }, parts);
  const kept = new Set<Part>([...checked.where, ...checked.suspected]);
  const dropped = conditions.filter((one) => isOfEntity(one.factor) && !kept.has(one));
  if (dropped.length === 0 || some !== undefined || regime.fits !== undefined)
    return { checked, regime, some };
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
  const { feature, some } = isTried
    ? { feature: early, some: undefined }
    : await valuesOf(prober, failing, regime, [trials, byId(seen().filter(isFailing))]);
  const fits = feature !== undefined && { fits: (one: Request) => feature.holds(one) === true };
  if (times !== undefined) {
    await askOtherwise(prober, levels, { ...regime, ...fits }, times);
    times = timesOf(seen()) ?? times;
  }
  return {
    some,
    regime: {
      ...regime,
      ...fits,
      ...(times !== undefined && { sendings: times.nth, ...freshOf(times) }),
    },
    parts: [
      ...conditions,
      ...(times === undefined ? [] : [timesPart(times)]),
      ...(feature === undefined ? [] : [feature]),
    ],
  };
}

/** What to add to the judgement. */
function recorded(
  { where, suspected, with: withAll, without }: Validated,
  some: SomeValues | undefined,
): Partial<Judgement> {
  const words = (parts: readonly Part[]) => parts.map((part) => part.words);
  const shares = withAll === undefined || where.length === 0 ? {} : { with: withAll, without };
  return {
    where: [...words(where), ...(some === undefined ? [] : [some.words])],
    ...(suspected.length === 0 ? {} : { suspected: words(suspected) }),
    ...(some === undefined && where.length === 0
      ? {}
      : { separation: defined({ ...shares, ids: some?.ids }) }),
  };
}
