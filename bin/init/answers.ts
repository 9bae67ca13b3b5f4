import { wrongUsage, type Problem } from '../../schemas/problem.ts';
import { classifyUuid } from '../../suites/inputs/uuids.ts';
import type { CliContext, Prompter } from '../cli-context.ts';
import { parseUrl } from '../network.ts';
import { parseDuration } from '../../schemas/values.ts';
import { readTimestamp } from '../../suites/rules/timestamp.ts';

/** The environment variable with the key. The fixture contains its name instead of the key. */
export const KEY_VARIABLE = 'IB_API_KEY';

interface Question {
  /** The flag or variable with the answer; without it, only a person can answer. */
  readonly source?: string;
  readonly message: string;
  /** What Enter means if the question need not be answered. */
  readonly enter?: string;
  /** It is asked only if this one was answered. */
  readonly after?: string;
  readonly isSecret?: boolean;
  /** Returns the problem of an invalid answer. */
  readonly problem: (text: string) => string | undefined;
}

const unless = (isRight: boolean, problem: string) => (isRight ? undefined : problem);
const limit = (text: string) =>
  unless(limitIn(text) !== undefined, `${text}: needs a number and a time, such as 60/1m`);
const enter = 'take what the server says';

/** The questions, in their order. */
const questions = {
  url: {
    source: '--url',
    message: 'URL of the server ({base_url})',
    problem: (text) => {
      try {
        return void parseUrl(text);
      } catch (error) {
        return (error as Problem).message;
      }
    },
  },
  key: {
    source: KEY_VARIABLE,
    message: 'API key of the partner (is not shown, and is written to no file)',
    isSecret: true,
    problem: (text) =>
      unless(/^[!-~]+$/.test(text), 'a header cannot contain this key: use visible ASCII without spaces'),
  },
  member: {
    source: '--member',
    message: 'user_id of a user under the IB',
    enter: 'none',
    problem: (text) => unless(classifyUuid(text) === 'v4', `${text}: is not a UUID of version 4`),
  },
  dateJoined: {
    message: 'date_joined of this user in your records',
    enter,
    after: 'member',
    problem: (text) =>
      unless(
        dateIn(text) !== undefined && /(?:Z|[+-]\d\d:?\d\d)$/.test(text),
        `${text}: needs a time with its zone, such as 2024-02-29T23:59:59.999Z`,
      ),
  },
  executed: {
    source: '--executed',
    message: 'reference_id of an EXECUTED deposit of that user',
    enter: 'none',
    after: 'member',
    problem: (text) => unless(['v4', 'other-version'].includes(classifyUuid(text)), `${text}: is not a UUID`),
  },
  amountInUsd: {
    message: 'amountInUsd of this deposit in your records',
    enter,
    after: 'executed',
    problem: (text) => unless(amountIn(text) !== undefined, `${text}: needs an amount, such as 250.5`),
  },
  executedAt: {
    message: 'executedAt of this deposit in your records',
    enter,
    after: 'executed',
    problem: (text) =>
      unless(timeIn(text) !== undefined, `${text}: needs Unix milliseconds, or 2024-01-15T10:30:00Z`),
  },
  failedLookups: {
    source: '--failed-lookups',
    message: 'failed lookups of user-status until 429, such as 60/1m',
    enter: "I don't know",
    problem: limit,
  },
  requests: {
    source: '--requests',
    message: 'requests of deposit-check until 429, such as 250/1m',
    enter: "I don't know",
    problem: limit,
  },
} as const satisfies Readonly<Record<string, Question>>;

type Name = keyof typeof questions;

/** What was typed or given by flags; undefined: no answer. */
export type Answers = Readonly<Record<Exclude<Name, 'url' | 'key'>, string | undefined>> &
  Readonly<Record<'url' | 'key', string>>;

/**
 * Takes answers from flags and the environment, and asks for missing ones.
 *
 * @param prompter undefined without a terminal
 * @throws Problem with code `usage` for an invalid or missing answer, `interrupted` on Ctrl-C
 */
export async function collectAnswers(
  flags: Partial<Readonly<Record<Name, string | undefined>>>,
  env: CliContext['env'],
  prompter: Prompter | undefined,
): Promise<Answers> {
  const answers: Partial<Record<string, string>> = {};
  const all = Object.entries<Question>(questions);
  for (const [name, { source = '', isSecret, problem }] of all) {
    const text = name === 'key' ? env[KEY_VARIABLE] || undefined : flags[name as Name];
    const found = text === undefined ? undefined : problem(text);
    if (found !== undefined) throw wrongUsage(isSecret === true ? found : `${source} ${found}`);
    if (text !== undefined) answers[name] = text;
  }
  for (const [name, question] of all) {
    const isWanted = question.after === undefined || answers[question.after] !== undefined;
    const text = isWanted ? (answers[name] ?? (await ask(question, prompter))) : undefined;
    if (text !== undefined) answers[name] = text;
  }
  if (answers['executed'] !== undefined && answers['member'] === undefined)
    throw wrongUsage('--executed needs --member: a deposit belongs to a user');
  return answers as Answers;
}

async function ask(
  { source, message, enter: meaning, isSecret = false, problem }: Question,
  prompter: Prompter | undefined,
): Promise<string | undefined> {
  if (prompter === undefined && meaning !== undefined) return undefined;
  if (prompter === undefined)
    throw wrongUsage(`${source} is missing, and there is no terminal to ask for it`);
  const text = await prompter.ask({
    message: meaning === undefined ? message : `${message} (Enter: ${meaning})`,
    isSecret,
    problem: (answer) => (meaning !== undefined && answer === '' ? undefined : problem(answer)),
  });
  return text === '' ? undefined : text;
}

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
