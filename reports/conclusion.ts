import type { RequirementResult, RunRecord } from '../schemas/generated/types.ts';
import { isKnownFailure } from '../schemas/known-failure.ts';
import { several } from './units.ts';

/** How many ids of a kind a sentence names where nothing else is said; the rest it counts. */
const MOST_IDS = 6;

/**
 * What the run comes to, in sentences: the verdict with its numbers first, then what failed, what
 * warns, what is our own bug, and all that was not verified, with the reason. Joined with `; ` they
 * make one line. No requirement is left out: it is verified, or named, or counted under its reason.
 *
 * The sentences hold ids and reasons as the record has them: escape them for where they go.
 *
 * @param most ids of a kind that a sentence names; the rest it counts
 */
export function conclusion(record: RunRecord, most = MOST_IDS): readonly [string, ...string[]] {
  const rows = record.requirements;
  const required = rows.filter((row) => row.level === 'required');
  const recommended = rows.filter((row) => row.level === 'recommended');
  const observed = rows.filter((row) => row.level === 'observed');
  const isNew = (row: RequirementResult) => !isKnownFailure(row);
  return [
    headline(record, required, recommended),
    ...sentence('failed', idsOf('failed', required.filter(isNew), most)),
    ...sentence('warnings', idsOf('failed', [...recommended, ...observed].filter(isNew), most)),
    ...sentence(
      'known failures',
      shortened(
        rows.filter(isKnownFailure).map(({ id }) => id),
        most,
      ),
    ),
    ...(record.baseline?.wrong ?? []).map((words) => `the baseline fails the run: ${words}`),
    ...sentence('broken, a bug of ib-conformance and not of the target', idsOf('broken', rows, most)),
    ...sentence('not verified', [
      ...openIds(required, '', most),
      ...openIds(recommended, ', recommended', most),
    ]),
    ...sentence('not observed', openIds(observed, '', most)),
  ];
}

type Rows = readonly RequirementResult[];

/** What the run comes to: the verdict, or what it would be but for the failures that the baseline knows. */
function verdictWords({ verdict, baseline, requirements }: RunRecord): string {
  if (baseline === undefined || baseline.verdict === verdict) return verdict;
  const known = requirements.filter((row) => row.level === 'required' && isKnownFailure(row)).length;
  return `${baseline.verdict} but for ${several(known, 'known failure')}`;
}

/** `conformant: 41 of 43 required verified, 12 of 12 recommended` */
function headline(record: RunRecord, required: Rows, recommended: Rows): string {
  const verified = having('passed', required).length;
  const failed = having('failed', required).length;
  const numbers = [
    ...(failed > 0 ? [`${failed} of ${required.length} required failed, ${verified} verified`] : []),
    ...(failed === 0 && required.length > 0 ? [`${verified} of ${required.length} required verified`] : []),
    ...(recommended.length > 0
      ? [`${having('passed', recommended).length} of ${recommended.length} recommended`]
      : []),
  ];
  const stopped = record.interrupted ? ', interrupted before its end' : '';
  return `${verdictWords(record)}${stopped}: ${numbers.length > 0 ? numbers.join(', ') : 'nothing was checked'}`;
}

/** Rows that nothing could be said of, as `id (reason)`; the later ones of a reason as `3 more (reason)`. */
function openIds(rows: Rows, remark: string, most: number): readonly string[] {
  const byReason = new Map<string, readonly string[]>();
  for (const row of rows) {
    const reason = reasonOpen(row);
    if (reason !== undefined) byReason.set(reason, [...(byReason.get(reason) ?? []), row.id]);
  }
  return [...byReason].flatMap(([reason, ids]) =>
    shortened(ids, most).map((id) => `${id} (${reason}${remark})`),
  );
}

/** Why a requirement was not verified; undefined where it was, or where it failed or broke. */
export function reasonOpen(row: RequirementResult): string | undefined {
  switch (row.outcome) {
    case 'passed':
    case 'failed':
    case 'broken':
      return undefined;
    case 'inconclusive':
    case 'excluded':
      return row.reason;
    case 'observed':
      return row.level === 'observed' ? undefined : 'only observed';
  }
}

function sentence(subject: string, names: readonly string[]): readonly string[] {
  return names.length === 0 ? [] : [`${subject}: ${names.join(', ')}`];
}

function idsOf(outcome: RequirementResult['outcome'], rows: Rows, most: number): readonly string[] {
  return shortened(
    having(outcome, rows).map((row) => row.id),
    most,
  );
}

function having(outcome: RequirementResult['outcome'], rows: Rows): Rows {
  return rows.filter((row) => row.outcome === outcome);
}

/** The first ids, `most` in all with the number of the others. */
export function shortened(ids: readonly string[], most: number): readonly string[] {
  if (ids.length <= most) return ids;
  return most < 2 ? [`${ids.length}`] : [...ids.slice(0, most - 1), `${ids.length - most + 1} more`];
}
