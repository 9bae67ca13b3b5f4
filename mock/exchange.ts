import type { IncomingHttpHeaders } from 'node:http';
import type { Endpoint } from '../schemas/endpoints.ts';
import type { ChaosAction } from './chaos.ts';
import type { ApiKey, Deposit, Limit, User, World } from './world.ts';

/** A request as the transport received it. */
export interface HttpRequest {
  readonly method: string;
  /** The target as sent: path and query, or a whole URL (absolute-form). */
  readonly target: string;
  /** Header fields by their names in lower case. */
  readonly headers: IncomingHttpHeaders;
  /** Missing where none was sent. */
  readonly body?: string;
  /** How many other requests are being answered at this moment. */
  readonly alongside?: number;
}

/** An answer for the transport to send. */
export interface HttpResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
  /** The connection is cut instead. The reference never does that; some faults do. */
  readonly dropped?: true;
  /** How long (ms) the answer is held back. */
  readonly delayMs?: number;
  /** What befalls the answer on its way. */
  readonly fate?: Fate;
}

/**
 * What a transport does instead of sending an answer: resets the connection; holds the answer back
 * until the client gives up; breaks off in the middle of the body, short of its Content-Length.
 */
export type Fate = 'reset' | 'timeout' | 'truncate';

/** An answer without an end: `follow` is given the way to send text, and returns how to stop. */
export interface StreamedResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly follow: (send: (text: string) => void) => () => void;
}

/** What a transport has to send. */
export type Answer = HttpResponse | StreamedResponse;

/** Name and value of a query parameter, decoded. */
export type Parameter = readonly [name: string, value: string];

/** Amount in USD and time in Unix milliseconds of a deposit that is EXECUTED. */
export interface Execution {
  readonly amountInUsd: number;
  readonly executedAt: number;
}

/** What a lookup of a user found (Endpoints, user-status). */
export type UserFinding =
  | { readonly kind: 'member'; readonly user: User }
  | { readonly kind: 'foreign'; readonly user: User }
  | { readonly kind: 'unknown' };

/** What a lookup of a deposit found (Endpoints, deposit-check). Only the first may be told from the others. */
export type DepositFinding =
  | ({ readonly kind: 'executed'; readonly deposit: Deposit } & Execution)
  | { readonly kind: 'notYet'; readonly deposit: Deposit }
  | { readonly kind: 'foreign'; readonly deposit: Deposit }
  | { readonly kind: 'unknown' };

/** Why a request got no lookup; `waitMs` is the time in ms until the limiter with that limit lets go. */
export type Refusal =
  | { readonly kind: 'unauthorized' }
  | { readonly kind: 'limited'; readonly waitMs: number; readonly limit: Limit }
  | { readonly kind: 'invalid' };

/** What became of a request. The last two never reached an endpoint; `failing` is only ever brought about. */
export type Finding =
  | UserFinding
  | DepositFinding
  | Refusal
  | { readonly kind: 'failing'; readonly status: number }
  | { readonly kind: 'noSuchPath' }
  | { readonly kind: 'noSuchMethod' };

export type FindingKind = Finding['kind'];

/** A request that reached an endpoint, with what was read out of it. */
export interface Call {
  readonly endpoint: Endpoint;
  readonly request: HttpRequest;
  readonly parameters: readonly Parameter[];
  /** Value of the endpoint's own parameter; undefined where it is missing. */
  readonly value: string | undefined;
  /** The key that the request presents, known or not. */
  readonly credential: string | undefined;
  /** The key that the credential stands for, let in or not; undefined where there is none. */
  readonly key: ApiKey | undefined;
  /** The accepted key; undefined where authentication failed. */
  readonly caller: ApiKey | undefined;
}

/** Everything that shaping an answer may look at. `now` is in Unix milliseconds. */
export interface Exchange {
  readonly world: World;
  readonly now: number;
  readonly request: HttpRequest;
  /** Missing where the path led to no endpoint, or the method was refused. */
  readonly call?: Call;
  readonly finding: Finding;
  /** The status that the request asked for, where it was given that. */
  readonly preferred?: number;
  /** What befell it on purpose. */
  readonly chaos?: ChaosAction;
}
