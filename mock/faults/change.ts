import type { Endpoint } from '../../schemas/endpoints.ts';
import type { Payload } from '../answer.ts';
import type { Behaviour } from '../behaviour.ts';
import type { Exchange, FindingKind, HttpResponse } from '../exchange.ts';

/** A deviation from a behaviour, or a legal variant of it. What it remembers, it remembers per server. */
export type Change = (behaviour: Behaviour) => Behaviour;

/** What is other than in a behaviour. */
export type Difference = Partial<Behaviour> | ((from: Behaviour) => Partial<Behaviour>);

export const differing =
  (difference: Difference): Change =>
  (from) => ({ ...from, ...(typeof difference === 'function' ? difference(from) : difference) });

/** Which answers a change concerns; what is left out concerns all. */
export interface When {
  readonly endpoint?: Endpoint;
  readonly kinds?: readonly FindingKind[];
  readonly status?: number;
  readonly where?: (exchange: Exchange) => boolean;
}

/** Another way to answer, for the answers that it is given. */
export type Edit = (when?: When) => Change;

function concerns(when: When, status: number, exchange: Exchange): boolean {
  return (
    (when.endpoint === undefined || when.endpoint === exchange.call?.endpoint) &&
    (when.kinds === undefined || when.kinds.includes(exchange.finding.kind)) &&
    (when.status === undefined || when.status === status) &&
    (when.where === undefined || when.where(exchange))
  );
}

type EditPayload = (payload: Readonly<Record<string, unknown>>, exchange: Exchange) => unknown;
type EditResponse = (response: HttpResponse, exchange: Exchange) => Partial<HttpResponse>;

/** Changes the content of an answer, before it is written as JSON. */
export const editPayload =
  (edit: EditPayload): Edit =>
  (when = {}) =>
    differing((from) => ({
      payload: (status, exchange) => {
        const payload = from.payload(status, exchange);
        return concerns(when, status, exchange) ? (edit({ ...payload }, exchange) as Payload) : payload;
      },
    }));

/** Changes parts of an answer, after it is written. */
export const editResponse =
  (edit: EditResponse): Edit =>
  (when = {}) =>
    differing((from) => ({
      finish: (response, exchange) => {
        const finished = from.finish(response, exchange);
        return concerns(when, finished.status, exchange)
          ? { ...finished, ...edit(finished, exchange) }
          : finished;
      },
    }));

/** Adds fields to the JSON object of an answer, or replaces them. */
export const setFields = (fields: Readonly<Record<string, unknown>>) =>
  editPayload((payload) => ({ ...payload, ...fields }));

/** Replaces the JSON of an answer. */
export const setJson = (json: unknown) => editPayload(() => json);

/** Writes the body of an answer anew. */
export const editBody = (write: (body: string) => HttpResponse['body']) =>
  editResponse(({ body }) => ({ body: write(body.toString()) }));

/** Adds header fields to an answer, or replaces them. */
export const editHeaders = (fields: (exchange: Exchange) => Record<string, string>) =>
  editResponse(({ headers }, exchange) => ({ headers: { ...headers, ...fields(exchange) } }));

/** Adds a header field to an answer, or replaces it. */
export const setHeader = (name: string, value: string) => editHeaders(() => ({ [name]: value }));

/** Leaves a header field out. */
export const dropHeader = (name: string) =>
  editResponse(({ headers: { [name]: _, ...headers } }) => ({ headers }));

/** Gives an answer another status, and another body where one is given. */
export const answerWith = (status: number, body?: unknown) =>
  editResponse(() => ({ status, ...(body === undefined ? {} : { body: JSON.stringify(body) }) }));

/** An answer of 204, which has no body. */
export const noContent = editResponse(() => ({ status: 204, body: '' }));

/** Breaks down, as an unhandled exception does behind a front end. */
export const crash = answerWith(500, { error: 'Internal server error' });

/** Ends the connection without an answer. */
export const dropConnection = editResponse(() => ({ transportFault: 'reset' }));

/** Edits only where a test holds as well. */
export const onlyIf =
  (where: (exchange: Exchange) => boolean, edit: Edit): Edit =>
  (when) =>
    edit({ ...when, where });

/** Edits from the third request for the same target with the same key on, however it is timed. */
export const fromThird =
  (edit: Edit): Edit =>
  (when) =>
  (behaviour) => {
    const seen = new Map<string, number>();
    const isThird = ({ request: { target, headers } }: Exchange) => {
      const name = `${headers.authorization} ${target}`;
      seen.set(name, (seen.get(name) ?? 0) + 1);
      return seen.get(name)! > 2;
    };
    return edit({ ...when, where: isThird })(behaviour);
  };

/** Takes values that pass `test` for well formed as well; `id` says which id they stand for. */
export const accept = (
  which: readonly Endpoint[],
  test: (value: string, endpoint: Endpoint) => boolean,
  id: (value: string) => string = (value) => value.toLowerCase(),
): Change =>
  differing(({ isId, idOf }) => ({
    isId: (endpoint, value) => isId(endpoint, value) || (which.includes(endpoint) && test(value, endpoint)),
    idOf: (endpoint, value) => (isId(endpoint, value) ? idOf(endpoint, value) : id(value)),
  }));
