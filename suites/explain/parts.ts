import type { FactorName, Levels } from '../model/factors.ts';
import type { Observation, Prober } from './probe.ts';
import { isAt, timesWords, type Times } from './regime.ts';
import type { ValueCondition } from './values.ts';

/** Levels of a factor with which a lookup fails, while it passes with others. */
export interface LevelCondition {
  readonly kind: 'levels';
  readonly factor: FactorName;
  readonly failing: readonly string[];
  /** All levels of lookups that pass without the condition. */
  readonly passing: readonly Levels[];
  /** `id spelling: upper case or mixed case` */
  readonly words: string;
}

/** Times of asking at which a lookup fails, while it passes at others. */
export interface TimesCondition {
  readonly kind: 'times';
  readonly times: Times;
  readonly words: string;
}

/** A part of the condition of a failure. */
export type Part = LevelCondition | TimesCondition | ValueCondition;

export const timesPart = (times: Times): Part => ({ kind: 'times', times, words: timesWords(times) });

/** Whether a lookup has a part of a condition. */
export const holds = (part: Part, seen: Observation): boolean =>
  part.kind === 'levels'
    ? part.failing.includes(seen.levels[part.factor])
    : part.kind === 'times'
      ? isAt(part.times, seen)
      : part.holds(seen.request) === true;

/**
 * Lookups that have these parts, and the levels of the failure for some factors. Another key has its own history.
 */
export const alike = (
  prober: Prober,
  levels: Levels,
  parts: readonly Part[],
  same: readonly FactorName[] = ['key'],
): readonly Observation[] =>
  prober
    .observations()
    .filter(
      (one) =>
        same.every((name) => one.levels[name] === levels[name]) && parts.every((part) => holds(part, one)),
    );
