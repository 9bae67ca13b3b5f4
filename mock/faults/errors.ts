import { endpoints, type Endpoint } from '../../schemas/endpoints.ts';
import { answerWith, editPayload, editResponse, setJson, type Edit } from './edits.ts';
import { allErrors, answers, define, errorIds, merge, noServerErrors, perEndpoint, idsIn } from './define.ts';
import type { Faults } from './define.ts';

/** Returns the message of an endpoint for a status; undefined: it has none. */
const messageOf = (endpoint: Endpoint, status: number) =>
  (endpoints[endpoint].messages as Readonly<Record<number, string>>)[status];

/** Defines faults for each error of each endpoint. */
const perError = (faultsOn: (endpoint: Endpoint, status: number, message: string) => Faults) =>
  perEndpoint((endpoint) => {
    const errors = Object.entries(endpoints[endpoint].messages);
    return merge(errors.map(([status, message]) => faultsOn(endpoint, Number(status), message)));
  });

type Spell = (message: string) => string;
const misspellings: Readonly<Record<string, Spell>> = {
  'with-letter-doubled: has its second letter doubled': (text) => text.slice(0, 2) + text.slice(1),
  'in-other-case: has its letters in the other case': (text) =>
    text === text.toUpperCase() ? text.toLowerCase() : text.toUpperCase(),
  'with-other-end: has a full stop added or removed at its end': (text) =>
    text.endsWith('.') ? text.slice(0, -1) : `${text}.`,
  'with-space-behind: has a trailing space': (text) => `${text} `,
};

type Payload = Readonly<Record<string, unknown>>;
const shaped = (edit: (payload: Payload) => unknown) =>
  editPayload((payload) => ('error' in payload ? edit(payload) : payload));
const written = (write: Spell) =>
  editResponse(({ status }, { call }) => {
    const message = call && messageOf(call.endpoint, status);
    return message === undefined ? {} : { body: write(message) };
  });

const bodies: Readonly<Record<string, Edit>> = {
  'field-called-message: use the field `message`': shaped(({ error }) => ({ message: error })),
  'field-called-detail: follow RFC 9457': shaped(({ error }) => ({ title: error, status: 400 })),
  'with-second-field: have a second field': shaped((payload) => ({ ...payload, code: 'E1' })),
  'with-null-field: have a second field, null': shaped((payload) => ({ ...payload, data: null })),
  'nested: nest their message in an object': shaped(({ error }) => ({ error: { message: error } })),
  'with-list: hold a list of messages': shaped(({ error }) => ({ error: [error] })),
  'in-list: are wrapped in a list': shaped((payload) => [payload]),
  'as-bare-text: are a JSON string instead of an object': shaped(({ error }) => error),
  'encoded-twice: are encoded as JSON twice': shaped((payload) => JSON.stringify(payload)),
  'as-plain-text: are the message without JSON': written((message) => message),
  'as-html: are HTML': written((message) => `<html><body><h1>${message}</h1></body></html>`),
  'empty: have no body': written(() => ''),
  'in-single-quotes: have single quotes, as in Python': written((message) => `{'error': '${message}'}`),
  'with-trailing-comma: have a trailing comma': written((message) => `{"error": "${message}",}`),
};

const wrongStatuses: Readonly<Record<Endpoint, Readonly<Record<number, readonly number[]>>>> = {
  'user-status': { 400: [422, 200], 401: [403, 400], 429: [503, 403] },
  'deposit-check': { 400: [422, 404], 401: [403, 200], 404: [200, 410], 429: [503, 400] },
};

const never429 = {
  'user-status': idsIn('rate-limit', ['user-status'], 'failed-lookups', 'message'),
  'deposit-check': idsIn('rate-limit', ['deposit-check'], 'requests', 'message'),
} as const;

/** Errors with a wrong message, body or status (Errors, Error body). */
export const errorFaults: Faults = {
  ...perError((endpoint, status, message) => {
    const change = (spell: Spell) => setJson({ error: spell(message) })({ endpoint, status });
    const place = { id: `${endpoint}-${status}`, what: `The message of ${endpoint} with ${status}`, change };
    return define(place, errorIds[endpoint][status] ?? [], misspellings);
  }),
  ...perError((endpoint, status) => {
    const other = endpoint === 'user-status' ? 'deposit-check' : 'user-status';
    const error = messageOf(other, status);
    if (error === undefined) return {};
    const place = answers(`${endpoint}-${status}`, endpoint, { endpoint, status });
    const row = `of-${other}: answers ${status} with the message of ${other}`;
    return define(place, errorIds[endpoint][status] ?? [], { [row]: setJson({ error }) });
  }),
  ...perEndpoint((endpoint) =>
    define(answers(`${endpoint}-errors`, `Errors of ${endpoint}`, { endpoint }), allErrors(endpoint), bodies),
  ),
  ...perError((endpoint, status) =>
    merge(
      (wrongStatuses[endpoint][status] ?? []).map((wrong) => {
        const fails = [
          ...(status === 429 ? never429[endpoint] : (errorIds[endpoint][status] ?? [])),
          ...(status === 400 && wrong < 400 ? idsIn('invalid-uuid', [endpoint], 'hostile') : []),
          ...(wrong >= 500 ? [noServerErrors] : []),
        ];
        const row = `${wrong}-for-${status}: answers ${wrong} instead of ${status}`;
        return define(answers(endpoint, endpoint, { endpoint, status }), fails, {
          [row]: answerWith(wrong),
        });
      }),
    ),
  ),
};
