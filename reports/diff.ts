import type { Level, RequirementResult, RunRecord } from '../schemas/generated/types.ts';

/** What became of a requirement between two runs, in the order in which it is told. */
export const changeKinds = {
  newlyFailing: 'newly failing',
  noLongerVerified: 'no longer verified',
  mended: 'mended',
  newlyVerified: 'newly verified',
  stillFailing: 'still failing',
  added: 'added',
  removed: 'removed',
  unchanged: 'unchanged',
} as const;

export type ChangeKind = keyof typeof changeKinds;

/** A requirement in both runs; one of the two is missing where a run does not have it. */
export interface Change {
  readonly kind: ChangeKind;
  readonly id: string;
  readonly level: Level;
  readonly before?: RequirementResult;
  readonly after?: RequirementResult;
}

/**
 * What the second run says of the first:
 *
 * - `regression`: a required requirement passed before and fails now
 * - `less verified`: none does, but a required one that passed before was not judged now, or is gone:
 *   it may be broken, and nobody would know
 * - `no regression`: neither. What failed before, or was not judged, may fail now: that is no
 *   regression, as nobody knows it to have been better
 */
export type Tendency = 'regression' | 'less verified' | 'no regression';

export interface Comparison {
  readonly tendency: Tendency;
  readonly before: RunRecord;
  readonly after: RunRecord;
  /** Every requirement of either run once, in the order of the second; those that are gone come last. */
  readonly changes: readonly Change[];
  /** Why the two runs may differ beside what the target does, in sentences. */
  readonly caveats: readonly string[];
}

/** Holds a run against an earlier one. Ids are unique in each. */
export function compare(before: RunRecord, after: RunRecord): Comparison {
  const earlier = new Map(before.requirements.map((result) => [result.id, result]));
  const kept = new Set(after.requirements.map(({ id }) => id));
  const changes = [
    ...after.requirements.map((result) => changeOf(earlier.get(result.id), result)),
    ...before.requirements.filter(({ id }) => !kept.has(id)).map(goneFrom),
  ];
  return { tendency: tendencyOf(changes), before, after, changes, caveats: caveatsOf(before, after) };
}

/** Whether a required requirement passed before and fails now. */
export function isRegression({ kind, level, before }: Change): boolean {
  return kind === 'newlyFailing' && level === 'required' && before?.outcome === 'passed';
}

/** Whether a required requirement passed before, and nobody knows whether it does now. */
export function isLoss({ kind, level, before }: Change): boolean {
  const isOpen = kind === 'noLongerVerified' || kind === 'removed';
  return isOpen && level === 'required' && before?.outcome === 'passed';
}

/** Changes of a kind. */
export function changesOf({ changes }: Comparison, wanted: ChangeKind): readonly Change[] {
  return changes.filter(({ kind }) => kind === wanted);
}

/** `2026-01-15T10:40:00.000Z, http://127.0.0.1/, seed 7, 100 cases, ib-conformance 0.1.0` */
export function runName({ startedAt, target, seed, cases, version }: RunRecord): string {
  return `${startedAt}, ${target}, seed ${seed}, ${cases} cases, ib-conformance ${version}`;
}

type Standing = 'good' | 'bad' | 'open';

const kinds = {
  good: { good: 'unchanged', bad: 'newlyFailing', open: 'noLongerVerified' },
  bad: { good: 'mended', bad: 'stillFailing', open: 'noLongerVerified' },
  open: { good: 'newlyVerified', bad: 'newlyFailing', open: 'unchanged' },
} as const satisfies Record<Standing, Record<Standing, ChangeKind>>;

function changeOf(before: RequirementResult | undefined, after: RequirementResult): Change {
  const { id, level } = after;
  return before === undefined
    ? { kind: 'added', id, level, after }
    : { kind: kinds[standingOf(before)][standingOf(after)], id, level, before, after };
}

function goneFrom(before: RequirementResult): Change {
  return { kind: 'removed', id: before.id, level: before.level, before };
}

function standingOf({ outcome, level }: RequirementResult): Standing {
  switch (outcome) {
    case 'passed':
      return 'good';
    case 'failed':
      return 'bad';
    case 'observed':
      return level === 'observed' ? 'good' : 'open';
    case 'inconclusive':
    case 'excluded':
    case 'broken':
      return 'open';
  }
}

function tendencyOf(changes: readonly Change[]): Tendency {
  if (changes.some(isRegression)) return 'regression';
  return changes.some(isLoss) ? 'less verified' : 'no regression';
}

function caveatsOf(before: RunRecord, after: RunRecord): readonly string[] {
  const differ = (part: 'target' | 'partner' | 'version' | 'cases') => before[part] !== after[part];
  return [
    ...(differ('target') ? ['The two runs drove different targets.'] : []),
    ...(differ('partner') ? ['The two runs called as different partners.'] : []),
    ...(differ('version')
      ? [
          'The two runs were made by different versions of ib-conformance: one may check what the other does not.',
        ]
      : []),
    ...(differ('cases')
      ? [`The first run looked at ${before.cases} inputs of a requirement, the second at ${after.cases}.`]
      : []),
    ...(before.seed === after.seed
      ? []
      : ['The seeds differ: what newly fails may have failed before, on inputs that were not drawn.']),
    ...(isPart(before)
      ? ['The first run was to check a part of the catalogue only (--suite, --only, --replay).']
      : []),
    ...(isPart(after)
      ? ['The second run was to check a part of the catalogue only (--suite, --only, --replay).']
      : []),
    ...(before.interrupted ? ['The first run was interrupted.'] : []),
    ...(after.interrupted ? ['The second run was interrupted.'] : []),
  ];
}

function isPart({ selection }: RunRecord): boolean {
  return selection !== undefined && (!selection.whole || selection.replay !== undefined);
}
