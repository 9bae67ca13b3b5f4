import { packUuidOfAnyCase, WORDS } from './packed-uuid.ts';

/**
 * Whether a user or deposit of a fixture is good beyond doubt. It knows the plain ones, at a tenth
 * of what the schema's validator takes; of all others that has to say whether they are good, and
 * what is wrong. A test holds the two together: what is good here is so by the schema.
 */
export const isPlain: Readonly<Record<string, (value: unknown) => boolean>> = {
  users: isPlainUser,
  deposits: isPlainDeposit,
};

type Fields = Readonly<Record<string, unknown>>;

function isPlainUser(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { user_id, partner, date_joined } = value as Fields;
  return (
    hasFields(value, 3) &&
    isUuid(user_id, FOUR, FOUR) &&
    (partner === null || (typeof partner === 'string' && partner !== '')) &&
    isUtcTimestamp(date_joined)
  );
}

function isPlainDeposit(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { reference_id, user_id, state, amountInUsd, executedAt, becomes } = value as Fields;
  if (!isUuid(reference_id, ONE, EIGHT) || !isUuid(user_id, FOUR, FOUR)) return false;
  if (state === 'EXECUTED') return hasFields(value, 5) && isAmount(amountInUsd) && isCount(executedAt, 0);
  if (state === 'pending' && becomes !== undefined) return hasFields(value, 4) && isPlainTransition(becomes);
  return (state === 'pending' || state === 'failed') && hasFields(value, 3);
}

/** One with a single trigger, and without a time of execution. */
function isPlainTransition(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { state, amountInUsd, afterPolls, afterSeconds } = value as Fields;
  if (state !== 'EXECUTED' || !isAmount(amountInUsd) || !hasFields(value, 3)) return false;
  return afterPolls === undefined ? isAmount(afterSeconds) && afterSeconds !== 0 : isCount(afterPolls, 1);
}

const isAmount = (value: unknown) => typeof value === 'number' && value >= 0 && value < Infinity;
const isCount = (value: unknown, least: number) => Number.isInteger(value) && (value as number) >= least;

/** Whether it has so many fields: with those that were looked at, there are no others. */
function hasFields(value: object, count: number): boolean {
  let found = 0;
  for (const _ in value) found += 1;
  return found === count;
}

const [ZERO, ONE, FOUR, EIGHT, NINE, A] = [0x30, 0x31, 0x34, 0x38, 0x39, 0x61];
const scratch = new Int32Array(WORDS);

/** A UUID of a version in a range, with the variant of RFC 9562. */
function isUuid(value: unknown, leastVersion: number, mostVersion: number): boolean {
  if (typeof value !== 'string' || !packUuidOfAnyCase(value, scratch, 0)) return false;
  const version = value.charCodeAt(14);
  const variant = value.charCodeAt(19) | 32;
  return (
    version >= leastVersion &&
    version <= mostVersion &&
    (variant === EIGHT || variant === NINE || variant === A || variant === A + 1)
  );
}

const daysOfMonth = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] as const;
const timestampMarks = [
  [4, '-'],
  [7, '-'],
  [10, 'T'],
  [13, ':'],
  [16, ':'],
] as const;

/** `2024-02-29T23:59:59.999Z`, the 29th of February in years that are divided by four. */
function isUtcTimestamp(value: unknown): boolean {
  if (typeof value !== 'string' || value.length < 20 || !value.endsWith('Z')) return false;
  for (const [at, mark] of timestampMarks) if (value[at] !== mark) return false;
  const [year, month] = [twoDigits(value, 2), twoDigits(value, 5)];
  // No century is a leap year here but those of 400: the validator decides on the others.
  const leapDay = month === 2 && twoDigits(value, 0) >= 0 && year % 4 === 0 && year !== 0 ? 1 : 0;
  return (
    twoDigits(value, 0) >= 0 &&
    year >= 0 &&
    isWithin(twoDigits(value, 8), 1, (daysOfMonth[month - 1] ?? 0) + leapDay) &&
    isWithin(twoDigits(value, 11), 0, 23) &&
    isWithin(twoDigits(value, 14), 0, 59) &&
    isWithin(twoDigits(value, 17), 0, 59) &&
    isFraction(value)
  );
}

const isWithin = (number: number, least: number, most: number) => number >= least && number <= most;

/** The number that two digits stand for; NaN where they are none. */
function twoDigits(text: string, at: number): number {
  const [tens, ones] = [text.charCodeAt(at) - ZERO, text.charCodeAt(at + 1) - ZERO];
  return isWithin(tens, 0, 9) && isWithin(ones, 0, 9) ? 10 * tens + ones : Number.NaN;
}

/** Nothing, or a dot and digits, between the seconds and the Z. */
function isFraction(text: string): boolean {
  const end = text.length - 1;
  if (end === 19) return true;
  if (text[19] !== '.' || end === 20) return false;
  for (let at = 20; at < end; at++) if (!isWithin(text.charCodeAt(at) - ZERO, 0, 9)) return false;
  return true;
}
