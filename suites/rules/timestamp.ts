/** An instant with the precision of its text. */
export interface Instant {
  /** Whole seconds since 1970-01-01T00:00:00Z. */
  readonly seconds: number;
  /** Digits after the decimal sign of the seconds, possibly none. */
  readonly fraction: string;
}

/** The result of parsing a timestamp. */
export type TimestampReading =
  /** ISO 8601 in UTC. `rfc3339`: whether it also follows RFC 3339 5.6. */
  | { readonly kind: 'utc'; readonly instant: Instant; readonly rfc3339: boolean }
  /** Not an ISO 8601 date and time in UTC. `instant` is the most likely meaning. */
  | { readonly kind: 'other'; readonly why: string; readonly instant?: Instant };

const calendar = String.raw`(?<month>\d\d)\k<dash>(?<day>\d\d)`;
const weekDate = String.raw`W(?<week>\d\d)\k<dash>(?<weekday>[1-7])`;
const date = String.raw`(?<year>\d{4})(?<dash>-?)(?:${calendar}|(?<ordinal>\d{3})|${weekDate})`;
const time = String.raw`(?<hour>\d\d)(?:(?<colon>:?)(?<minute>\d\d)(?:\k<colon>(?<second>\d\d))?)?(?:[.,](?<fraction>\d+))?`;
const zone = String.raw`(?<zone>Z|[+-]\d\d(?::?\d\d)?)`;
const iso8601 = new RegExp(`^${date}(?<separator>T| )${time}${zone}?$`, 'i');
const rfc3339 = /^\d{4}-\d\d-\d\dT(?!24)\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/i;

/** Parses a `date_joined` (membership result: ISO 8601 UTC). */
export function readTimestamp(text: string): TimestampReading {
  const groups = iso8601.exec(text)?.groups;
  if (groups === undefined) return other('it is not an ISO 8601 date and time', fromDateParse(text));
  const day = dayOf(groups);
  const clock = secondsOf(groups);
  if (day === undefined) return other('there is no such day');
  if (clock === undefined) return other('there is no such time of day');
  const offset = offsetSeconds(groups['zone']);
  const instant = { seconds: day * 86_400 + clock.seconds - (offset ?? 0), fraction: clock.fraction };
  if (groups['separator'] === ' ') return other('it has a space where ISO 8601 has T', instant);
  if (offset === undefined) return other('it has no time zone (Z or an offset)', instant);
  if (offset !== 0) return other('its offset is not zero', instant);
  return { kind: 'utc', instant, rfc3339: rfc3339.test(text) };
}

/** Whether two instants are equal at the precision of the first. The fixture may have cut off or rounded digits. */
export function sameInstant(fixture: Instant, actual: Instant): boolean {
  const digits = Math.max(fixture.fraction.length, actual.fraction.length, 1);
  const scaled = ({ seconds, fraction }: Instant) =>
    BigInt(seconds) * 10n ** BigInt(digits) + BigInt(fraction.padEnd(digits, '0'));
  const unit = 10n ** BigInt(digits - fixture.fraction.length);
  const difference = scaled(actual) - scaled(fixture);
  return 2n * difference >= -unit && difference < unit;
}

type Groups = Readonly<Record<string, string | undefined>>;

function other(why: string, instant?: Instant): TimestampReading {
  return { kind: 'other', why, ...(instant !== undefined && { instant }) };
}

/** Days since 1970-01-01; undefined if there is no such day. Date would roll over to another month or year. */
function dayOf({ year: digits, month, day, ordinal, week, weekday }: Groups): number | undefined {
  const year = Number(digits);
  if (month !== undefined) {
    const found = utcDay(year, Number(month) - 1, Number(day));
    return dateOf(found).getUTCMonth() === Number(month) - 1 ? found : undefined;
  }
  if (ordinal !== undefined) {
    const found = utcDay(year, 0, Number(ordinal));
    return dateOf(found).getUTCFullYear() === year ? found : undefined;
  }
  // An ISO week belongs to the year of its Thursday, and day 0 was a Thursday. Week 1 contains 4 January.
  const fourth = utcDay(year, 0, 4);
  const thursday = fourth - ((((fourth + 3) % 7) + 7) % 7) + 3 + (Number(week) - 1) * 7;
  return dateOf(thursday).getUTCFullYear() === year ? thursday + Number(weekday) - 4 : undefined;
}

const dateOf = (day: number) => new Date(day * 86_400_000);

/** Date.UTC maps the years 0 to 99 to 1900 to 1999. */
const utcDay = (year: number, month: number, day: number) =>
  new Date(0).setUTCFullYear(year, month, day) / 86_400_000;

function secondsOf(groups: Groups): { seconds: number; fraction: string } | undefined {
  const { hour = '', minute, second, fraction = '' } = groups;
  const [h, m, s] = [Number(hour), Number(minute ?? 0), Number(second ?? 0)];
  const isMidnight = h === 24 && m === 0 && s === 0 && /^0*$/.test(fraction);
  const isLeapSecond = h === 23 && m === 59 && s === 60;
  if ((h > 23 && !isMidnight) || m > 59 || (s > 59 && !isLeapSecond)) return undefined;
  const whole = h * 3600 + m * 60 + s;
  if (second !== undefined || fraction === '') return { seconds: whole, fraction };
  // A fraction of the minute or the hour, in nanoseconds.
  const nanoseconds = Math.floor(Number(`0.${fraction}`) * (minute === undefined ? 3600 : 60) * 1e9);
  return {
    seconds: whole + Math.floor(nanoseconds / 1e9),
    fraction: String(nanoseconds % 1e9).padStart(9, '0'),
  };
}

function offsetSeconds(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (text.toUpperCase() === 'Z') return 0;
  const digits = text.slice(1).replace(':', '');
  const size = Number(digits.slice(0, 2)) * 3600 + Number(digits.slice(2) || 0) * 60;
  return text.startsWith('-') ? -size : size;
}

const rfc1123 = /^(?:[a-z]{3}, )?\d{1,2} [a-z]{3} \d{4} \d\d:\d\d:\d\d (?:GMT|UTC|[+-]\d{4})$/i;

/** The date format of mail and HTTP, as a fallback. */
function fromDateParse(text: string): Instant | undefined {
  const ms = rfc1123.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(ms) ? undefined : { seconds: Math.floor(ms / 1000), fraction: '' };
}
