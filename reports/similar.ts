import type { Failed, RecordedResponse, RequirementResult } from '../schemas/generated/types.ts';
import { endpoints } from '../schemas/endpoints.ts';
import { isKnownFailure } from './judgement.ts';

/** Groups values by key, in the order of first occurrence, without those that have none. */
export function grouped<T>(values: readonly T[], keyOf: (value: T) => string | undefined) {
  const groups = new Map<string, [T, ...T[]]>();
  for (const value of values) {
    const key = keyOf(value);
    if (key !== undefined && groups.get(key)?.push(value) === undefined) groups.set(key, [value]);
  }
  return groups;
}

/** Groups results by suite, the first segment of the id, in the order of the record. */
export const bySuite = (results: readonly RequirementResult[]) =>
  grouped(results, ({ id }) => id.replace(/\/.*/s, ''));

/**
 * Returns keys of a finding. Findings that share one have the same cause: the same error in the form of the body; or the
 * same condition and aspect, and the same status; or the same aspect, expected and actual without ids and numbers. An
 * answer of the interface is also the same for the same requirement of the other endpoint, another answer by itself.
 */
function keysOf(finding: RequirementResult): readonly string[] {
  const failed = finding.outcome === 'failed' ? finding : undefined;
  const aspect = failed?.aspect ?? withoutNumbers('words' in finding ? finding.words : '');
  const condition = conditionKey(finding);
  const response = answerTo(finding);
  const reason = /^\d.* \(([^()]+)\)$/s.exec(failed?.actual ?? '')?.[1];
  const isKnownAnswer = response !== undefined && isOfInterface(response);
  return [
    reason === undefined ? undefined : [reason],
    condition === '' ? undefined : [aspect, response?.status],
    failed && [aspect, ...[failed.expected, failed.actual].map(withoutNumbers)],
    isKnownAnswer ? [withoutEndpoint(finding.id), aspect] : undefined,
    condition !== '' || reason !== undefined || isKnownAnswer ? undefined : [aspect, answerKey(finding)],
  ].flatMap((key, kind) =>
    key === undefined
      ? []
      : [JSON.stringify([kind, finding.outcome, isKnownFailure(finding), condition, ...key])],
  );
}

/** The conditions on levels, in any order of these; empty without one. */
const conditionKey = (finding: RequirementResult): string =>
  finding.outcome === 'failed' ? (finding.where ?? []).filter((one) => one.includes(': ')).join() : '';

const answerTo = (finding: RequirementResult) =>
  'counterexample' in finding ? finding.counterexample?.response : undefined;

/** The answer without ids and numbers, or what came in its place. */
function answerKey(finding: RequirementResult): string {
  const response = answerTo(finding);
  const trouble = 'counterexample' in finding ? finding.counterexample?.trouble : undefined;
  const actual = trouble ?? ('actual' in finding ? finding.actual : '');
  const text = withoutNumbers(response?.body ?? actual);
  return JSON.stringify([response?.status, response && contentTypeOf(response), text]);
}

const withoutEndpoint = (id: string) => id.replace(/\/[^/]+\//, '/');

const messages: ReadonlySet<unknown> = new Set(
  Object.values(endpoints).flatMap((one) => Object.values(one.messages)),
);

/** Whether an answer says something of the interface: membership, a deposit, or one of its errors. */
function isOfInterface({ body }: RecordedResponse): boolean {
  try {
    const { error, is_under_ib: isMember, amountInUsd } = Object(JSON.parse(body)) as Record<string, unknown>;
    return messages.has(error) || isMember !== undefined || amountInUsd !== undefined;
  } catch {
    return false;
  }
}

/** Replaces ids, dates and numbers, which differ between requests, but not a status at the start. */
const withoutNumbers = (text: string) =>
  text.replace(/^\d{3}(?= )|[0-9a-f]{8}-[0-9a-f-]{27}|\d+/gi, (found, at: number) =>
    at === 0 && found.length === 3 ? found : '#',
  );

export const contentTypeOf = ({ headers }: RecordedResponse): string | undefined =>
  Object.entries(headers).find(([name]) => name.toLowerCase() === 'content-type')?.[1];

/** Results that only say something about a message or a format, by what differs. They are never worse than that. */
const aspects: Readonly<Record<string, number>> = { message: 4, 'media type': 5 };
const ADVICE = 6;

/** Whether the right refusal came, in a wrong form. */
const isRefused = ({ expected, actual }: Failed): boolean =>
  /^[4-5]\d\d\b/.test(expected) && expected.slice(0, 3) === actual.slice(0, 3);

/** How bad a failure is: 1 is the worst. A bug of ours comes first, because it may be why the rest failed. */
function rankOf(row: RequirementResult): number {
  if (row.outcome === 'broken') return 0;
  const aspect = row.outcome === 'failed' ? (isRefused(row) ? 4 : (aspects[row.aspect] ?? 1)) : 1;
  return row.level === 'required' ? Math.max(row.rank ?? 3, aspect) : ADVICE;
}

/** Whether a finding says nothing of its own if another one has the same answer: a monitor, or a run that had to end. */
const isEcho = (row: RequirementResult): boolean =>
  row.outcome === 'failed' && (row.unexplained === true || row.id === 'robustness/service/no-5xx');

/** Whether a failure has ended or comes and goes, so that its request may show nothing now. */
const isOver = (row: RequirementResult): boolean =>
  row.outcome === 'failed' &&
  (row.during !== undefined || row.since?.untilSeconds !== undefined || row.intermittent !== undefined);

/** Whether the time explains a failure: all was well before. */
const hasBegun = (row: RequirementResult): boolean => row.outcome === 'failed' && row.since !== undefined;

/** The place in a group: what is required first, then what its own request shows, then what tells since when, then by rank. */
const place = (row: RequirementResult): number =>
  (row.level === 'required' ? 0 : 100) +
  (isEcho(row) || isOver(row) ? 10 : 0) -
  (hasBegun(row) ? 5 : 0) +
  rankOf(row);

interface Group<Finding> {
  readonly first: Finding;
  readonly rest: readonly Finding[];
}

/**
 * Groups findings that one fix mends: a server that answers everything with 500 fails in one way, not in forty. The worst
 * group comes first, and the worst finding first in its group, but what nobody explained and what is over after others.
 */
export function worstFirst<Finding extends RequirementResult>(
  findings: readonly Finding[],
): readonly Group<Finding>[] {
  const groups: { readonly keys: Set<string>; readonly all: Finding[] }[] = [];
  const join = (finding: Finding, keys: readonly string[]) => {
    const [first, ...more] = groups.filter((group) => keys.some((key) => group.keys.has(key)));
    const group = first ?? { keys: new Set<string>(), all: [] };
    if (first === undefined) groups.push(group);
    group.all.push(finding, ...more.flatMap(({ all }) => all));
    for (const key of [...keys, ...more.flatMap((one) => [...one.keys])]) group.keys.add(key);
    for (const one of more) groups.splice(groups.indexOf(one), 1);
  };
  for (const finding of findings) if (!isEcho(finding)) join(finding, keysOf(finding));
  for (const finding of findings.filter(isEcho)) {
    const isSame = (one: Finding) =>
      answerKey(one) === answerKey(finding) && isKnownFailure(one) === isKnownFailure(finding);
    const group = groups.find(({ all }) => all.some(isSame));
    if (group === undefined) join(finding, keysOf(finding));
    else group.all.push(finding);
  }
  return groups
    .map(({ all }) => all.toSorted((one, other) => place(one) - place(other)))
    .toSorted(([one], [other]) => rankOf(one!) - rankOf(other!))
    .map(([first, ...rest]) => ({ first: first!, rest }));
}
