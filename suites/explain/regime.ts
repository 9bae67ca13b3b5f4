import type { FactorName, Levels } from '../model/factors.ts';
import type { Request } from '../request.ts';
import { idOf, LATER, type Nth } from './history.ts';
import type { Observation, Prober, Wanted } from './probe.ts';
import { drawsFor, shareOf, type Share } from './statistics.ts';

/** A lookup that was sent as often as it takes to fail. */
export interface Trial {
  readonly request: Request;
  readonly hasFailed: boolean;
}

/** The different ids of lookups. */
export const idsOf = (trials: readonly { readonly request: Request }[]): ReadonlySet<string> =>
  new Set(trials.map(({ request }) => idOf(request)));

/** How to draw and send lookups so that they fail like the first one. */
export interface Regime extends Wanted {
  /** How often each is sent, until it fails. */
  readonly sendings: number;
  /** The share of new lookups that fail. */
  readonly share: Share;
  /** The share of lookups that fail if their values are like those that failed. */
  readonly ofSame: Share;
  /** Whether the same request fails now and then. */
  readonly isRandom: boolean;
  /** The entities that failed, if not all do, and their levels. */
  readonly only?: { readonly ids: ReadonlySet<string>; readonly levels: Levels };
}

/** Factors that one request does not have: how often it is asked for is its history, and probes are sent alone. */
export const ofSeveral: ReadonlySet<string> = new Set<FactorName>(['repetition', 'load']);

/** Whether a lookup has these levels, but for those that a single request does not have. */
export const isLike =
  (levels: Partial<Levels>) =>
  ({ levels: others }: { readonly levels: Levels }): boolean =>
    Object.entries(levels).every(
      ([name, level]) => ofSeveral.has(name) || others[name as FactorName] === level,
    );

const ofEntity = ['situation', 'data', 'id version'] as const;

/** Which entity a lookup finds depends on this factor. */
export const isOfEntity = (name: string): boolean => ofEntity.some((one) => one === name);

export const isSameEntity = (one: Levels, other: Levels): boolean =>
  ofEntity.every((name) => one[name] === other[name]);

const keepsEntities = ({ only }: Regime, levels: Levels) =>
  only !== undefined && isSameEntity(levels, only.levels);

/** Which lookups with these levels to draw: with entities that failed, if the levels have the same. */
function wantedOf(regime: Regime, levels: Levels): Wanted {
  const { fits, only } = regime;
  if (!keepsEntities(regime, levels)) return regime;
  return { ...regime, fits: (one) => only!.ids.has(idOf(one)) && fits?.(one) !== false };
}

/** The share of lookups with these levels that fail if the levels do not matter. */
export const shareWith = (regime: Regime, levels: Levels): Share =>
  regime.fits !== undefined || keepsEntities(regime, levels) ? regime.ofSame : regime.share;

/** How many of them must pass to show that the levels matter. */
export const drawsWith = (regime: Regime, levels: Levels): number => drawsFor(shareWith(regime, levels));

/** When to stop, besides the end of the budget. */
interface Until {
  /** Number of lookups that show something. */
  readonly enough?: number;
  readonly isDone?: (trials: readonly Trial[]) => boolean;
}

/** Sends new lookups, with some levels in turn, until enough of them show something. */
export async function tryInTurn(
  prober: Prober,
  rows: readonly Levels[],
  regime: Regime,
  { enough = drawsWith(regime, rows[0]!), isDone }: Until = {},
): Promise<readonly Trial[]> {
  const draws = rows.map((levels) => prober.draw(levels, wantedOf(regime, levels)));
  const trials: Trial[] = [];
  for (let nth = 0; nth < 2 * enough * rows.length && trials.length < enough; nth++) {
    const requests = draws[nth % rows.length]!;
    if (requests.length === 0) continue;
    const request = requests[Math.floor(nth / rows.length) % requests.length]!;
    const { outcome } = await prober.ask(request, rows[nth % rows.length]!, regime.sendings);
    if (outcome !== 'unknown') trials.push({ request, hasFailed: outcome === 'fails' });
    if (prober.isOver() || isDone?.(trials) === true) break;
  }
  return trials;
}

/** The times of asking at which lookups fail. */
export interface Times {
  /** What is asked again with the same key: an id, a URL, or a URL with the same header fields. */
  readonly what: keyof Nth;
  readonly nth: number;
  /** Whether later times pass. */
  readonly isOnly: boolean;
}

/** What fails only at one time needs ids that nobody asked for. */
export const freshOf = (times: Times | undefined): Wanted => (times?.isOnly === true ? { maxAsked: 0 } : {});

const candidates = (['id', 'url', 'request'] as const).flatMap((what): readonly Times[] => [
  { what, nth: 2, isOnly: false },
  { what, nth: LATER, isOnly: false },
  { what, nth: 1, isOnly: true },
  { what, nth: 2, isOnly: true },
  { what, nth: LATER, isOnly: true },
]);

/** How lookups of these times did, and those of other times. Values that never fail show nothing. */
export function sharesAt(times: Times, observations: readonly Observation[]) {
  const failing = idsOf(observations.filter(({ hasFailed }) => hasFailed));
  const shown = observations.filter(
    ({ nth, request }) => nth[times.what] !== undefined && failing.has(idOf(request)),
  );
  const inside = shareOf(shown.filter((one) => isAt(times, one)));
  return { shown, inside, outside: shareOf(shown.filter((one) => !isAt(times, one))) };
}

/**
 * The times at which all lookups fail, while they pass at all others; undefined if nothing separates them.
 *
 * @param observations of lookups that differ only in how often they were asked for, and in their values
 */
export function timesOf(observations: readonly Observation[]): Times | undefined {
  const found = candidates.flatMap((times) => {
    const { shown, inside, outside } = sharesAt(times, observations);
    const separates = inside.failed === inside.of && outside.failed === 0;
    return separates && hasEdges(times, shown) ? [{ times, passed: outside.of }] : [];
  });
  return found.toSorted((one, other) => other.passed - one.passed)[0]?.times;
}

/** Whether the first of these times was tried, the one before it, and the one after the only one. */
function hasEdges({ what, nth, isOnly }: Times, observations: readonly Observation[]): boolean {
  const edges = [...(nth > 1 ? [nth - 1] : []), nth, ...(isOnly ? [nth + 1] : [])];
  return edges.every((edge) => observations.some((one) => one.nth[what] === edge));
}

/** Whether an observation is of these times. */
export function isAt({ what, nth: first, isOnly }: Times, { nth }: Pick<Observation, 'nth'>): boolean {
  const at = nth[what] ?? 0;
  return isOnly ? at === first : at >= first;
}

const again = {
  id: 'an id is asked for',
  url: 'the same URL is asked for',
  request: 'the same request is sent',
} as const satisfies Record<keyof Nth, string>;

/** In words that complete "fails when". */
export function timesWords({ what, nth, isOnly }: Times): string {
  const time = `the ${['first', 'second', 'third'][nth - 1]} time`;
  return `history: ${isOnly ? time : `from ${time} on`} that ${again[what]} in this run`;
}
