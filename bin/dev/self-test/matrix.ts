import { reference } from '../../../mock/server/handler.ts';
import { faults } from '../../../mock/deviations/faults.ts';
import { variants } from '../../../mock/deviations/variants.ts';
import type { Fixture, RunRecord } from '../../../schemas/generated/types.ts';
import { catalogue, isAbout, isLookupRow, type RunOptions } from '../../../suites/index.ts';
import { defaults } from '../../commands/flags.ts';
import { ENOUGH_CASES, failedIds, limits, verifyMock } from '../testing/verify-mock.ts';
import { combinedFaults, type Extra } from './combined.ts';
import type { KillMatrix } from './kill-matrix.ts';

/** Result of a run against a mock with one fault or variant. */
export interface FaultRun {
  readonly kind: 'fault' | 'variant';
  readonly id: string;
  readonly seed: number;
  /** Required and recommended requirements that failed. */
  readonly failed: readonly string[];
  /** Requirements that neither passed nor failed. */
  readonly unsettled: readonly string[];
  /** Requirements that should fail: none for a variant; undefined for a fault that the kill matrix lacks. */
  readonly expected: readonly string[] | undefined;
}

/** Result of a run against a mock with a generated fault. */
export interface CombinedRun {
  readonly id: string;
  /** Number of conditions in addition to the place. */
  readonly conditions: 1 | 2;
  /** Whether one of them is a history or a value. */
  readonly extra: Extra;
  readonly isCaught: boolean;
  /** Whether no failed requirement names another condition. */
  readonly isTrue: boolean;
  /** Whether a failed requirement names all conditions of the fault that a level can name, and no others. */
  readonly isComplete: boolean;
}

/** A share of the work: every `step`th entry of a list, beginning with `from`. */
interface Share {
  readonly fixture: Fixture;
  readonly seed: number;
  readonly from: number;
  readonly step: number;
}

/**
 * Minimum percentage of caught faults with two conditions. The default number of lookups decides how many are: 88 of 100
 * on average, 85 to 93 with single seeds.
 */
const MIN_PERCENT = 80;

/** Maximum percentage of generated faults for which a wrong condition is named. */
const MAX_FALSE_PERCENT = 2;

/** Minimum percentage of caught faults of which each condition that a level can name is named. */
const MIN_COMPLETE_PERCENT = 70;

/** Number of conditions of generated faults, and which of them are histories or values. */
const generated = [
  [1, 'none'],
  [2, 'none'],
  [2, 'histories'],
  [2, 'values'],
] as const satisfies readonly (readonly [1 | 2, Extra])[];

/** What a fault can fail. Observing it costs requests and shows nothing here. */
const judged = catalogue.filter(({ level }) => level !== 'observed');
export const judgedIds: readonly string[] = judged.map(({ id }) => id);
const requiredIds = new Set(judged.flatMap(({ id, level }) => (level === 'required' ? [id] : [])));

export const entries = [
  ...Object.entries(faults).map(([id, { change }]) => ({ kind: 'fault' as const, id, change })),
  ...Object.entries(variants).map(([id, { change }]) => ({ kind: 'variant' as const, id, change })),
];

/**
 * Runs the suites against a share of the faults and variants.
 *
 * @param matrix what each fault should fail. A fault that it lacks gets all lookups.
 */
export async function faultRuns(
  { fixture, seed, from, step }: Share,
  matrix: KillMatrix,
  some: readonly (typeof entries)[number][] = entries,
): Promise<readonly FaultRun[]> {
  const kills: FaultRun[] = [];
  const limited = { ...fixture, limits };
  for (const { kind, id, change } of some.filter((_, nth) => nth % step === from)) {
    const expected = kind === 'variant' ? [] : matrix[id];
    const record = await verifyMock(change(reference), {
      fixture: limited,
      seed,
      cases: ENOUGH_CASES,
      isBrief: true,
      ...(kind === 'fault' && { requirements: judged }),
      ...(kind === 'fault' && expected && { isEnough: isShownBy(expected) }),
    });
    const unsettled = record.requirements
      .filter(({ level, outcome }) => level !== 'observed' && outcome !== 'passed' && outcome !== 'failed')
      .map((result) => result.id);
    kills.push({ kind, id, seed, failed: failedIds(record), unsettled, expected });
  }
  return kills;
}

/** One lookup of each level shows most faults as expected. Such a fault needs no combinations. */
const isShownBy =
  (expected: readonly string[]): NonNullable<RunOptions['isEnough']> =>
  (failing, endpoint, rank) =>
    (rank === 'pair' || rank === 'triple') &&
    judged.every(
      (one) =>
        !isLookupRow(one) ||
        !isAbout(one, endpoint) ||
        failing.includes(one.id) === expected.includes(one.id),
    );

/**
 * Runs the suites against a share of the generated faults.
 *
 * @param count number of generated faults of each kind
 */
export async function combinedRuns(
  { fixture, seed, from, step }: Share,
  count: number,
): Promise<readonly CombinedRun[]> {
  const runs: CombinedRun[] = [];
  for (const [conditions, extra] of generated) {
    const some = combinedFaults(conditions, seed, extra).slice(0, count);
    for (const fault of some.filter((_, nth) => nth % step === from)) {
      const { requirements } = await verifyMock(fault.change(reference), {
        fixture,
        seed,
        cases: defaults.cases,
        // What pairs show needs no triples.
        isEnough: (failing, _, rank) => rank === 'triple' && failing.some((one) => requiredIds.has(one)),
        // The answers of the other endpoint are right, and so are those of the limiters.
        requirements: judged.filter((one) => isLookupRow(one) && isAbout(one, fault.endpoint)),
        skip: ['rate-limit'],
      });
      const failed = requirements.filter(({ id, outcome }) => requiredIds.has(id) && outcome === 'failed');
      const isTrue = failed.every((result) => namesOnly(fault.where, result));
      const isComplete = failed.some(
        (result) => namesOnly(fault.where, result) && namesAll(fault.where, result),
      );
      runs.push({ id: fault.id, conditions, extra, isCaught: failed.length > 0, isTrue, isComplete });
    }
  }
  return runs;
}

type Result = RunRecord['requirements'][number];

const whereOf = (result: Result) => ('where' in result ? (result.where ?? []) : []);

/** No level names a value: the result says how many fail. */
const isValue = (name: string) => name.startsWith('value: ');
const isSomeValues = (words: string) =>
  /^\d+ of \d+ (?:ids|malformed values|keys or their forms)$/.test(words);

/** Whether a failed requirement names all conditions of a fault that a level can name. */
export const namesAll = (named: readonly string[], result: Result) =>
  named.every((name) => isValue(name) || whereOf(result).includes(name));

/** Whether a failed requirement names no conditions but those of a fault and its place. */
export function namesOnly(named: readonly string[], result: Result): boolean {
  const isPlace = (words: string) =>
    /^(?:situation|malformation): |^key: (?:revoked|expired|none)/.test(words);
  return whereOf(result).every(
    (words) => isPlace(words) || named.includes(words) || (named.some(isValue) && isSomeValues(words)),
  );
}

/** Returns gaps: each fault with one condition must be caught, and most faults with two. */
export function combinedGaps(runs: readonly CombinedRun[]): readonly string[] {
  const gapsOf = (count: 1 | 2, minPercent: number) => {
    const some = runs.filter(({ conditions }) => conditions === count);
    const missed = some.filter(({ isCaught }) => !isCaught);
    const most = Math.floor((some.length * (100 - minPercent)) / 100);
    const but = most === 0 ? '' : `, and at most ${most} may be missed`;
    return missed.length > most
      ? missed.map(({ id }) => `nothing caught the generated fault ${id}${but}`)
      : [];
  };
  const wrong = runs.filter(({ isTrue }) => !isTrue);
  const caught = runs.filter(({ isCaught }) => isCaught);
  const complete = caught.filter(({ isComplete }) => isComplete).length;
  return [
    ...gapsOf(1, 100),
    ...gapsOf(2, MIN_PERCENT),
    ...(wrong.length > (runs.length * MAX_FALSE_PERCENT) / 100
      ? wrong.map(({ id }) => `a condition was named that the generated fault ${id} does not have`)
      : []),
    ...(complete < (caught.length * MIN_COMPLETE_PERCENT) / 100
      ? [
          `all conditions were named of only ${complete} of ${caught.length} generated faults that were caught`,
        ]
      : []),
  ];
}

const ofKind = (runs: readonly CombinedRun[], conditions: 1 | 2, extra: Extra) =>
  runs.filter((one) => one.conditions === conditions && one.extra === extra);

const withoutEndpoint = (id: string) => id.replace(/user-status|deposit-check/, '');

/** A lookup that is refused fails its own row too. */
const besideOthers = /\/active-key$/;

/**
 * Returns the gaps of a matrix: a fault that the kill matrix lacks, that fails none of the requirements that it says, or
 * none; a variant with a failed or unjudged requirement; a requirement that no fault fails alone, or with the same one
 * of the other endpoint.
 *
 * @param ids every required and recommended requirement
 */
export function gaps(kills: readonly FaultRun[], ids: readonly string[]): readonly string[] {
  const alone = new Set(
    kills.flatMap(({ kind, failed }) =>
      kind === 'fault' && new Set(failed.map(withoutEndpoint)).size === 1 ? failed : [],
    ),
  );
  return [
    ...kills.flatMap((one) => (one.kind === 'fault' ? gapsOfFault(one) : gapsOfVariant(one))),
    ...ids
      .filter((id) => !alone.has(id) && !besideOthers.test(id))
      .map((id) => `no fault fails ${id} and nothing else`),
  ];
}

function gapsOfFault({ id, failed, expected }: FaultRun): readonly string[] {
  if (failed.length === 0) return [`nothing caught the fault ${id}`];
  if (expected === undefined) return [`the kill matrix lacks the fault ${id}; ${UPDATE} adds it`];
  // Which other rows it fails depends on draws, and so on the seed.
  return expected.some((name) => failed.includes(name))
    ? []
    : [`none of these caught the fault ${id}: ${expected.join(', ')}`];
}

const gapsOfVariant = ({ id, seed, failed, unsettled }: FaultRun): readonly string[] => [
  ...failed.map((name) => `${name} failed for the variant ${id} with --seed ${seed}`),
  ...unsettled.map((name) => `${name} could not judge the variant ${id} with --seed ${seed}`),
];

/** Returns what faults fail besides what the kill matrix says. It is no gap. */
export const extraKills = (kills: readonly FaultRun[]): readonly string[] =>
  kills.flatMap(({ kind, id, failed, expected = failed }) =>
    failed
      .filter((name) => kind === 'fault' && !expected.includes(name))
      .map((name) => `${name} also caught the fault ${id}; ${UPDATE} adds it`),
  );

const UPDATE = 'npm run self-test -- --update';

function combinedLine(runs: readonly CombinedRun[], conditions: 1 | 2, extra: Extra): string {
  const some = ofKind(runs, conditions, extra);
  const count = (is: (one: CombinedRun) => boolean) => some.filter(is).length;
  const caught = count(({ isCaught }) => isCaught);
  const complete = count(({ isComplete }) => isComplete);
  const wrong = count(({ isTrue }) => !isTrue);
  const what = conditions === 1 ? 'a place and one condition' : 'a place and two conditions';
  const of = extra === 'none' ? what : `${what}, one of ${extra}`;
  return `${caught} of ${some.length} generated faults with ${of} caught; ${complete} of them with all conditions in the result, ${wrong} with a wrong one`;
}

/** Renders a row for each requirement, with the faults that it catches, and the gaps. */
export function renderMatrix(
  kills: readonly FaultRun[],
  runs: readonly CombinedRun[],
  ids: readonly string[],
  found: readonly string[],
): string {
  const faultRows = kills.filter(({ kind }) => kind === 'fault');
  const rows = ids.map((id) => {
    const catchers = faultRows.filter(({ failed }) => failed.includes(id));
    const alone = catchers.filter(({ failed }) => failed.length === 1);
    const names = (alone.length > 0 ? alone : catchers).slice(0, 3).map((fault) => fault.id);
    return `  ${id.padEnd(46)} ${String(catchers.length).padStart(4)} ${String(alone.length).padStart(6)}  ${names.join(', ')}`;
  });
  const caught = faultRows.filter(({ failed }) => failed.length > 0).length;
  const variantCount = new Set(kills.flatMap(({ kind, id }) => (kind === 'variant' ? [id] : []))).size;
  return [
    `  ${'requirement'.padEnd(46)} kills  alone  examples`,
    ...rows,
    '',
    `${caught} of ${faultRows.length} faults caught; ${variantCount} variants; ${ids.length} requirements`,
    ...(runs.length === 0 ? [] : generated).map(([conditions, extra]) =>
      combinedLine(runs, conditions, extra),
    ),
    ...(found.length === 0
      ? ['no gaps: every fault fails what it breaks, and every variant passes']
      : found.map((gap) => `gap: ${gap}`)),
    ...extraKills(kills),
    '',
  ].join('\n');
}
