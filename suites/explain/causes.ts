import { endpointNames, messageOf, type Endpoint } from '../../schemas/endpoints.ts';
import type { LookupRow } from '../rules/requirement.ts';
import { fieldsOf } from '../rules/expectations.ts';
import type { Facts } from '../rules/facts.ts';
import { factsOf } from '../rules/facts-of-request.ts';
import { readTimestamp, sameInstant } from '../rules/timestamp.ts';
import type { Exchange } from '../rules/scenario-context.ts';
import type { Known } from '../known.ts';
import type { Failure } from '../judging/tally.ts';

/** What a mistake makes of a right value: one value or several. A Date stands for every spelling of its time. */
type Mistake<Right> = (right: Right, of: { readonly endpoint: Endpoint; readonly status: number }) => unknown;

type Mistakes<Right> = Readonly<Record<string, Mistake<Right>>>;

/** Half a cent may go either way. */
const HAIR = 1e-6;
const cut = (usd: number, unit: number) => Math.floor(usd * unit + HAIR) / unit;
const rounded = (usd: number, unit: number) =>
  [HAIR, -HAIR].map((hair) => Math.round(usd * unit + hair) / unit);

/** Few amounts show it: one is enough, beside the right ones. */
const toCents: Mistakes<number> = {
  'it is cut to cents (right for the fixture? see fixture --cents)': (usd) => cut(usd, 100),
  'it is rounded to cents (right for the fixture? see fixture --cents)': (usd) => rounded(usd, 100),
};

const amounts: Mistakes<number> = {
  'it is 100 times as much (in cents?)': (usd) => [usd * 100, ...rounded(usd * 100, 1)],
  'it is a hundredth (divided by 100?)': (usd) => usd / 100,
  'it is cut to whole dollars': (usd) => cut(usd, 1),
  'it is rounded to whole dollars': (usd) => rounded(usd, 1),
  'it is cut to one decimal': (usd) => cut(usd, 10),
  'it is rounded to one decimal': (usd) => rounded(usd, 10),
  ...toCents,
  'it has the precision of 32 bits (float instead of double?)': (usd) => Math.fround(usd),
  'it is a text instead of a number': (usd) => [String(usd), usd.toFixed(2)],
};

const times: Mistakes<number> = {
  'it is a thousandth (in seconds?)': (ms) => [ms / 1000, Math.floor(ms / 1000), Math.round(ms / 1000)],
  'it is 1,000 times as much (in microseconds?)': (ms) => ms * 1000,
  'it has no milliseconds': (ms) => Math.floor(ms / 1000) * 1000,
  'it is a text instead of a number': (ms) => [String(ms), new Date(ms)],
};

const HOUR_MS = 3_600_000;

/** Offsets of time zones from UTC, in quarters of an hour. */
const offsets = Array.from({ length: 105 }, (_, at) => (at - 48) / 4).filter((hours) => hours !== 0);

/** All values by as much: with summer time, only some would differ. */
const shifted = <Right>(by: (right: Right, ms: number) => unknown): Mistakes<Right> =>
  Object.fromEntries(
    offsets.map((hours) => [
      `it is ${Math.abs(hours)} h ${hours > 0 ? 'late' : 'early'} (local time of a zone?)`,
      (right: Right) => by(right, hours * HOUR_MS),
    ]),
  );

/** The year of the ISO week: that of its Thursday. */
function weekYear(ms: number): number {
  const date = new Date(ms);
  return new Date(ms + (4 - (date.getUTCDay() || 7)) * 24 * HOUR_MS).getUTCFullYear();
}

const dates: Mistakes<Date> = {
  'day and month are swapped': (date) => {
    const [, year, month, day, rest] = /^(\d+)-(\d+)-(\d+)(T.*)$/.exec(date.toISOString())!;
    return Number(day) > 12 ? date : new Date(`${year}-${day}-${month}${rest}`);
  },
  'the year is that of the week (YYYY instead of yyyy in a format?)': (date) => {
    const wrong = new Date(date);
    wrong.setUTCFullYear(weekYear(date.getTime()));
    return wrong;
  },
  'hours are counted from 1 to 12 (hh instead of HH in a format?)': (date) => {
    const wrong = new Date(date);
    wrong.setUTCHours(date.getUTCHours() % 12 || 12);
    return wrong;
  },
  'it has no fraction of a second': (date) => new Date(Math.floor(date.getTime() / 1000) * 1000),
  'it has no time of day': (date) => [
    date.toISOString().slice(0, 10),
    new Date(date.toISOString().slice(0, 10)),
  ],
  'it has no time zone': (date) => [
    date.toISOString().replace('Z', ''),
    date.toISOString().replace(/(?:\.000)?Z/, ''),
  ],
  'it is Unix milliseconds': (date) => [date.getTime(), String(date.getTime())],
  'it is Unix seconds': (date) => [
    Math.floor(date.getTime() / 1000),
    String(Math.floor(date.getTime() / 1000)),
  ],
  ...shifted((date, ms) => new Date(date.getTime() + ms)),
};

const onDates = (all: Mistakes<Date>): Mistakes<string> =>
  Object.fromEntries(
    Object.entries(all).map(([words, make]) => [words, (stated, of) => make(new Date(stated), of)]),
  );

const messagesOfOthers = ({ endpoint, status }: Given['of']) =>
  endpointNames.flatMap((one) => (one === endpoint ? [] : (messageOf(one, status) ?? [])));

const messages: Mistakes<string> = {
  'it is the message of the other endpoint': (_, of) => messagesOfOthers(of),
  'its letter case differs': (right, of) =>
    [right.toLowerCase(), right.toUpperCase()].filter((text) => !messagesOfOthers(of).includes(text)),
  'white space is added at its end': (right) => [`${right} `, `${right}\n`],
};

/** What mistakes make of the values of answers. A mistake is named only if it explains all that is wrong. */
const mistakes = {
  amountInUsd: amounts,
  executedAt: { ...times, ...shifted((at: number, ms) => at + ms) },
  date_joined: onDates(dates),
  error: messages,
} as Readonly<Record<string, Mistakes<unknown>>>;

/** A value of an answer, what is right there, and where it stands. */
interface Given {
  readonly right: unknown;
  readonly given: unknown;
  readonly isRight: boolean;
  readonly of: { readonly endpoint: Endpoint; readonly status: number };
}

/** The right value of a field; undefined if there is none, or none for certain. */
const rightValues: Readonly<Record<string, (facts: Facts, status: number) => unknown>> = {
  amountInUsd: ({ deposit }) => deposit?.amountInUsd,
  executedAt: ({ deposit }) => deposit?.executedAt,
  date_joined: ({ user }) => user?.date_joined,
  error: ({ endpoint }, status) => messageOf(endpoint, status),
};

/** So many different values show a mistake: one fits by chance. A message needs only its one text. */
const ENOUGH = 2;

/**
 * Names the mistake that explains all wrong values of a field, such as `amountInUsd: it is 100 times as much (in cents?)`;
 * undefined if none does, or if a right value contradicts it.
 */
export function causeOf(
  { kind }: Pick<LookupRow, 'kind'>,
  { verdict, exchange }: Pick<Failure, 'verdict' | 'exchange'>,
  { log, known }: { readonly log: readonly Exchange[]; readonly known: Known },
): string | undefined {
  if (kind === 'repetition' || (verdict.aspect !== 'value' && verdict.aspect !== 'message')) return undefined;
  const { request, reply } = exchange;
  const asked = log.filter(
    (one) =>
      one.request.endpoint === request.endpoint &&
      reply.kind === 'answer' &&
      one.reply.kind === 'answer' &&
      one.reply.status === reply.status,
  );
  const named = Object.keys(mistakes).filter((field) => verdict.expected.includes(`"${field}"`));
  for (const field of named.length === 0 ? Object.keys(mistakes) : named) {
    const [shown] = valueIn(exchange, field, known);
    // Another field is wrong here.
    if (shown === undefined || shown.isRight) continue;
    const found = mistakeIn(
      field,
      asked.flatMap((one) => valueIn(one, field, known)),
    );
    if (found !== undefined) return `${field}: ${found}`;
  }
  return undefined;
}

function valueIn({ request, reply }: Exchange, field: string, known: Known): readonly Given[] {
  if (reply.kind !== 'answer') return [];
  const facts = factsOf(known, request);
  const given = fieldsOf(reply)?.[field];
  const right = facts && rightValues[field]!(facts, reply.status);
  if (right === undefined || given === undefined || given === null) return [];
  const { endpoint } = request;
  return [{ right, given, isRight: isSame(right, given), of: { endpoint, status: reply.status } }];
}

function mistakeIn(field: string, values: readonly Given[]): string | undefined {
  const wrong = values.filter(({ isRight }) => !isRight);
  const isMessage = field === 'error';
  const isEnough = isMessage || new Set(wrong.map(({ right }) => right)).size >= ENOUGH;
  const fitting = Object.entries(mistakes[field]!).filter(([words, make]) => {
    if (!isEnough && !Object.hasOwn(toCents, words)) return false;
    const fits = ({ right, given, of }: Given) => {
      const made = make(right, of);
      return (Array.isArray(made) ? made : [made]).some((one) => one !== undefined && isMade(one, given));
    };
    return wrong.every(fits) && (isMessage || values.every(fits));
  });
  return fitting.length > 2 ? undefined : fitting.map(([words]) => words).join(', or ') || undefined;
}

/** Numbers may differ by what a calculation with doubles loses. */
const PRECISION = 1e-9;

function isMade(made: unknown, given: unknown): boolean {
  if (made instanceof Date) return Math.abs(instantOf(given) - made.getTime()) < 0.5;
  if (typeof made !== 'number' || typeof given !== 'number') return made === given;
  return Math.abs(made - given) <= PRECISION * Math.abs(made);
}

/** The time of a text in ms; NaN if it has none. */
function instantOf(text: unknown): number {
  const { instant } = typeof text === 'string' ? readTimestamp(text) : {};
  return instant === undefined ? Number.NaN : (instant.seconds + Number(`0.${instant.fraction}`)) * 1000;
}

function isSame(right: unknown, given: unknown): boolean {
  if (typeof right !== 'string' || typeof given !== 'string') return right === given;
  const [stated, read] = [readTimestamp(right), readTimestamp(given)];
  if (stated.kind !== 'utc') return right === given;
  return read.kind === 'utc' && sameInstant(stated.instant, read.instant);
}
