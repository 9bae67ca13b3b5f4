import { endpoints, type Endpoint } from '../../schemas/endpoints.ts';
import { answerWith, editPayload, editResponse, type Change } from './change.ts';
import {
  allErrorRows,
  both,
  errorRows,
  noServerErrors,
  rowsOf,
  setJson,
  type Fault,
  type Faults,
} from './table.ts';

type Entry = readonly [id: string, fault: Fault];

const errors = both.flatMap((endpoint) =>
  Object.entries(endpoints[endpoint].messages).map(([status, message]) => ({
    endpoint,
    status: Number(status),
    message,
  })),
);

/** Messages that are nearly right. */
const misspellings: Readonly<Record<string, readonly [how: string, spell: (message: string) => string]>> = {
  'with-letter-doubled': ['its second letter doubled', (text) => text.slice(0, 2) + text.slice(1)],
  'in-other-case': [
    'its letters in the other case',
    (text) => (text === text.toUpperCase() ? text.toLowerCase() : text.toUpperCase()),
  ],
  'with-other-end': [
    'a full stop more or less',
    (text) => (text.endsWith('.') ? text.slice(0, -1) : `${text}.`),
  ],
  'with-space-behind': ['a space behind it', (text) => `${text} `],
};

type Payload = Readonly<Record<string, unknown>>;
type ChangeOf = (endpoint: Endpoint) => Change;

const shaped =
  (edit: (payload: Payload) => unknown): ChangeOf =>
  (endpoint) =>
    editPayload({ endpoint }, (payload) => ('error' in payload ? edit(payload) : payload));

const written =
  (write: (message: string) => string): ChangeOf =>
  (endpoint) =>
    editResponse({ endpoint }, ({ status }) => {
      const error = errors.find((one) => one.endpoint === endpoint && one.status === status);
      return error ? { body: write(error.message) } : {};
    });

/** Error bodies of another shape, or that are no JSON. */
const bodies: Readonly<Record<string, readonly [how: string, changeOf: ChangeOf]>> = {
  'field-called-message': ['call their field `message`', shaped(({ error }) => ({ message: error }))],
  'field-called-detail': [
    'follow RFC 9457 (title, status)',
    shaped(({ error }) => ({ title: error, status: 400 })),
  ],
  'with-second-field': ['have a second field', shaped((payload) => ({ ...payload, code: 'E1' }))],
  'with-null-field': ['have a second field, null', shaped((payload) => ({ ...payload, data: null }))],
  nested: ['nest their message in an object', shaped(({ error }) => ({ error: { message: error } }))],
  'with-list': ['hold a list of messages', shaped(({ error }) => ({ error: [error] }))],
  'in-list': ['are wrapped in a list', shaped((payload) => [payload])],
  'as-bare-text': ['are a JSON text and no object', shaped(({ error }) => error)],
  'encoded-twice': ['are encoded as JSON twice', shaped((payload) => JSON.stringify(payload))],
  'as-plain-text': ['are the bare message', written((message) => message)],
  'as-html': ['are HTML', written((message) => `<html><body><h1>${message}</h1></body></html>`)],
  empty: ['have no body', written(() => '')],
  'in-single-quotes': ['are quoted like Python', written((message) => `{'error': '${message}'}`)],
  'with-trailing-comma': ['have a trailing comma', written((message) => `{"error": "${message}",}`)],
};

const entry = (id: string, what: string, fails: readonly string[], change: Change): Entry => [
  id,
  { what, fails, change },
];

const misspelt = errors.flatMap(({ endpoint, status, message }) =>
  Object.entries(misspellings).map(([id, [how, spell]]) =>
    entry(
      `${endpoint}-${status}-${id}`,
      `The message of ${endpoint} with ${status} has ${how}.`,
      errorRows[endpoint][status] ?? [],
      setJson({ endpoint, status }, { error: spell(message) }),
    ),
  ),
);

const confused = errors.flatMap(({ endpoint, status }) =>
  errors
    .filter((other) => other.endpoint !== endpoint && other.status === status)
    .map((other) =>
      entry(
        `${endpoint}-${status}-of-${other.endpoint}`,
        `${endpoint} answers ${status} with the message of ${other.endpoint}.`,
        errorRows[endpoint][status] ?? [],
        setJson({ endpoint, status }, { error: other.message }),
      ),
    ),
);

const rewritten = both.flatMap((endpoint) =>
  Object.entries(bodies).map(([id, [how, changeOf]]) =>
    entry(
      `${endpoint}-errors-${id}`,
      `Errors of ${endpoint} ${how}.`,
      allErrorRows(endpoint),
      changeOf(endpoint),
    ),
  ),
);

/** Endpoint, right status and wrong status of errors with the right body. */
const wrongStatuses: readonly (readonly [Endpoint, number, number])[] = [
  ['user-status', 400, 422],
  ['user-status', 400, 200],
  ['user-status', 401, 403],
  ['user-status', 401, 400],
  ['user-status', 429, 503],
  ['user-status', 429, 403],
  ['deposit-check', 400, 422],
  ['deposit-check', 400, 404],
  ['deposit-check', 401, 403],
  ['deposit-check', 401, 200],
  ['deposit-check', 404, 200],
  ['deposit-check', 404, 410],
  ['deposit-check', 429, 503],
  ['deposit-check', 429, 400],
];

const never429 = {
  'user-status': rowsOf('rate-limit', ['user-status'], 'failed-lookups', 'message'),
  'deposit-check': rowsOf('rate-limit', ['deposit-check'], 'requests', 'message'),
} as const;

const restated = wrongStatuses.map(([endpoint, status, wrong]) =>
  entry(
    `${endpoint}-${wrong}-for-${status}`,
    `${endpoint} answers ${wrong} where ${status} is due.`,
    [
      ...(status === 429 ? never429[endpoint] : (errorRows[endpoint][status] ?? [])),
      ...(status === 400 && wrong < 400 ? rowsOf('invalid-uuid', [endpoint], 'hostile') : []),
      ...(wrong >= 500 ? [noServerErrors] : []),
    ],
    answerWith({ endpoint, status }, wrong),
  ),
);

/** Errors with a wrong message, body or status, made from the table of messages (Errors, Error body). */
export const errorFaults: Faults = Object.fromEntries([...misspelt, ...confused, ...rewritten, ...restated]);
