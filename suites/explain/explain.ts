import { plainLevels, type Levels } from '../model/factors.ts';
import { headerLevels } from '../model/levels.ts';
import { factsOfLevels } from '../model/facts-of-levels.ts';
import { isFeasible } from '../model/feasible.ts';
import type { LookupRow } from '../requirement.ts';
import type { Failure, Judgement } from '../engine/tally.ts';
import { confirm, isLike, repeat, type Confirmed } from './confirm.ts';
import { idOf } from './history.ts';
import { minimise, shrink } from './minimise.ts';
import { createProber, type ExplainContext, type Prober } from './probe.ts';
import { isAt, isSameEntity, LATER, timesOf, type Regime, type Trial } from './regime.ts';
import { MIN_SHARE, shareOf } from './statistics.ts';
import { holds, timesPart, validate, type Part, type Validated } from './validate.ts';
import { findFeature, type ValueCondition } from './values.ts';
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
  let base = start;
  let confirmed = await confirm(prober, base, repeats);
  if (confirmed.regime.share.failed === 0 && start !== origin.levels) {
    base = origin.levels;
    confirmed = await confirm(prober, base, repeats);
  }
  const isLost = confirmed.times === undefined || confirmed.regime.share.failed === 0;
  if (repeats.failed === 1 && isLost) return intermittent;
  let first = await regimeOf(prober, base, confirmed);
  // Even many draws show nothing.
  if (isTooRare(first)) return { ...intermittent, ...recorded(NOTHING, confirmed.trials) };
  const levels = await minimise(prober, base, first.regime);
  if (!isSameValue(levels, base)) {
    confirmed = await confirm(prober, levels, repeats);
    first = await regimeOf(prober, levels, confirmed);
  }
  const { conditions, failing } = await vary(prober, levels, first.regime);
  const parts = conditions.map((one): Part => ({ kind: 'levels', ...one }));
  const found = await completed(prober, parts, failing, { ...confirmed, ...first });
  const regime = { ...first.regime, ...found.regime };
  const checked = await validate({ prober, levels, regime }, found.parts);
  const shrunk = await shrink(prober, plainOf(prober, levels), regime);
  const isOnlyOnce = checked.where.some((part) => part.kind === 'times' && part.times.isOnly);
  return {
    ...(isOnlyOnce ? {} : intermittent),
    ...recorded(checked, found.partial),
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

interface Found {
  readonly regime: Regime;
  readonly feature?: ValueCondition;
}

/** Whether lookups with these levels have the same values. */
const isSameValue = (one: Levels, other: Levels) =>
  isSameEntity(one, other) && one.malformation === other.malformation;

/** How to go on if not all lookups fail: with values that have a feature, or with the entities that failed. */
async function regimeOf(prober: Prober, base: Levels, { regime, trials }: Confirmed): Promise<Found> {
  if (trials.every(({ hasFailed }) => hasFailed) && trials.length > 0) return { regime };
  const feature = regime.isRandom ? undefined : await findFeature(prober, [base], regime, trials);
  if (feature !== undefined)
    return { feature, regime: { ...regime, fits: (one) => feature.holds(one) === true } };
  const isSeen = factsOfLevels(prober.endpoint, base).entity !== 'unknown';
  const ids = new Set([
    ...(isSameEntity(base, prober.failure.origin!.levels) ? [idOf(prober.failure.exchange.request)] : []),
    ...trials.flatMap((one) => (one.hasFailed ? [idOf(one.request)] : [])),
  ]);
  return { regime: isSeen ? { ...regime, only: { ids, levels: base } } : regime };
}

const isTooRare = ({ regime: { share, only, fits } }: Found): boolean =>
  only === undefined && fits === undefined && share.failed < MIN_SHARE * share.of;

/** Adds what shows only when the levels are known: the times of asking, and a feature of the values. */
async function completed(
  prober: Prober,
  parts: readonly Part[],
  failing: readonly Levels[],
  { regime, times: before, feature: early, trials }: Confirmed & Found,
) {
  const { isRandom } = regime;
  const alike = () =>
    prober
      .observations()
      .filter(
        (one) =>
          one.levels.key === failing[0]!.key &&
          parts.every((part) => holds(part, one)) &&
          regime.fits?.(one.request) !== false,
      );
  let times = before;
  if (!isRandom && times === undefined && prober.nthOfFailure.id !== 1) {
    await askFresh(prober, failing[0]!, regime);
    times = timesOf(alike())?.times;
  }
  let feature = early;
  let partial: readonly Trial[] = [];
  if (!isRandom && feature === undefined) {
    const ids = byId(
      alike().filter(
        (one) => failing.some((levels) => isLike(levels)(one)) && (times === undefined || isAt(times, one)),
      ),
    );
    const lists = hasOnlyIds(failing[0]!) ? [trials, ids] : [trials];
    for (const list of lists)
      if (partial.length === 0 && (await isPartial(prober, failing[0]!, list))) partial = list;
    const isMany = ids.length >= MIN_TO_HALVE;
    if (partial.length > 0)
      feature = await findFeature(
        prober,
        failing,
        { ...regime, isFresh: false },
        isMany ? ids.filter((_, nth) => nth % 2 === 0) : ids,
      );
  }
  const holdsFeature = feature?.holds;
  return {
    partial: feature === undefined ? partial : [],
    regime: {
      ...(holdsFeature === undefined ? {} : { fits: (one: Trial['request']) => holdsFeature(one) === true }),
      ...(times === undefined ? {} : { sendings: times.nth, isFresh: times.isOnly }),
    },
    parts: [
      ...parts,
      ...(times === undefined ? [] : [timesPart(times)]),
      ...(feature === undefined ? [] : [{ kind: 'value' as const, ...feature }]),
    ],
  };
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

/** Asks for ids that were hardly asked for with this key, and with the second one. */
async function askFresh(prober: Prober, levels: Levels, regime: Regime): Promise<void> {
  for (const key of [levels['active key'], 'second']) {
    const some: Levels = { ...levels, 'active key': key };
    const requests = prober.draw(some, { ...regime, maxAsked: 1 }).slice(0, LATER);
    for (const request of requests) await prober.ask(request, some, LATER);
  }
}

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
