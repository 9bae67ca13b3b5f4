import type { Known } from '../known.ts';
import type { Request } from '../request.ts';
import { idOf } from './history.ts';
import type { Regime, Trial } from './regime.ts';
import type { Levels } from '../model/factors.ts';
import type { Prober } from './probe.ts';

/** A property of a value, as a number between `least` and `most`. */
interface Feature {
  readonly of: (request: Request, known: Known) => number | undefined;
  readonly name: string;
  /** A number in words; its digits by default. */
  readonly show?: (value: number) => string;
  readonly least: number;
  readonly most: number;
}

const digitAt = (at: number) => (request: Request) => {
  const digit = idOf(request).at(at) ?? '';
  return /^[\da-f]$/.test(digit) ? Number.parseInt(digit, 16) : undefined;
};

const executionOf = (request: Request, known: Known) => {
  const deposit = request.endpoint === 'deposit-check' ? known.depositById.get(idOf(request)) : undefined;
  return deposit?.state === 'EXECUTED' ? deposit : undefined;
};

const timeOf = (request: Request, known: Known): Date | undefined => {
  const user = request.endpoint === 'user-status' ? known.userById.get(idOf(request)) : undefined;
  const time = user?.date_joined ?? executionOf(request, known)?.executedAt;
  return time === undefined ? undefined : new Date(time);
};

const hasWholeAmount = (request: Request, known: Known) => {
  const amount = executionOf(request, known)?.amountInUsd;
  return amount === undefined ? undefined : Number(Number.isInteger(amount));
};

const amounts = ['amount with cents', 'whole amount'] as const;
const hex = { show: (digit: number) => digit.toString(16), least: 0, most: 15 };
const month = (value: number) => `${value + 1}`;

const features: readonly Feature[] = [
  { name: 'id starts with ', of: digitAt(0), ...hex },
  { name: 'id ends with ', of: digitAt(-1), ...hex },
  { name: 'length of the value: ', of: (request) => idOf(request).length, least: 0, most: Infinity },
  { name: '', of: hasWholeAmount, show: (value) => amounts[value]!, least: 0, most: 1 },
  { name: 'month: ', of: (...of) => timeOf(...of)?.getUTCMonth(), show: month, least: 0, most: 11 },
  { name: 'hour (UTC): ', of: (...of) => timeOf(...of)?.getUTCHours(), least: 0, most: 23 },
];

/** What a value in a range has. */
function wordsOf({ name, show = String }: Feature, from: number, to: number): string {
  const range = to === Infinity ? ' or more' : from === to ? '' : ` to ${show(to)}`;
  return `value: ${name}${show(from)}${range}`;
}

/** A range of a feature that separates values that fail from those that pass. */
export interface ValueCondition {
  readonly kind: 'value';
  readonly words: string;
  /** Whether a value has it; undefined if no value between was tried. */
  readonly holds: (request: Request) => boolean | undefined;
  /** Number of new lookups without it that passed, as it predicted. */
  readonly predicted: number;
}

/** Values that fail, and that pass, which are enough to look for a feature. */
export const ENOUGH = 6;

/** Number of new lookups whose outcome a feature must predict. */
const PREDICTED = 12;

/** How often a feature may be mended by new lookups. */
const MAX_MENDED = 4;

/**
 * Finds a feature that separates lookups that failed from those that passed, and predicts the outcome of 12 new ones.
 *
 * @param levels of the new lookups, in turn
 */
export async function findFeature(
  prober: Prober,
  levels: readonly Levels[],
  regime: Regime,
  trials: readonly Trial[],
): Promise<ValueCondition | undefined> {
  const all = [...trials];
  for (let mended = 0; mended <= MAX_MENDED; mended++) {
    const feature = featureOf(all, prober.known);
    if (feature === undefined) return undefined;
    const tried = new Set(all.map(({ request }) => idOf(request)));
    const newOf = (expected: boolean | undefined, most: number) =>
      levels
        .flatMap((some) =>
          prober
            .draw(some, {
              ...regime,
              fits: (one) => feature.holds(one) === expected && !tried.has(idOf(one)),
            })
            .map((request) => ({ request, some })),
        )
        .slice(0, most);
    const between = newOf(undefined, 4);
    const predicted = [...newOf(true, PREDICTED / 2), ...newOf(false, PREDICTED / 2)];
    if (between.length === 0 && predicted.length < PREDICTED) return undefined;
    let isRight = between.length === 0;
    for (const { request, some } of between.length > 0 ? between : predicted) {
      const { outcome } = await prober.ask(request, some, regime.sendings);
      if (outcome === 'unknown') return undefined;
      all.push({ request, hasFailed: outcome === 'fails' });
      isRight &&= (outcome === 'fails') === feature.holds(request);
    }
    if (isRight) return { ...feature, predicted: PREDICTED / 2 };
  }
  return undefined;
}

/** Finds the first feature that separates at least six failing lookups from at least six passing ones. */
function featureOf(trials: readonly Trial[], known: Known): Omit<ValueCondition, 'predicted'> | undefined {
  const failing = trials.filter(({ hasFailed }) => hasFailed);
  const passing = trials.filter(({ hasFailed }) => !hasFailed);
  if (failing.length < ENOUGH || passing.length < ENOUGH) return undefined;
  for (const feature of features) {
    const valuesOf = (some: readonly Trial[]) =>
      some.flatMap(({ request }) => feature.of(request, known) ?? []);
    const [bad, good] = [valuesOf(failing), valuesOf(passing)];
    if (bad.length < failing.length || good.length < passing.length) continue;
    const [from, to] = [Math.min(...bad), Math.max(...bad)];
    if (good.some((one) => one >= from && one <= to)) continue;
    const below = Math.max(...good.filter((one) => one < from));
    const above = Math.min(...good.filter((one) => one > to));
    // Nothing lies beyond the ends of the scale.
    const [first, last] = [
      below === -Infinity ? feature.least : from,
      above === Infinity ? feature.most : to,
    ];
    return {
      kind: 'value',
      words: wordsOf(feature, first, last),
      holds: (request) => {
        const value = feature.of(request, known);
        if (value === undefined) return undefined;
        if (value >= first && value <= last) return true;
        return value <= below || value >= above ? false : undefined;
      },
    };
  }
  return undefined;
}
