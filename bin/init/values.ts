import { parseDuration } from '../../schemas/duration.ts';
import { readTimestamp } from '../../suites/catalogue/timestamp.ts';

// What a person typed or a server sent, as a fixture needs it; undefined if it cannot be read.

/** A UTC timestamp. A time without a zone counts as UTC, and a number as Unix milliseconds. */
export function dateIn(value: unknown): string | undefined {
  if (typeof value === 'number') return isoOf(value);
  if (typeof value !== 'string') return undefined;
  const reading = readTimestamp(value);
  if (reading.kind === 'utc' && reading.rfc3339 && value.endsWith('Z')) return value;
  const { seconds, fraction } = reading.instant ?? { seconds: Number.NaN, fraction: '' };
  return isoOf(seconds * 1000)?.replace('.000Z', fraction === '' ? 'Z' : `.${fraction}Z`);
}

/** The time in ISO 8601; undefined if there is none. */
export function isoOf(ms: number): string | undefined {
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}

/** An amount of 0 or more. */
export function amountIn(value: unknown): number | undefined {
  const isNumber = typeof value === 'number' || (typeof value === 'string' && /^\d+(?:\.\d+)?$/.test(value));
  return isNumber && Number(value) >= 0 && Number.isFinite(Number(value)) ? Number(value) : undefined;
}

/** Unix milliseconds. A text may be a number or a timestamp. */
export function timeIn(value: unknown): number | undefined {
  const date = typeof value === 'string' && !/^\d+$/.test(value) ? dateIn(value) : undefined;
  const ms = date === undefined ? amountIn(value) : Date.parse(date);
  return Number.isSafeInteger(ms) ? ms : undefined;
}

/** `60/1m`: how many in which window. */
export function limitIn(
  text: string,
): { readonly count: number; readonly windowSeconds: number } | undefined {
  const [, count = '', window = ''] = /^(\d+) *(?:\/|in|per) *(\w+)$/.exec(text) ?? [];
  const ms = parseDuration(/^[a-z]/.test(window) ? `1${window}` : window);
  return Number(count) > 0 && ms !== undefined && ms > 0
    ? { count: Number(count), windowSeconds: ms / 1000 }
    : undefined;
}
