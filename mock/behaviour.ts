import type { Endpoint } from '../schemas/endpoints.ts';
import { payloadOf, type Payload } from './answer.ts';
import type { Call, Exchange, FindingKind, HttpResponse, Parameter } from './exchange.ts';
import { limiters, type Count } from './limiter-kinds.ts';
import { becomeExecuted, lookIn } from './world.ts';
import type { ApiKey, Deposit, Execution, Limit, World } from './world.ts';

/** A step that may refuse a request before its lookup. */
export type Check = 'key' | 'limit' | 'parameter';

/** A call of which only the request has been read. */
export type UnreadCall = Pick<Call, 'endpoint' | 'request' | 'parameters'>;

/**
 * Every decision of the mock, as small functions. `reference` is the conforming behaviour; a fault or a
 * variant changes some of its members.
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
  /** The known key with the value of a credential. */
  readonly findKey: (world: World, credential: string | undefined, call: UnreadCall) => ApiKey | undefined;
  /** Whether a known key is accepted (Authentication 2). */
  readonly admits: (key: ApiKey, call: UnreadCall) => boolean;
  readonly order: readonly Check[];
  /** Whether a value is well formed. */
  readonly isId: (endpoint: Endpoint, value: string) => boolean;
  /** Spelling under which the world knows a well-formed value. */
  readonly idOf: (endpoint: Endpoint, value: string) => string;
  /** Whether users and deposits of a partner belong to the caller's IB. */
  readonly owns: (call: Call, partner: string | null) => boolean;
  /** Amount and time of a pending deposit that is executed by `now` (Unix ms). */
  readonly becomes: (world: World, deposit: Deposit, now: number) => Execution | undefined;
  /** The limit of an endpoint for a key, and for a call where there is one; undefined: none. */
  readonly limit: (
    world: World,
    endpoint: Endpoint,
    key: ApiKey | undefined,
    call?: Call,
  ) => Limit | undefined;
  /** The limiter window that a call falls into. */
  readonly countedFor: (call: Call) => string;
  readonly counts: Readonly<Record<Endpoint, readonly FindingKind[]>>;
  readonly count: Count;
  readonly payload: (status: number, exchange: Exchange) => Payload;
  readonly write: (payload: Payload) => string;
  readonly finish: (response: HttpResponse, exchange: Exchange) => HttpResponse;
}

/** The conforming behaviour. `decisions.test.ts` lists what it does where the interface is silent. */
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
  count: limiters.fixedWindow,
  payload: payloadOf,
  write: (payload) => JSON.stringify(payload),
  finish: (response) => response,
};

/** The i flag without u matches ASCII letters only. */
const idPatterns: Readonly<Record<Endpoint, RegExp>> = {
  'user-status': /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i,
  'deposit-check': /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i,
};

/**
 * Whether an endpoint's parameter is well formed: a UUID of version 4 for user-status, of version 1
 * to 8 for deposit-check, with the variant bits of RFC 9562, in any letter case (Endpoints).
 */
export function isId(endpoint: Endpoint, value: string): boolean {
  return idPatterns[endpoint].test(value);
}

/**
 * Decodes a percent-encoded name or value. Text that cannot be decoded stays as it is: its percent sign
 * makes it an invalid id.
 */
export function decodeText(text: string): string {
  if (!/[%+]/.test(text)) return text;
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return text;
  }
}
