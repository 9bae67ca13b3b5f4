import { count } from './text.ts';

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
