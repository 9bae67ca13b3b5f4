import type { Endpoint } from '../schemas/endpoints.ts';
import { payloadOf, type Payload } from './answer.ts';
import type { Call, Exchange, Execution, FindingKind, HttpResponse, Parameter } from './exchange.ts';
import { inFixedWindow } from './limiter.ts';
import { becomeExecuted } from './lookup.ts';
import { lookIn } from './overlay.ts';
import { decodeText } from './target.ts';
import { isId } from './uuid.ts';
import type { ApiKey, Deposit, Limit, World } from './world.ts';

/** A step that may refuse a request before its lookup. */
export type Check = 'key' | 'limit' | 'parameter';

/** A call of which only the request has been read. */
export type UnreadCall = Pick<Call, 'endpoint' | 'request' | 'parameters'>;

/**
 * Every decision of the mock, as small pure functions. `reference` is the conforming record; a fault
 * or a variant is a change of it.
 */
export interface Behaviour {
  /** Spelling under which the routing table knows a path. */
  readonly path: (path: string) => string;
  /** Methods that are answered; the others get 405. */
  readonly methods: readonly string[];
  /** Decodes a name or a value of the query. */
  readonly decode: (text: string) => string;
  /** Picks the value of the parameter `name`; undefined: missing. */
  readonly value: (parameters: readonly Parameter[], name: string) => string | undefined;
  /** The key that a request presents (Authentication 1). */
  readonly credential: (call: UnreadCall) => string | undefined;
  /** The key of the world that a credential stands for. */
  readonly findKey: (world: World, credential: string | undefined, call: UnreadCall) => ApiKey | undefined;
  /** Whether a known key lets one in (Authentication 2). */
  readonly admits: (key: ApiKey, call: UnreadCall) => boolean;
  /** The checks, in their order. */
  readonly order: readonly Check[];
  /** Whether a value is well formed. */
  readonly isId: (endpoint: Endpoint, value: string) => boolean;
  /** Spelling under which the world knows a well-formed value. */
  readonly idOf: (endpoint: Endpoint, value: string) => string;
  /** Whether what belongs to a partner's IB is the caller's. */
  readonly owns: (call: Call, partner: string | null) => boolean;
  /** How a pending deposit was executed, if it was by `now` (Unix ms). */
  readonly becomes: (world: World, deposit: Deposit, now: number) => Execution | undefined;
  /** The limit of an endpoint for a key; undefined: none. */
  readonly limit: (world: World, endpoint: Endpoint, key: ApiKey | undefined) => Limit | undefined;
  /** Whose limiter window a call falls into. */
  readonly countedFor: (call: Call) => string;
  /** What the limiters count. */
  readonly counts: Readonly<Record<Endpoint, readonly FindingKind[]>>;
  /** Counted requests that still matter at `now`; all times in ms. */
  readonly live: (hits: readonly number[], windowMs: number, now: number) => readonly number[];
  /** Content of an answer. */
  readonly payload: (status: number, exchange: Exchange) => Payload;
  /** JSON text of a content. */
  readonly write: (payload: Payload) => string;
  /** The last word on an answer. */
  readonly finish: (response: HttpResponse, exchange: Exchange) => HttpResponse;
}

/** The conforming behaviour; what the interface leaves open is told in words in `decisions.ts`. */
export const reference: Behaviour = {
  path: (path) => path,
  methods: ['GET', 'HEAD'],
  decode: decodeText,
  value: (parameters, name) => parameters.find((parameter) => parameter[0] === name)?.[1],
  credential: ({ request }) => /^bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1],
  findKey: (world, credential) => (credential === undefined ? undefined : lookIn(world.keys, credential)),
  admits: (key) => key.state === 'active' && key.partner !== null,
  order: ['key', 'limit', 'parameter'],
  isId,
  idOf: (_, value) => value.toLowerCase(),
  owns: (call, partner) => partner !== null && partner === call.caller?.partner,
  becomes: becomeExecuted,
  limit: (world, endpoint, key) => key?.limits?.[endpoint] ?? world.limits[endpoint],
  countedFor: (call) => call.caller?.key ?? '',
  counts: {
    'user-status': ['invalid', 'foreign', 'unknown'],
    'deposit-check': ['invalid', 'foreign', 'unknown', 'notYet', 'executed'],
  },
  live: inFixedWindow,
  payload: payloadOf,
  write: (payload) => JSON.stringify(payload),
  finish: (response) => response,
};
