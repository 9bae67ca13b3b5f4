import type { Known } from '../known.ts';
import type { Request } from '../request.ts';
import { idOf } from './history.ts';
import { ENOUGH } from './confirm.ts';
import type { Regime, Trial } from './regime.ts';
import type { Levels } from '../model/factors.ts';
import type { Prober } from './probe.ts';

/** A property of a value, as a number. */
interface Feature {
  readonly of: (request: Request, known: Known) => number | undefined;
  /** What a value in a range has, or one outside it. */
  readonly words: (from: number, to: number) => string;
  readonly least: number;
  readonly most: number;
}

const hex = (digit: string | undefined) =>
  digit !== undefined && /^[\da-f]$/.test(digit) ? Number.parseInt(digit, 16) : undefined;
const range = (from: string, to: string) => (from === to ? from : `${from} to ${to}`);
const digits = (verb: string) => (from: number, to: number) =>
  `${verb} ${range(from.toString(16), to.toString(16))}`;

const timeOf = (request: Request, known: Known): Date | undefined => {
  const id = idOf(request);
  const deposit = known.depositById.get(id);
  const time =
    request.endpoint === 'user-status'
      ? known.userById.get(id)?.date_joined
      : deposit?.state === 'EXECUTED'
        ? deposit.executedAt
        : undefined;
  return time === undefined ? undefined : new Date(time);
};

const amountOf = (request: Request, known: Known) => {
  const deposit = request.endpoint === 'deposit-check' ? known.depositById.get(idOf(request)) : undefined;
  return deposit?.state === 'EXECUTED' ? deposit.amountInUsd : undefined;
};

const features: readonly Feature[] = [
  { of: (request) => hex(idOf(request)[0]), words: digits('id starts with'), least: 0, most: 15 },
  { of: (request) => hex(idOf(request).at(-1)), words: digits('id ends with'), least: 0, most: 15 },
  {
    of: (request) => idOf(request).length,
    words: (from, to) =>
      `length of the value: ${to === Infinity ? `${from} or more` : range(`${from}`, `${to}`)}`,
    least: 0,
    most: Infinity,
  },
  {
    of: (request, known) => {
      const amount = amountOf(request, known);
      return amount === undefined ? undefined : Number(Number.isInteger(amount));
    },
    words: (from) => (from === 1 ? 'whole amount' : 'amount with cents'),
    least: 0,
    most: 1,
  },
  {
    of: (request, known) => timeOf(request, known)?.getUTCMonth(),
    words: (from, to) => `month: ${range(`${from + 1}`, `${to + 1}`)}`,
    least: 0,
    most: 11,
  },
  {
    of: (request, known) => timeOf(request, known)?.getUTCHours(),
    words: (from, to) => `hour (UTC): ${range(`${from}`, `${to}`)}`,
    least: 0,
    most: 23,
  },
];

/** A range of a feature that separates values that fail from those that pass. */
export interface ValueCondition {
  readonly words: string;
  /** Whether a value has it; undefined if no value between was tried. */
  readonly holds: (request: Request) => boolean | undefined;
  /** Number of new lookups without it that passed, as it predicted. */
  readonly predicted: number;
}

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
      words: `value: ${feature.words(first, last)}`,
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
