import type { Endpoint } from '../../schemas/endpoints.ts';
import type { Payload } from '../answer.ts';
import type { Behaviour } from '../behaviour.ts';
import type { Exchange, FindingKind, HttpResponse } from '../exchange.ts';

/** Changes a behaviour. State is kept per call, so each server has its own. */
export type Change = (behaviour: Behaviour) => Behaviour;

/** The changed members of a behaviour. */
export type Difference = Partial<Behaviour> | ((from: Behaviour) => Partial<Behaviour>);

export const changeBy =
  (difference: Difference): Change =>
  (from) => ({ ...from, ...(typeof difference === 'function' ? difference(from) : difference) });

/** Selects answers. A missing criterion matches all. */
export interface Filter {
  readonly endpoint?: Endpoint;
  readonly kinds?: readonly FindingKind[];
  readonly status?: number;
  readonly where?: (exchange: Exchange) => boolean;
}

/** Creates a change of the selected answers. */
export type Edit = (when?: Filter) => Change;

function matches(when: Filter, status: number, exchange: Exchange): boolean {
  return (
    (when.endpoint === undefined || when.endpoint === exchange.call?.endpoint) &&
    (when.kinds === undefined || when.kinds.includes(exchange.finding.kind)) &&
    (when.status === undefined || when.status === status) &&
    (when.where === undefined || when.where(exchange))
  );
}

type EditPayload = (payload: Readonly<Record<string, unknown>>, exchange: Exchange) => unknown;
type EditResponse = (response: HttpResponse, exchange: Exchange) => Partial<HttpResponse>;

/** Changes the payload of an answer before it is serialized. */
export const editPayload =
  (edit: EditPayload): Edit =>
  (when = {}) =>
    changeBy((from) => ({
      payload: (status, exchange) => {
        const payload = from.payload(status, exchange);
        return matches(when, status, exchange) ? (edit({ ...payload }, exchange) as Payload) : payload;
      },
    }));

/** Changes parts of the response. */
export const editResponse =
  (edit: EditResponse): Edit =>
  (when = {}) =>
    changeBy((from) => ({
      transform: (response, exchange) => {
        const finished = from.transform(response, exchange);
        return matches(when, finished.status, exchange)
          ? { ...finished, ...edit(finished, exchange) }
          : finished;
      },
    }));

/** Adds or replaces fields of the JSON object. */
export const setFields = (fields: Readonly<Record<string, unknown>>) =>
  editPayload((payload) => ({ ...payload, ...fields }));

/** Replaces the JSON. */
export const setJson = (json: unknown) => editPayload(() => json);

/** Rewrites the body. */
export const editBody = (write: (body: string) => HttpResponse['body']) =>
  editResponse(({ body }) => ({ body: write(body.toString()) }));

/** Adds or replaces header fields. */
export const editHeaders = (fields: (exchange: Exchange) => Record<string, string>) =>
  editResponse(({ headers }, exchange) => ({ headers: { ...headers, ...fields(exchange) } }));

/** Adds or replaces a header field. */
export const setHeader = (name: string, value: string) => editHeaders(() => ({ [name]: value }));

/** Removes a header field. */
export const dropHeader = (name: string) =>
  editResponse(({ headers: { [name]: _, ...headers } }) => ({ headers }));

/** Replaces the status, and the body if one is given. */
export const answerWith = (status: number, body?: unknown) =>
  editResponse(() => ({ status, ...(body !== undefined && { body: JSON.stringify(body) }) }));

/** Answers 204, without a body. */
export const noContent = editResponse(() => ({ status: 204, body: '' }));

/** Answers 500, like an unhandled exception behind a proxy. */
export const crash = answerWith(500, { error: 'Internal server error' });

/** Resets the connection without an answer. */
export const dropConnection = editResponse(() => ({ transportFault: 'reset' }));

/** Limits an edit to exchanges for which `where` holds. */
export const onlyIf =
  (where: (exchange: Exchange) => boolean, edit: Edit): Edit =>
  (when) =>
    edit({ ...when, where });

/** Creates a function that counts the exchanges with the same name. */
const countBy = (nameOf: (exchange: Exchange) => string) => () => {
  const seen = new Map<string, number>();
  return (exchange: Exchange) => {
    const name = nameOf(exchange);
    const times = (seen.get(name) ?? 0) + 1;
    seen.set(name, times);
    return times;
  };
};

/** Creates a function that counts the exchanges with the same target and header fields. */
export const countRepeats = countBy(
  ({ request: { target, headers, rawHeaders } }) => `${JSON.stringify(rawHeaders ?? headers)} ${target}`,
);

/** Creates a function that counts the exchanges with the same id and key. */
export const countAsked = countBy(
  ({ request: { headers }, call }) =>
    `${headers.authorization} ${call?.endpoint} ${(call?.value ?? '').toLowerCase()}`,
);

/** Edits from the third request on with the same target and header fields. */
export const fromThird =
  (edit: Edit): Edit =>
  (when) =>
  (behaviour) => {
    const timesOf = countRepeats();
    return edit({ ...when, where: (exchange) => timesOf(exchange) > 2 })(behaviour);
  };

/**
 * Answers again what the server answered before, for some time. Each key has its own answers.
 *
 * @param stored kinds of answers that are kept, for `ms`
 * @param also kinds of answers that kept ones replace as well
 */
export const cached =
  (ms: number, stored: readonly FindingKind[], also: readonly FindingKind[] = []): Difference =>
  (behaviour) => {
    const keptAnswers = new Map<string, { readonly response: HttpResponse; readonly until: number }>();
    return editResponse((response, { request, now, finding }) => {
      const name = `${request.method} ${request.headers.authorization} ${request.target}`;
      const kept = keptAnswers.get(name);
      if (kept !== undefined && now < kept.until) return kept.response;
      if (stored.includes(finding.kind)) keptAnswers.set(name, { response, until: now + ms });
      return response;
    })({ kinds: [...stored, ...also] })(behaviour);
  };

/** Also accepts values that pass `test` as ids; `id` returns the id to look up. */
export const accept = (
  which: readonly Endpoint[],
  test: (value: string, endpoint: Endpoint) => boolean,
  id: (value: string) => string = (value) => value.toLowerCase(),
): Change =>
  changeBy(({ isValidId, normalizeId }) => ({
    isValidId: (endpoint, value) =>
      isValidId(endpoint, value) || (which.includes(endpoint) && test(value, endpoint)),
    normalizeId: (endpoint, value) => (isValidId(endpoint, value) ? normalizeId(endpoint, value) : id(value)),
  }));
