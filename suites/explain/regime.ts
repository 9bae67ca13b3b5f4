import type { Levels } from '../model/factors.ts';
import type { Request } from '../request.ts';
import { idOf } from './history.ts';
import type { Wanted } from './probe.ts';
import { drawsFor, type Share } from './statistics.ts';

/** A lookup that was sent as often as it takes to fail. */
export interface Trial {
  readonly request: Request;
  readonly hasFailed: boolean;
}

export const shareOf = (trials: readonly { readonly hasFailed: boolean }[]): Share => ({
  failed: trials.filter(({ hasFailed }) => hasFailed).length,
  of: trials.length,
});

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

const ofEntity = ['situation', 'data', 'id version'] as const;

/** Which entity a lookup finds depends on this factor. */
export const isOfEntity = (name: string): boolean => ofEntity.some((one) => one === name);

export const isSameEntity = (one: Levels, other: Levels): boolean =>
  ofEntity.every((name) => one[name] === other[name]);

const keepsEntities = ({ only }: Regime, levels: Levels) =>
  only !== undefined && isSameEntity(levels, only.levels);

/** Which lookups with these levels to draw: with entities that failed, if the levels have the same. */
export function wantedOf(regime: Regime, levels: Levels): Wanted {
  const { fits, only } = regime;
  if (!keepsEntities(regime, levels)) return regime;
  return { ...regime, fits: (one) => only!.ids.has(idOf(one)) && fits?.(one) !== false };
}

/** The share of lookups with these levels that fail if the levels do not matter. */
export const shareWith = (regime: Regime, levels: Levels): Share =>
  regime.fits !== undefined || keepsEntities(regime, levels) ? regime.ofSame : regime.share;

/** How many of them must pass to show that the levels matter. */
export const drawsWith = (regime: Regime, levels: Levels): number => drawsFor(shareWith(regime, levels));
