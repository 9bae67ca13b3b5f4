import { isDeepStrictEqual } from 'node:util';
import { endpoints, type Endpoint, type ErrorStatus } from '../schemas/endpoints.ts';
import validateErrorBody from '../schemas/generated/error-body.cjs';
import { repeatedNames, summary, type Answer } from './answer.ts';
import { depends, failed, held, type Expectation, type Verdict } from './verdict.ts';

/**
 * An error answer as the interface spells it out (Errors): status, JSON, shape and message are
 * judged apart, so that the result reads "right error, wrong text".
 */
export function errorAnswer<Name extends Endpoint>(endpoint: Name, status: ErrorStatus<Name>): Expectation {
  const messages: Readonly<Record<number, string>> = endpoints[endpoint].messages;
  const message = messages[status] ?? '';
  const text = JSON.stringify({ error: message });
  const expected = `${status} ${text}`;
  return (answer) => {
    // Most answers are just that: only what is written otherwise takes a closer look.
    if (answer.status === status && answer.text === text) return held;
    const actual = summary(answer);
    if (answer.status !== status) return failed('status', expected, actual);
    if (!answer.json.ok) return failed('JSON', expected, noObject(answer));
    const body = answer.json.value;
    if (!validateErrorBody(body))
      return failed('shape', expected, `${actual} (not exactly one field "error", a string)`);
    if (repeatedNames(answer.text).length > 0)
      return failed('shape', expected, `${actual} (two fields "error")`);
    return body.error === message ? held : failed('message', expected, actual);
  };
}

/** The fields of a JSON object; undefined for any other body. */
export function fieldsOf({ json }: Answer): Readonly<Record<string, unknown>> | undefined {
  const value = json.ok ? json.value : undefined;
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined;
}

/** An answer whose body is no JSON object, and why it is none. */
export function noObject(answer: Answer): string {
  const { json, text } = answer;
  // The reason must not drown in what a target sends.
  const brief = summary({ ...answer, text: text.length > 200 ? `${text.slice(0, 200)}…` : text });
  if (json.ok) return `${brief} (not a JSON object)`;
  return text === '' ? brief : `${brief} (${json.why})`;
}

/** 200 and a field of this very value. */
const says =
  (name: string, value: unknown): Expectation =>
  (answer) => {
    const expected = `200 with "${name}": ${JSON.stringify(value)}`;
    if (answer.status !== 200) return failed('status', expected, summary(answer));
    const fields = fieldsOf(answer);
    if (fields === undefined) return failed('JSON', expected, noObject(answer));
    return fields[name] === value ? held : failed('value', expected, summary(answer));
  };

/** The join date is judged apart. */
export const saysMember = says('is_under_ib', true);
export const saysNotMember = says('is_under_ib', false);
export const saysExecuted = says('status', 'EXECUTED');

/** Whether a body is an object of exactly these fields, each once. */
export function hasExactly(answer: Answer, ...names: readonly string[]): boolean {
  const found = Object.keys(fieldsOf(answer) ?? {});
  return found.toSorted().join() === names.toSorted().join() && repeatedNames(answer.text).length === 0;
}

/** A value as JSON; a number that is too large for a double is none there. */
const shown = (value: unknown) =>
  value === Infinity || value === -Infinity ? String(value) : JSON.stringify(value);

/** A field of an executed deposit result equals what the fixture says, as an IEEE double. */
export function saysNumber(name: 'amountInUsd' | 'executedAt', value: number): Expectation {
  return (answer) => {
    const fields = answer.status === 200 ? fieldsOf(answer) : undefined;
    if (fields === undefined || !Object.hasOwn(fields, name)) return depends('valid/deposit-check/shape');
    return fields[name] === value
      ? held
      : failed('value', `"${name}": ${value}`, `"${name}": ${shown(fields[name])}`);
  };
}

/** The whole result of an executed deposit: the first field that is wrong counts. */
export const executedResult =
  ({
    amountInUsd,
    executedAt,
  }: {
    readonly amountInUsd: number;
    readonly executedAt?: number;
  }): Expectation =>
  (answer) =>
    [
      saysExecuted,
      saysNumber('amountInUsd', amountInUsd),
      ...(executedAt === undefined ? [] : [saysNumber('executedAt', executedAt)]),
    ]
      .map((expectation) => expectation(answer))
      .find(({ kind }) => kind !== 'held') ?? held;

/** The two answers say the same: status and JSON value, whatever the spelling of the JSON. */
export function sameAnswer(reference: Answer, answer: Answer): Verdict {
  const [one, other] = [reference.json, answer.json];
  // What is not UTF-8 may look like what is.
  const isSameBody =
    one.ok && other.ok
      ? isDeepStrictEqual(one.value, other.value)
      : one.ok === other.ok && reference.text === answer.text;
  return reference.status === answer.status && isSameBody
    ? held
    : failed('value', summary(reference), summary(answer));
}
