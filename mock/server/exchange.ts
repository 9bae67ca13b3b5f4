import type { IncomingHttpHeaders } from 'node:http';
import type { Endpoint } from '../../schemas/endpoints.ts';
import type { ApiKey, Deposit, Execution, Limit, User, World } from './world.ts';

/** A received request. */
export interface HttpRequest {
  readonly method: string;
  /** Request target as sent: path and query, or a URL (absolute-form). */
  readonly target: string;
  /** Header fields by lower-case name. */
  readonly headers: IncomingHttpHeaders;
  /** Names and values of the header fields in turn, as sent. */
  readonly rawHeaders?: readonly string[];
  readonly body?: string;
  /** Why the world name after the `~` of the key is invalid. */
  readonly wrongWorld?: string;
  /** Port of the client. */
  readonly clientPort?: number | undefined;
  /** Number of other requests in progress. */
  readonly alongside?: number;
}

/** A response for the transport to send. */
export interface HttpResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly delayMs?: number;
  /** The transport resets the connection instead of answering, or ends it in the middle of the body. */
  readonly transportFault?: 'reset' | 'truncate';
}

/** Decoded name and value of a query parameter. */
export type Parameter = readonly [name: string, value: string];

/**
 * The result of a request: what the lookup found, why it was refused, or that it reached no endpoint.
 */
export type Finding =
  | { readonly kind: 'member'; readonly user: User }
  | ({ readonly kind: 'executed'; readonly deposit: Deposit } & Execution)
  | { readonly kind: 'notYet'; readonly deposit: Deposit }
  | { readonly kind: 'foreign'; readonly user: User }
  | { readonly kind: 'foreign'; readonly deposit: Deposit }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'unauthorized' }
  /** `waitMs` is the time until the next request may pass. */
  | { readonly kind: 'limited'; readonly waitMs: number; readonly limit: Limit }
  | { readonly kind: 'invalid' }
  | { readonly kind: 'noSuchPath' }
  | { readonly kind: 'noSuchMethod' }
  /** An answer with this status was waiting for the request, so nothing was looked up. */
  | { readonly kind: 'next'; readonly status: number };

export type FindingKind = Finding['kind'];

/** A request that reached an endpoint, with the values read from it. */
export interface Call {
  readonly endpoint: Endpoint;
  readonly request: HttpRequest;
  readonly parameters: readonly Parameter[];
  /** Value of the endpoint's parameter; undefined if it is missing. */
  readonly value: string | undefined;
  /** The key that the request sends, known or not. */
  readonly credential: string | undefined;
  /** The known key with that value, accepted or not. */
  readonly key: ApiKey | undefined;
  /** The accepted key; undefined if authentication failed. */
  readonly caller: ApiKey | undefined;
}

/** A request with its result and everything that the response depends on. */
export interface Exchange {
  readonly world: World;
  /** Unix ms. */
  readonly now: number;
  readonly request: HttpRequest;
  /** Undefined if the request reached no endpoint. */
  readonly call: Call | undefined;
  readonly finding: Finding;
  /** The status that the interface requires, or that of the answer that was waiting. */
  readonly status: number;
}

/** A request with its result, and the response to it. */
export interface Answered {
  readonly exchange: Exchange;
  readonly response: HttpResponse;
}

/** Answers a request in a world at `now` (Unix ms). Changes only the counters of the world. */
export type Serve = (world: World, request: HttpRequest, now: number) => Answered;
