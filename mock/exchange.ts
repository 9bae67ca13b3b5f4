import type { IncomingHttpHeaders } from 'node:http';
import type { Endpoint } from '../schemas/endpoints.ts';
import type { ChaosAction, TransportFault } from './chaos.ts';
import type { ApiKey, Deposit, Execution, Limit, User, World } from './world.ts';

/** A request as the transport received it. */
export interface HttpRequest {
  readonly method: string;
  /** The target as sent: path and query, or a whole URL (absolute-form). */
  readonly target: string;
  /** Header fields by their names in lower case. */
  readonly headers: IncomingHttpHeaders;
  /** Missing where none was sent. */
  readonly body?: string;
  /** Why there can be no world of the name behind its key. */
  readonly wrongWorld?: string;
  /** How many other requests are being answered at this moment. */
  readonly alongside?: number;
}

/** A response for the transport to send. */
export interface HttpResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
  readonly delayMs?: number;
  readonly transportFault?: TransportFault;
}

/** A response without an end: `follow` receives a function that sends text, and returns one that stops it. */
export interface StreamedResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly follow: (send: (text: string) => void) => () => void;
}

/** What a transport has to send. */
export type Answer = HttpResponse | StreamedResponse;

/** Name and value of a query parameter, decoded. */
export type Parameter = readonly [name: string, value: string];

/**
 * The outcome of a request: what a lookup found, why there was none, or that it reached no endpoint. Of a
 * deposit, a partner can tell only `executed` from the rest. `failing` only comes from chaos or Prefer.
 */
export type Finding =
  | { readonly kind: 'member'; readonly user: User }
  | ({ readonly kind: 'executed'; readonly deposit: Deposit } & Execution)
  | { readonly kind: 'notYet'; readonly deposit: Deposit }
  | { readonly kind: 'foreign'; readonly user: User }
  | { readonly kind: 'foreign'; readonly deposit: Deposit }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'unauthorized' }
  /** `waitMs` is the time until the limiter answers again. */
  | { readonly kind: 'limited'; readonly waitMs: number; readonly limit: Limit }
  | { readonly kind: 'invalid' }
  | { readonly kind: 'failing'; readonly status: number }
  /** Chaos or Prefer asked for what cannot be. */
  | { readonly kind: 'refused'; readonly why: string }
  | { readonly kind: 'noSuchPath' }
  | { readonly kind: 'noSuchMethod' };

export type FindingKind = Finding['kind'];

/** A request that reached an endpoint, and what was read from it. */
export interface Call {
  readonly endpoint: Endpoint;
  readonly request: HttpRequest;
  readonly parameters: readonly Parameter[];
  /** Value of the endpoint's own parameter; undefined where it is missing. */
  readonly value: string | undefined;
  /** The key that the request presents, known or not. */
  readonly credential: string | undefined;
  /** The known key with that value, accepted or not. */
  readonly key: ApiKey | undefined;
  /** The accepted key; undefined where authentication failed. */
  readonly caller: ApiKey | undefined;
}

/** A request, what was decided about it, and everything that the response may depend on. */
export interface Exchange {
  readonly world: World;
  /** Unix ms. */
  readonly now: number;
  readonly request: HttpRequest;
  /** Missing where the request reached no endpoint. */
  readonly call?: Call;
  readonly finding: Finding;
  /** The status that the interface asks for. */
  readonly status: number;
  /** The status that the request asked for by Prefer and got. */
  readonly preferred?: number;
  readonly chaos?: ChaosAction;
}
