import { editPayload, editResponse } from '../change.ts';
import { endpointNames, errors, faultsOf } from './named-errors.ts';
import { allErrorRows, type Fault, type Faults } from './rows.ts';

/** Error bodies of another shape, for all errors of an endpoint. */
const shapes = {
  'field-called-message': { how: 'call their field `message`', edit: ({ error }) => ({ message: error }) },
  'field-called-detail': {
    how: 'follow RFC 9457 (title, status)',
    edit: ({ error }) => ({ title: error, status: 400 }),
  },
  'with-second-field': { how: 'have a second field', edit: (payload) => ({ ...payload, code: 'E1' }) },
  'with-null-field': { how: 'have a second field, null', edit: (payload) => ({ ...payload, data: null }) },
  nested: { how: 'nest their message in an object', edit: ({ error }) => ({ error: { message: error } }) },
  'with-list': { how: 'hold a list of messages', edit: ({ error }) => ({ error: [error] }) },
  'in-list': { how: 'are wrapped in a list', edit: (payload) => [payload] },
  'as-bare-text': { how: 'are a JSON text and no object', edit: ({ error }) => error },
  'encoded-twice': { how: 'are encoded as JSON twice', edit: (payload) => JSON.stringify(payload) },
} as const satisfies Record<
  string,
  { how: string; edit: (payload: Readonly<Record<string, unknown>>) => unknown }
>;

const reshaped = endpointNames.flatMap((endpoint) =>
  Object.entries(shapes).map(([id, { how, edit }]): readonly [string, Fault] => [
    `${endpoint}-errors-${id}`,
    {
      what: `Errors of ${endpoint} ${how}.`,
      fails: allErrorRows(endpoint),
      change: editPayload(
        { endpoint, where: ({ finding }) => !['member', 'executed'].includes(finding.kind) },
        (payload) => ('error' in payload ? edit(payload) : payload),
      ),
    },
  ]),
);

/** Error bodies that are no JSON. */
const texts = {
  'as-plain-text': { how: 'are the bare message', write: (message) => message },
  'as-html': { how: 'are HTML', write: (message) => `<html><body><h1>${message}</h1></body></html>` },
  empty: { how: 'have no body', write: () => '' },
  'in-single-quotes': { how: 'are quoted like Python', write: (message) => `{'error': '${message}'}` },
  'with-trailing-comma': { how: 'have a trailing comma', write: (message) => `{"error": "${message}",}` },
} as const satisfies Record<string, { how: string; write: (message: string) => string }>;

const rewritten = endpointNames.flatMap((endpoint) =>
  Object.entries(texts).map(([id, { how, write }]): readonly [string, Fault] => [
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

/** Errors with a body of another shape (Error body). */
export const errorBodyFaults: Faults = faultsOf([...reshaped, ...rewritten]);
