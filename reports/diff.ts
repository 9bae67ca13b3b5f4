import type { Level, RequirementResult, RunRecord } from '../schemas/generated/types.ts';
import { count, compact } from './text.ts';
import { shorten } from './verdict.ts';

/** Kinds of changes of a requirement between two runs, in the order of the reports. */
export const changeKinds = {
  newlyFailing: 'newly failing',
  noLongerVerified: 'no longer verified',
  fixed: 'fixed',
  newlyVerified: 'newly verified',
  stillFailing: 'still failing',
  added: 'added',
  removed: 'removed',
  unchanged: 'unchanged',
} as const;

export type ChangeKind = keyof typeof changeKinds;

/** A requirement in two runs. `before` or `after` is undefined if that run does not have it. */
export interface Change {
  readonly kind: ChangeKind;
  readonly id: string;
  readonly level: Level;
  readonly before?: RequirementResult;
  readonly after?: RequirementResult;
}

/**
 * - `regression`: a required requirement passed before and fails now
 * - `less verified`: no regression, but a required requirement passed before and was not judged now, or is
 *   missing. It may be broken
 * - `no regression`: neither. A requirement that fails now failed before or was not judged
 */
export type Tendency = 'regression' | 'less verified' | 'no regression';

export interface Comparison extends ReturnType<typeof compare> {}

/**
 * Compares a run with an earlier one. Ids are unique in each.
 *
 * @returns `changes`: every requirement of both runs once, in the order of the second run, removed ones last;
 *   `caveats`: sentences on other reasons for differences between the runs than the target
 */
export function compare(before: RunRecord, after: RunRecord) {
  const earlier = new Map(before.requirements.map((result) => [result.id, result]));
  const later = new Set(after.requirements.map(({ id }) => id));
  const changes = [
    ...after.requirements.map((result) => changeOf(earlier.get(result.id), result)),
    ...before.requirements
      .filter(({ id }) => !later.has(id))
      .map((result): Change => ({ kind: 'removed', id: result.id, level: result.level, before: result })),
  ];
  const tendency: Tendency = changes.some(isRegression)
    ? 'regression'
    : changes.some(isLoss)
      ? 'less verified'
      : 'no regression';
  return { tendency, before, after, changes, caveats: caveatsOf(before, after) };
}

function isRegression({ kind, level, before }: Change): boolean {
  return kind === 'newlyFailing' && level === 'required' && before?.outcome === 'passed';
}

/** Whether a required requirement passed before and was not judged now. */
function isLoss({ kind, level, before }: Change): boolean {
  const isOpen = kind === 'noLongerVerified' || kind === 'removed';
  return isOpen && level === 'required' && before?.outcome === 'passed';
}

/** Returns the changes by kind, without `unchanged`, in the order of the reports. */
export function changesByKind({
  changes,
}: Comparison): readonly (readonly [ChangeKind, readonly Change[]])[] {
  return (Object.keys(changeKinds) as ChangeKind[])
    .filter((kind) => kind !== 'unchanged')
    .map((kind) => [kind, changes.filter((change) => change.kind === kind)] as const)
    .filter(([, ofKind]) => ofKind.length > 0);
}

type Standing = 'good' | 'bad' | 'open';

const kinds = {
  good: { good: 'unchanged', bad: 'newlyFailing', open: 'noLongerVerified' },
  bad: { good: 'fixed', bad: 'stillFailing', open: 'noLongerVerified' },
  open: { good: 'newlyVerified', bad: 'newlyFailing', open: 'unchanged' },
} as const satisfies Record<Standing, Record<Standing, ChangeKind>>;

function changeOf(before: RequirementResult | undefined, after: RequirementResult): Change {
  const { id, level } = after;
  return before === undefined
    ? { kind: 'added', id, level, after }
    : { kind: kinds[standingOf(before)][standingOf(after)], id, level, before, after };
}

function standingOf({ outcome, level }: RequirementResult): Standing {
  if (outcome === 'failed') return 'bad';
  return outcome === 'passed' || (outcome === 'observed' && level === 'observed') ? 'good' : 'open';
}

const caveatsIfDifferent = {
  target: 'The runs checked different targets.',
  partner: 'The runs used keys of different partners.',
  version: 'The runs used different versions of ib-conformance: one may check what the other does not.',
  cases: 'The runs used different --cases.',
  seed: 'The runs used different seeds: a newly failing requirement may have failed before with other inputs.',
} as const;

function caveatsOf(before: RunRecord, after: RunRecord): readonly string[] {
  const parts = Object.keys(caveatsIfDifferent) as (keyof typeof caveatsIfDifferent)[];
  const isPart = ({ selection }: RunRecord) =>
    selection !== undefined && (!selection.whole || selection.replay !== undefined);
  return [
    ...parts.filter((part) => before[part] !== after[part]).map((part) => caveatsIfDifferent[part]),
    ...Object.entries({ first: before, second: after }).flatMap(([name, run]) =>
      compact(
        isPart(run) && `The ${name} run checked only a part of the catalogue (--suite, --only, --replay).`,
        run.interrupted && `The ${name} run was interrupted.`,
      ),
    ),
  ];
}

const MAX_IDS = 6;

/**
 * Returns the conclusion of a comparison in sentences: whether and where the target got worse, then the
 * number of requirements by kind of change.
 *
 * The ids in the sentences are not escaped: escape them for the output format.
 */
export function diffConclusion(comparison: Comparison): readonly [string, ...string[]] {
  const { changes, tendency, before } = comparison;
  const ids = (chosen: readonly Change[]) =>
    shorten(
      chosen.map(({ id }) => id),
      MAX_IDS,
    ).join(', ');
  const losses = changes.filter(isLoss);
  const passedBefore = before.requirements.some(
    ({ level, outcome }) => level === 'required' && outcome === 'passed',
  );
  const headlines = {
    regression: `regression: required requirements that passed before and fail now: ${ids(changes.filter(isRegression))}`,
    'less verified':
      'less verified: no required requirement that passed before fails now, but some were not checked',
    'no regression': passedBefore
      ? 'no regression: every required requirement that passed before passes now'
      : 'no regression: no required requirement passed before',
  } as const satisfies Record<Tendency, string>;
  const unchanged = changes.filter(({ kind }) => kind === 'unchanged').length;
  const numbers = compact(
    ...changesByKind(comparison).map(([kind, { length }]) => `${count(length)} ${changeKinds[kind]}`),
    unchanged > 0 && `${count(unchanged)} unchanged`,
  );
  return [
    headlines[tendency],
    ...(losses.length === 0 ? [] : [`passed before and not checked now: ${ids(losses)}`]),
    `requirements: ${numbers.length === 0 ? 'none in either run' : numbers.join(', ')}`,
  ];
}
