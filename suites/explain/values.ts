import type { Known } from '../known.ts';
import type { Request } from '../request.ts';
import { idOf, LATER } from './history.ts';
import type { Regime, Trial } from './regime.ts';
import type { Levels } from '../model/factors.ts';
import { headerLevels, keyLevels } from '../model/levels.ts';
import { shareOf } from './statistics.ts';
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
  /** Whether the values next to it were tried: each digit and month, but not each length. */
  readonly isKnown: boolean;
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
    if (between.length === 0 && (predicted.length < PREDICTED || !feature.isKnown)) return undefined;
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
    const numbersOf = (some: readonly Trial[]) =>
      some.flatMap(({ request }) => feature.of(request, known) ?? []);
    const [bad, good] = [numbersOf(failing), numbersOf(passing)];
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
    // What is between was not tried.
    const gaps = [
      ...(below > -Infinity && first - below > 1 ? [`${below} or less`] : []),
      ...(above < Infinity && above - last > 1 ? [`${above} or more`] : []),
    ];
    return {
      kind: 'value',
      words: wordsOf(feature, first, last) + (gaps.length === 0 ? '' : ` (not ${gaps.join(', or ')})`),
      isKnown: gaps.length === 0 || feature.most === Infinity,
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

/** If some values pass: a feature of those that fail, or what shows both. */
export async function valuesOf(
  prober: Prober,
  failing: readonly Levels[],
  regime: Regime,
  [trials, ids]: readonly [readonly Trial[], readonly Trial[]],
): Promise<{ readonly feature?: ValueCondition | undefined; readonly some?: SomeValues | undefined }> {
  const [levels] = failing as readonly [Levels];
  for (const list of hasOnlyIds(levels) ? [trials, ids] : [trials]) {
    if (!(await isPartial(prober, levels, list))) continue;
    const some = ids.length >= MIN_TO_HALVE ? ids.filter((_, nth) => nth % 2 === 0) : ids;
    const feature = await findFeature(prober, failing, { ...regime, maxAsked: Infinity }, some);
    return feature === undefined ? { some: await someValues(prober, levels, list) } : { feature };
  }
  return {};
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
export function byId(observations: readonly Trial[]): readonly Trial[] {
  const found = new Map<string, Trial>();
  for (const { request, hasFailed } of observations) {
    const id = idOf(request);
    if (hasFailed || !found.has(id)) found.set(id, { request, hasFailed });
  }
  return [...found.values()].toSorted((one, other) => Number(other.hasFailed) - Number(one.hasFailed));
}

/** That some values fail and others pass, without a feature that separates them. */
export interface SomeValues {
  readonly words: string;
  /** Two ids that fail and two that pass. */
  readonly ids?: { readonly failing: readonly string[]; readonly passing: readonly string[] };
}

/** Maximum number of characters of a value that is shown. */
const MAX_SHOWN = 40;

/** Says how many lookups fail, and of what: of the ids, or of keys and the forms in which they are sent. */
export async function someValues(
  prober: Prober,
  levels: Levels,
  trials: readonly Trial[],
): Promise<SomeValues> {
  const { failed, of } = shareOf(trials);
  const requestsOf = (isWanted: boolean) =>
    trials.filter(({ hasFailed }) => hasFailed === isWanted).map(({ request }) => request);
  const [failing, passing] = [requestsOf(true), requestsOf(false)];
  const words = (what: string) => `some ${what}, not all (${failed} of ${of})`;
  if (!(await areIds(prober, levels, failing[0], passing[0]))) return { words: words('keys or their forms') };
  const shown = (some: readonly Request[]) => some.slice(0, 2).map((one) => idOf(one).slice(0, MAX_SHOWN));
  return { words: words('ids'), ids: { failing: shown(failing), passing: shown(passing) } };
}

/** Whether it is the id that matters: a lookup that fails passes with the id of another. */
async function areIds(
  prober: Prober,
  levels: Levels,
  failing?: Request,
  passing?: Request,
): Promise<boolean> {
  const isOneKey =
    headerLevels[levels.header]!.forms.length === 1 && keyLevels[levels.key]!.drawn === undefined;
  if (isOneKey || failing === undefined || passing === undefined) return true;
  if (failing.misplaced !== undefined) return false;
  const { outcome } = await prober.ask({ ...failing, target: passing.target }, levels, LATER);
  return outcome === 'passes';
}
