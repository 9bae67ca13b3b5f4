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
 * Returns the key of a group of findings. If the answer is one of the interface: requirement, aspect and
 * condition. Else the answer is what is wrong: the error in the form of the body, or aspect and condition, and
 * the answer without ids and numbers.
 */
function groupKeyOf(finding: RequirementResult): string {
  const actual = 'actual' in finding ? finding.actual : '';
  const { response, trouble = actual } = ('counterexample' in finding && finding.counterexample) || {};
  const aspect =
    finding.outcome === 'failed' ? finding.aspect : withoutNumbers('words' in finding ? finding.words : '');
  const condition = finding.outcome === 'failed' && finding.where?.length ? finding.where.join() : undefined;
  const reason = /^\d.* \(([^()]+)\)$/s.exec(actual)?.[1];
  const key = () => {
    if (response !== undefined && isOfInterface(response))
      return [withoutEndpoint(finding.id), aspect, condition];
    if (condition !== undefined) return [aspect, condition, response?.status];
    if (reason !== undefined) return [reason];
    return [
      aspect,
      response?.status,
      response && contentTypeOf(response),
      withoutNumbers(response?.body ?? trouble),
    ];
  };
  return JSON.stringify([finding.outcome, isKnownFailure(finding), ...key()]);
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

/** Replaces ids, dates and numbers, which differ between requests. */
const withoutNumbers = (text: string) => text.replace(/[0-9a-f]{8}-[0-9a-f-]{27}|\d+/gi, '#');

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

/**
 * Groups findings that one fix mends: the same requirement of both endpoints, with the same aspect and condition. A
 * server that answers everything with 500 fails in one way, too, not in forty. The worst group comes first, and the
 * worst finding first in its group.
 */
export const worstFirst = <Finding extends RequirementResult>(
  findings: readonly Finding[],
): readonly { readonly first: Finding; readonly rest: readonly Finding[] }[] =>
  [
    ...grouped(
      findings.toSorted((one, other) => rankOf(one) - rankOf(other)),
      groupKeyOf,
    ).values(),
  ].map(([first, ...rest]) => ({ first, rest }));
