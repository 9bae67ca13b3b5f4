import type { Gap, RequirementResult, RunRecord } from '../schemas/generated/types.ts';
import { list, type Block, type Item } from './document.ts';
import { grouped } from './similar.ts';
import { count, plural } from './text.ts';

type Results = readonly RequirementResult[];

/** Groups unverified rows by reason, without failed and broken rows. */
export const byReason = (rows: Results): ReadonlyMap<string, Results> => grouped(rows, unverifiedReason);

function unverifiedReason(row: RequirementResult): string | undefined {
  if (row.outcome === 'inconclusive' || row.outcome === 'excluded') return row.reason;
  return row.outcome === 'observed' && row.level !== 'observed' ? 'only observed' : undefined;
}

/** Fixes for unverified requirements, by the code of the reason. The first that applies is the next step. */
export const fixes = {
  interrupted: 'run again without interrupting',
  'key-refused': 'check that the target has the first active key of the fixture',
  'key-lost': 'give a key that lasts for the run: it expired, was revoked or was locked out',
  blocked: 'let the address of this run through: something blocked it, perhaps for its wrong keys',
  outage: 'check in the log of the target, or of what stands before it, why it went down; then verify again',
  network: 'check in the log of the target why connections break',
  timeout:
    'check why the target is slow; --wait waits for a target that starts, --timeout longer for each answer (default: 5s)',
  budget: 'raise the bound that was reached; doctor shows what is enough',
  'rate-limited':
    'give the run more time, raise the limits on a test system, or add active keys of the partner if each has its own limit',
  'id-limited': 'check why the target limits this id: others with the same key pass',
  flaky: 'check why the target gives different answers to the same request',
  'no-second-key': 'add an active key of another partner to the fixture',
  'no-fixture': 'add the missing data, named above, to the fixture',
  'not-compared': 'give the run more time, or the test system a shorter window',
  'timing-window': 'run closer to the target, or on a test system with a longer window',
  'limit-not-reached': 'check that the limiter of the target is on, and state its limit in the fixture',
  'fixture-outdated': 'restart the target with the data of the fixture, or give --state-url',
  'state-hook': 'check why the state hook did not change the target',
  'no-state-hook': 'give --state-url to verify the rest (docs/state-hook.md)',
  depends: 'fix the failed requirements first',
  'not-seen': 'check why no answer arrived that this requirement applies to',
  skipped: 'omit --skip, --concurrency 1 or the scope "address"',
} as const satisfies Record<string, string>;

/** Returns the fix for a reason; undefined for an unknown reason, for example of a newer version. */
export function fixOf(reason: string): string | undefined {
  return Object.hasOwn(fixes, reason) ? fixes[reason as keyof typeof fixes] : undefined;
}

/**
 * One line for each reason: how many requirements, why, and how to verify them. Those with required ones come first.
 *
 * @param isShort whether to leave out their ids
 */
export function unverified({ requirements, coverage }: RunRecord, isShort: boolean): readonly Block[] {
  const rank = (rows: Results) =>
    Math.min(
      ...rows.map(({ level, outcome }) => (level === 'required' ? 0 : 2) + (outcome === 'excluded' ? 1 : 0)),
    );
  const item = (name: string, words: string, all: readonly string[], isLeftOut: boolean): Item => ({
    mark: isLeftOut ? '–' : '?',
    tone: isLeftOut ? 'quiet' : 'unsure',
    name: `${count(all.length)} ${name}`,
    words: isShort ? words : `${words}: ${all.join('; ')}`,
  });
  const missing = coverage?.missing ?? [];
  return list([
    ...[...byReason(requirements)]
      .toSorted(([, one], [, other]) => rank(one) - rank(other))
      .map(([reason, rows]) =>
        item(
          reason,
          helpFor(reason, rows),
          rows.map(({ id }) => id),
          rows.every(({ outcome }) => outcome === 'excluded'),
        ),
      ),
    ...(missing.length === 0
      ? []
      : [item('without data', `the fixture has no ${kindsOf(missing, isShort)}`, missing, true)]),
  ]);
}

/** What to add to a fixture, and the requirements that it verifies. */
export type Addition = Pick<Gap, 'fix' | 'requirements'> & { readonly isRequired?: boolean };

/** What rows lack, by what to add. */
export const additionsFor = (rows: Results): readonly Addition[] =>
  [...grouped(rows, (row) => (row.outcome === 'inconclusive' ? row.fix : undefined))].map(([fix, some]) => ({
    fix,
    requirements: some.map(({ id }) => id),
    isRequired: some.some(({ level }) => level === 'required'),
  }));

/** Additions that a report ends with. */
const MAX_ADDITIONS = 3;

/** The additions that verify most, those that the exit code needs first. */
export function additionsBlock(all: readonly Addition[]): readonly Block[] {
  // A required one weighs more than any number of others.
  const weight = ({ isRequired = true, requirements }: Addition) =>
    requirements.length + (isRequired ? 1000 : 0);
  const most = all.toSorted((one, other) => weight(other) - weight(one));
  const items = most.slice(0, MAX_ADDITIONS).map(({ fix, requirements }): Item => ({
    mark: '+',
    tone: 'plain',
    name: plural(requirements.length, 'requirement'),
    words: fix,
  }));
  return list(items, 'To verify more, change the fixture:');
}

/** Why, by the words of one row, and the fix. What was left out needs no reason, and what depends has another one. */
function helpFor(reason: string, rows: Results): string {
  const fix =
    reason === 'no-fixture' ? 'doctor names all that is missing' : (fixOf(reason) ?? 'no fix is known');
  const [first] = rows.flatMap((row) =>
    'words' in row && row.outcome === 'inconclusive' ? [row.words] : [],
  );
  // Data is missing for several reasons.
  const isTold = ['depends', 'no-fixture'].includes(reason);
  return first === undefined || isTold ? fix : `${first}; ${fix}`;
}

/**
 * What a fixture lacks, by the end of a level: that without which most wrong servers would pass comes first. What
 * requirements need to be judged at all is named with them.
 */
const kinds: Readonly<Record<string, string>> = {
  "key: another partner's": 'key of another partner',
  'situation: own': 'user of the IB',
  'situation: own EXECUTED': 'EXECUTED deposit',
  "situation: another partner's": 'user of another partner',
  "situation: another partner's EXECUTED": 'deposit of another partner',
  'situation: own pending': 'pending deposit',
  'situation: own failed': 'failed deposit',
  'key: revoked': 'revoked key',
  'key: expired': 'expired key',
  'key: non-Partner': 'key of a non-Partner account',
  'data: milliseconds': 'time with milliseconds',
  'data: amount with cents': 'amount with cents',
  'data: date before 2020': 'date before 2020',
  'data: amount of 10000 or more': 'amount of 10,000 or more',
  "situation: third partner's": 'third partner',
  'data: amount below 1': 'amount below 1',
  "situation: third partner's EXECUTED": 'deposit of a third partner',
  'situation: no partner': 'user of no partner',
  'active key: second': 'second active key',
  "situation: another partner's pending": 'pending or failed deposit of another partner',
  "situation: another partner's failed": 'pending or failed deposit of another partner',
  "situation: third partner's pending": 'pending or failed deposit of a third partner',
  "situation: third partner's failed": 'pending or failed deposit of a third partner',
  'data: whole amount': 'whole amount',
  'data: whole seconds': 'time in whole seconds',
};

/** Kinds of data that a short report names. */
const MAX_KINDS = 4;

/**
 * `time with milliseconds, date before 2020 or third partner`, the worst first.
 *
 * @param missing levels with their endpoint, such as `user-status, key: expired`
 * @param isShort whether to cut a long list
 */
export function kindsOf(missing: readonly string[], isShort: boolean): string {
  const levels = missing.map((one) => one.replace(/^[^,]*, /, ''));
  const order = Object.keys(kinds);
  const place = (level: string) => (Object.hasOwn(kinds, level) ? order.indexOf(level) : order.length);
  const sorted = levels.toSorted((one, other) => place(one) - place(other));
  const all = [...new Set(sorted.map((level) => kinds[level] ?? `data for "${level}"`))];
  const shown = isShort && all.length > MAX_KINDS + 1 ? all.slice(0, MAX_KINDS) : all;
  const rest = all.length - shown.length;
  const named = rest === 0 ? shown : [...shown, `${count(rest)} more kinds of data`];
  return named.length < 2 ? named.join() : `${named.slice(0, -1).join(', ')} or ${named.at(-1)}`;
}
