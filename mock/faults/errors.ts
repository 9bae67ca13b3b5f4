import { endpoints, type Endpoint } from '../../schemas/endpoints.ts';
import { answerWith, editPayload, editResponse } from './change.ts';
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

/** Error bodies of another shape. */
const shapes: Readonly<Record<string, readonly [how: string, edit: (payload: Payload) => unknown]>> = {
  'field-called-message': ['call their field `message`', ({ error }) => ({ message: error })],
  'field-called-detail': ['follow RFC 9457 (title, status)', ({ error }) => ({ title: error, status: 400 })],
  'with-second-field': ['have a second field', (payload) => ({ ...payload, code: 'E1' })],
  'with-null-field': ['have a second field, null', (payload) => ({ ...payload, data: null })],
  nested: ['nest their message in an object', ({ error }) => ({ error: { message: error } })],
  'with-list': ['hold a list of messages', ({ error }) => ({ error: [error] })],
  'in-list': ['are wrapped in a list', (payload) => [payload]],
  'as-bare-text': ['are a JSON text and no object', ({ error }) => error],
  'encoded-twice': ['are encoded as JSON twice', (payload) => JSON.stringify(payload)],
};

/** Error bodies that are no JSON. */
const texts: Readonly<Record<string, readonly [how: string, write: (message: string) => string]>> = {
  'as-plain-text': ['are the bare message', (message) => message],
  'as-html': ['are HTML', (message) => `<html><body><h1>${message}</h1></body></html>`],
  empty: ['have no body', () => ''],
  'in-single-quotes': ['are quoted like Python', (message) => `{'error': '${message}'}`],
  'with-trailing-comma': ['have a trailing comma', (message) => `{"error": "${message}",}`],
};

const misspelt = errors.flatMap(({ endpoint, status, message }) =>
  Object.entries(misspellings).map(([id, [how, spell]]): Entry => [
    `${endpoint}-${status}-${id}`,
    {
      what: `The message of ${endpoint} with ${status} has ${how}.`,
      fails: errorRows[endpoint][status] ?? [],
      change: setJson({ endpoint, status }, { error: spell(message) }),
    },
  ]),
);

const confused = errors.flatMap((one) =>
  errors
    .filter(({ endpoint, status }) => endpoint !== one.endpoint && status === one.status)
    .map((other): Entry => [
      `${one.endpoint}-${one.status}-of-${other.endpoint}`,
      {
        what: `${one.endpoint} answers ${one.status} with the message of ${other.endpoint}.`,
        fails: errorRows[one.endpoint][one.status] ?? [],
        change: setJson({ endpoint: one.endpoint, status: one.status }, { error: other.message }),
      },
    ]),
);

const reshaped = both.flatMap((endpoint) =>
  Object.entries(shapes).map(([id, [how, edit]]): Entry => [
    `${endpoint}-errors-${id}`,
    {
      what: `Errors of ${endpoint} ${how}.`,
      fails: allErrorRows(endpoint),
      change: editPayload({ endpoint }, (payload) => ('error' in payload ? edit(payload) : payload)),
    },
  ]),
);

const rewritten = both.flatMap((endpoint) =>
  Object.entries(texts).map(([id, [how, write]]): Entry => [
    `${endpoint}-errors-${id}`,
    {
      what: `Errors of ${endpoint} ${how}.`,
      fails: allErrorRows(endpoint),
      change: editResponse({ endpoint }, ({ status }) => {
        const error = errors.find((one) => one.endpoint === endpoint && one.status === status);
        return error ? { body: write(error.message) } : {};
      }),
    },
  ]),
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
  'user-status': ['rate-limit/user-status/failed-lookups'],
  'deposit-check': ['rate-limit/deposit-check/requests'],
} as const;

const restated = wrongStatuses.map(([endpoint, status, wrong]): Entry => [
  `${endpoint}-${wrong}-for-${status}`,
  {
    what: `${endpoint} answers ${wrong} where ${status} is due.`,
    fails: [
      ...(status === 429 ? never429[endpoint] : (errorRows[endpoint][status] ?? [])),
      ...(status === 400 && wrong < 400 ? rowsOf('invalid-uuid', [endpoint], 'hostile') : []),
      ...(wrong >= 500 ? [noServerErrors] : []),
    ],
    change: answerWith({ endpoint, status }, wrong),
  },
]);

/** Errors with a wrong message, body or status, made from the table of messages (Errors, Error body). */
export const errorFaults: Faults = Object.fromEntries([
  ...misspelt,
  ...confused,
  ...reshaped,
  ...rewritten,
  ...restated,
]);
