import { factsOfLevels } from '../model/facts-of-levels.ts';
import { plainLevels, type Levels } from '../model/factors.ts';
import { idOf, LATER } from './history.ts';
import type { Prober, Wanted } from './probe.ts';
import {
  freshOf,
  idsOf,
  isLike,
  isSameEntity,
  timesOf,
  type Regime,
  type Times,
  type Trial,
} from './regime.ts';
import { MIN_SHARE, shareOf, type Share } from './statistics.ts';
import { ENOUGH, findFeature, type ValueCondition } from './values.ts';

export interface Confirmed {
  readonly levels: Levels;
  /** New lookups with the levels of the failure. */
  readonly trials: readonly Trial[];
  readonly regime: Regime;
  /** The times of asking at which it fails; undefined if at all, or if nobody knows. */
  readonly times: Times | undefined;
  /** Which values fail, if a feature separates them. */
  readonly feature?: ValueCondition;
}

const REPEATS = 10;

/** New lookups that are sent at least, and at most if some pass. */
const [MIN_TRIALS, MAX_TRIALS] = [10, 40];

/** New lookups that are sent if the same request failed only once. */
const ONCE_TRIALS = 3;

/** Sends the same request again. Says how often it failed, the first time included. */
export async function repeat({ failure, endpoint, ask }: Prober): Promise<Share> {
  const { exchange, origin } = failure;
  let [failed, of] = [1, 1];
  for (let left = REPEATS; left > 0; left--) {
    const { outcome } = await ask(exchange.request, origin?.levels ?? plainLevels(endpoint));
    if (outcome !== 'unknown') of++;
    if (outcome === 'fails') failed++;
  }
  return { failed, of };
}

/** Sends new lookups with the same levels. Says how many fail, and at which times of asking. */
export async function confirm(prober: Prober, levels: Levels, repeats: Share): Promise<Confirmed> {
  const isOnce = repeats.failed === 1;
  const isRandom = !isOnce && repeats.failed < repeats.of;
  const sendings = isRandom ? 1 : Math.min(LATER, prober.nthOfFailure.id ?? LATER);
  const first = isOnce
    ? { maxAsked: 0, sendings: sendings + 1, most: ONCE_TRIALS, isRandom }
    : { sendings, most: MAX_TRIALS, isRandom };
  let found = await tryNew(prober, levels, first);
  let wanted: Wanted = {};
  const { failed, of } = shareOf(found.trials);
  if (prober.hasExample && failed < MIN_SHARE * of) {
    const kept = await tryNew(prober, levels, { ...first, keepsExample: true, most: ENOUGH });
    if (kept.trials.length > 0 && kept.trials.every(({ hasFailed }) => hasFailed))
      [found, wanted] = [kept, { keepsExample: true }];
  }
  const { trials } = found;
  const times = isRandom ? undefined : timesOf(prober.observations().filter(isLike(levels)));
  const regime: Regime = {
    ...wanted,
    isRandom: isRandom || (isOnce && times === undefined),
    share: shareOf(trials),
    ofSame: isRandom ? repeats : { failed: REPEATS, of: REPEATS },
    sendings: times?.nth ?? found.sendings,
    ...freshOf(times),
  };
  return { levels, trials, times, ...(await narrowed(prober, levels, regime, trials)) };
}

/** If not all lookups fail: those with values that have a feature, or with the entities that failed. */
async function narrowed(
  prober: Prober,
  levels: Levels,
  regime: Regime,
  trials: readonly Trial[],
): Promise<Pick<Confirmed, 'regime' | 'feature'>> {
  if (trials.every(({ hasFailed }) => hasFailed) && trials.length > 0) return { regime };
  const feature = regime.isRandom ? undefined : await findFeature(prober, [levels], regime, trials);
  if (feature !== undefined)
    return { feature, regime: { ...regime, fits: (one) => feature.holds(one) === true } };
  if (factsOfLevels(prober.endpoint, levels).entity === 'unknown') return { regime };
  const { exchange, origin } = prober.failure;
  const failed = trials.filter(({ hasFailed }) => hasFailed);
  const ids = idsOf(isSameEntity(levels, origin!.levels) ? [...failed, exchange] : failed);
  return { regime: { ...regime, only: { ids, levels } } };
}

interface Try extends Wanted {
  readonly sendings: number;
  /** Maximum number of lookups. */
  readonly most: number;
  /** Whether to send the same id again. Otherwise, it would show nothing new. */
  readonly isRandom: boolean;
}

/** Sends new lookups, more if only some fail. */
async function tryNew(prober: Prober, levels: Levels, { most, ...how }: Try) {
  const trials: Trial[] = [];
  let { sendings } = how;
  const tried = new Set<string>();
  for (const request of prober.draw(levels, how)) {
    const { failed, of } = shareOf(trials);
    const isClear = failed === of || (failed >= ENOUGH && of - failed >= ENOUGH);
    if (of >= most || (of >= MIN_TRIALS && isClear)) break;
    const value = idOf(request) || request.target;
    if (!how.isRandom && tried.has(value)) break;
    tried.add(value);
    const { outcome, nth } = await prober.ask(request, levels, sendings);
    if (outcome === 'unknown') continue;
    trials.push({ request, hasFailed: outcome === 'fails' });
    if (outcome !== 'fails') continue;
    // It may fail only this time.
    if (how.maxAsked === 0) await prober.ask(request, levels);
    else sendings = Math.min(sendings, nth.id ?? sendings);
  }
  return { trials, sendings };
}
