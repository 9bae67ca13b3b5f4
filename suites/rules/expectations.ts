import { isDeepStrictEqual } from 'node:util';
import { messageOf, type Endpoint, type ErrorStatus } from '../../schemas/endpoints.ts';
import validateErrorBody from '../../schemas/generated/error-body.cjs';
import { repeatedNames, summary, writtenField, type Answer } from '../answer.ts';
import { readTimestamp } from './timestamp.ts';
import { failed, inconclusive, pass, type Expectation, type Verdict } from './verdict.ts';

/**
 * Expects an error answer of the interface (Errors). Status, JSON, shape and message are judged separately, so that
 * a result can say "right error, wrong text".
 */
export function expectError(endpoint: Endpoint, status: ErrorStatus): Expectation {
  const message = messageOf(endpoint, status) ?? '';
  const text = JSON.stringify({ error: message });
  const expected = `${status} ${text}`;
  return (answer) => {
    // Fast path: most answers are exactly this text.
    if (answer.status === status && answer.text === text) return pass;
    const actual = summary(answer);
    if (answer.status !== status) return failed('status', expected, actual);
    const body = expectErrorBody(expected)(answer);
    if (body.kind !== 'passed') return body;
    return fieldsOf(answer)?.['error'] === message ? pass : failed('message', expected, actual);
  };
}

/** Expects a body with exactly one field `error`, whatever its message is (Error body). */
export const expectErrorBody =
  (expected: string): Expectation =>
  (answer) => {
    const actual = summary(answer);
    if (!answer.json.ok) return failed('JSON', expected, nonObject(answer));
    if (!validateErrorBody(answer.json.value))
      return failed('shape', expected, `${actual} (not exactly one field "error", a string)`);
    return repeatedNames(answer.text).length > 0
      ? failed('shape', expected, `${actual} (two fields "error")`)
      : pass;
  };

/** The fields of a JSON object; undefined for any other body. */
export function fieldsOf({ json }: Answer): Readonly<Record<string, unknown>> | undefined {
  const value = json.ok ? json.value : undefined;
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined;
}

/** Whether an answer comes from a rate limiter, by its status or its message. No other row judges it. */
export const isLimiterAnswer = (endpoint: Endpoint, answer: Answer): boolean =>
  answer.status === 429 || fieldsOf(answer)?.['error'] === messageOf(endpoint, 429);

/** Describes an answer whose body is not a JSON object, and says why. */
export function nonObject(answer: Answer): string {
  const { json, text } = answer;
  // A long body must not hide the reason.
  const brief = summary({ ...answer, text: text.length > 200 ? `${text.slice(0, 200)}…` : text });
  if (json.ok) return `${brief} (not a JSON object)`;
  return text === '' ? brief : `${brief} (${json.why})`;
}

/** Whether an answer is 200 with this value in a field. */
const hasField = (name: string, value: unknown) => (answer: Answer) =>
  answer.status === 200 && fieldsOf(answer)?.[name] === value;

/** Expects 200 with this value in a field. */
const expectField = (name: string, value: unknown): Expectation => {
  const holds = hasField(name, value);
  const expected = `200 with "${name}": ${JSON.stringify(value)}`;
  return (answer) => {
    if (holds(answer)) return pass;
    if (answer.status !== 200) return failed('status', expected, summary(answer));
    return fieldsOf(answer) === undefined
      ? failed('JSON', expected, nonObject(answer))
      : failed('value', expected, summary(answer));
  };
};

/** The join date is judged separately. */
export const expectMember = expectField('is_under_ib', true);
export const expectNotMember = expectField('is_under_ib', false);
export const expectExecuted = expectField('status', 'EXECUTED');

/** Whether an answer shows a member, somebody else, or an EXECUTED deposit. */
export const isMember = hasField('is_under_ib', true);
export const isNoMember = hasField('is_under_ib', false);
export const isExecuted = hasField('status', 'EXECUTED');

/** Whether a body is an object with exactly these fields, each once. */
export function hasExactly(answer: Answer, ...names: readonly string[]): boolean {
  const found = Object.keys(fieldsOf(answer) ?? {});
  return found.toSorted().join() === names.toSorted().join() && repeatedNames(answer.text).length === 0;
}

/** Expects a number in an executed deposit result, compared as IEEE doubles. */
export function expectNumber(name: 'amountInUsd' | 'executedAt', value: number): Expectation {
  return (answer) => {
    const fields = answer.status === 200 ? fieldsOf(answer) : undefined;
    if (fields === undefined || !Object.hasOwn(fields, name))
      return inconclusive('depends', `not checked because the answer has no ${name}`);
    return fields[name] === value ? pass : failed('value', `"${name}": ${value}`, writtenField(answer, name));
  };
}

/**
 * The time of an EXECUTED deposit in an answer, if it can be Unix milliseconds (2001 to 2286).
 *
 * @param stated the time of the fixture, if it has one: it is right, whatever it is
 */
export function executedAtIn(answer: Answer, stated?: number): number | undefined {
  const time = isExecuted(answer) ? fieldsOf(answer)?.['executedAt'] : undefined;
  const isTime = typeof time === 'number' && (time === stated || (time >= 1e12 && time < 1e13));
  return isTime ? time : undefined;
}

/** Expects the full result of an executed deposit. Reports the first wrong field. */
export const expectDeposit =
  ({
    amountInUsd,
    executedAt,
  }: {
    readonly amountInUsd: number;
    readonly executedAt?: number;
  }): Expectation =>
  (answer) =>
    [
      expectExecuted,
      expectNumber('amountInUsd', amountInUsd),
      ...(executedAt === undefined ? [] : [expectNumber('executedAt', executedAt)]),
    ]
      .map((expectation) => expectation(answer))
      .find(({ kind }) => kind !== 'passed') ?? pass;

/** A JSON value whose join date is written in one form: machines may write the same instant in several. */
function inOneForm(value: unknown): unknown {
  const isObject = typeof value === 'object' && value !== null && 'date_joined' in value;
  if (!isObject || typeof value.date_joined !== 'string') return value;
  const reading = readTimestamp(value.date_joined);
  if (reading.kind !== 'utc') return value;
  const { seconds, fraction } = reading.instant;
  return { ...value, date_joined: [seconds, fraction.replace(/0+$/, '')] };
}

/** Holds if two answers have the same status and JSON value. The form of JSON and of instants may differ. */
export function sameAnswer(reference: Answer, answer: Answer): Verdict {
  const [one, other] = [reference.json, answer.json];
  // U+FFFD may stand for invalid bytes, so equal texts are not enough.
  const isSameBody =
    one.ok && other.ok
      ? isDeepStrictEqual(inOneForm(one.value), inOneForm(other.value))
      : one.ok === other.ok && reference.text === answer.text;
  return reference.status === answer.status && isSameBody
    ? pass
    : failed('value', summary(reference), summary(answer));
}
