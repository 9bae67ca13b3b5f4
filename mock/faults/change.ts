import type { Endpoint } from '../../schemas/endpoints.ts';
import type { Payload } from '../answer.ts';
import type { Behaviour } from '../behaviour.ts';
import type { Exchange, FindingKind, HttpResponse } from '../exchange.ts';

/** A deviation from a behaviour, or a legal variant of it. What it remembers, it remembers per server. */
export type Change = (behaviour: Behaviour) => Behaviour;

/** Which answers a change concerns; what is left out concerns all. */
export interface When {
  readonly endpoint?: Endpoint;
  readonly kinds?: readonly FindingKind[];
  readonly status?: number;
  readonly where?: (exchange: Exchange) => boolean;
}

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
export function editPayload(when: When, edit: EditPayload): Change {
  return (behaviour) => ({
    ...behaviour,
    payload: (status, exchange) => {
      const payload = behaviour.payload(status, exchange);
      return concerns(when, status, exchange) ? (edit({ ...payload }, exchange) as Payload) : payload;
    },
  });
}

/** Changes parts of an answer, after it is written. */
export function editResponse(when: When, edit: EditResponse): Change {
  return (behaviour) => ({
    ...behaviour,
    finish: (response, exchange) => {
      const finished = behaviour.finish(response, exchange);
      return concerns(when, finished.status, exchange)
        ? { ...finished, ...edit(finished, exchange) }
        : finished;
    },
  });
}

/** Adds header fields to an answer, or replaces them. */
export function editHeaders(when: When, fields: (exchange: Exchange) => Record<string, string>): Change {
  return editResponse(when, ({ headers }, exchange) => ({ headers: { ...headers, ...fields(exchange) } }));
}

/** Leaves a header field out. */
export function dropHeader(name: string): Change {
  return editResponse({}, ({ headers }) => ({
    headers: Object.fromEntries(Object.entries(headers).filter(([field]) => field !== name)),
  }));
}

/** Gives an answer another status, and another body where one is given. */
export function answerWith(when: When, status: number, body?: unknown): Change {
  return editResponse(when, () => ({
    status,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  }));
}

/** Breaks down, as an unhandled exception does behind a front end. */
export function crash(when: When): Change {
  return answerWith(when, 500, { error: 'Internal server error' });
}

/** Takes values that pass `test` for well formed as well; `id` says which id they stand for. */
export function accept(
  which: readonly Endpoint[],
  test: (value: string, endpoint: Endpoint) => boolean,
  id: (value: string) => string = (value) => value.toLowerCase(),
): Change {
  return (behaviour) => ({
    ...behaviour,
    isId: (endpoint, value) =>
      behaviour.isId(endpoint, value) || (which.includes(endpoint) && test(value, endpoint)),
    idOf: (endpoint, value) =>
      behaviour.isId(endpoint, value) ? behaviour.idOf(endpoint, value) : id(value),
  });
}

/** Takes fewer values for well formed. */
export function refuse(which: readonly Endpoint[], test: (value: string) => boolean): Change {
  return (behaviour) => ({
    ...behaviour,
    isId: (endpoint, value) => behaviour.isId(endpoint, value) && !(which.includes(endpoint) && test(value)),
  });
}

/** A condition that holds from the third request for the same target with the same key on, however it is timed. */
export function fromThird(): (exchange: Exchange) => boolean {
  const seen = new Map<string, number>();
  return ({ request: { target, headers } }) => {
    const name = `${headers.authorization} ${target}`;
    const times = (seen.get(name) ?? 0) + 1;
    seen.set(name, times);
    return times > 2;
  };
}
