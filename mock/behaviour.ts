import type { Endpoint } from '../schemas/endpoints.ts';
import { payloadOf, type Payload } from './answer.ts';
import type { Call, Exchange, FindingKind, HttpRequest, HttpResponse, Parameter } from './exchange.ts';
import { limiters, type Count } from './limiter-kinds.ts';
import { becomeExecuted, lookUp } from './world.ts';
import type { ApiKey, Deposit, Execution, Limit, World } from './world.ts';

/** A check before the lookup. */
export type Check = 'key' | 'limit' | 'parameter';

/** A call before authentication. */
export type CallInput = Pick<Call, 'endpoint' | 'request' | 'parameters'>;

/** Every decision of the mock as a small function. A fault or a variant replaces some of them. */
export interface Behaviour {
  /** Returns the data that a request sees; `now` is in Unix ms. A cache or a replica may not have every change. */
  readonly seen: (world: World, request: HttpRequest, now: number) => World;
  /** Normalizes a path for routing. */
  readonly path: (path: string) => string;
  /** Allowed methods; others get 405. */
  readonly methods: readonly string[];
  /** Decodes a name or value of the query. */
  readonly decode: (text: string) => string;
  /** Returns the value of the parameter `name`; undefined: missing. */
  readonly value: (parameters: readonly Parameter[], name: string) => string | undefined;
  /** Returns the key that a request sends (Authentication 1). */
  readonly credential: (call: CallInput) => string | undefined;
  /** Finds the known key with this value. */
  readonly findKey: (world: World, credential: string | undefined, call: CallInput) => ApiKey | undefined;
  /** Whether a known key is accepted (Authentication 2). */
  readonly accepts: (key: ApiKey, call: CallInput) => boolean;
  readonly checkOrder: readonly Check[];
  /** Whether a value is a valid id. */
  readonly isValidId: (endpoint: Endpoint, value: string) => boolean;
  /** Normalizes a valid id for the lookup. */
  readonly normalizeId: (endpoint: Endpoint, value: string) => string;
  /** Whether users and deposits of a partner belong to the caller's IB. */
  readonly owns: (call: Call, partner: string | null) => boolean;
  /** Returns amount and time of a pending deposit that is executed by `now` (Unix ms). */
  readonly executionOf: (world: World, deposit: Deposit, now: number) => Execution | undefined;
  /** Returns the limit of an endpoint for a key; undefined: none. */
  readonly limit: (
    world: World,
    endpoint: Endpoint,
    key: ApiKey | undefined,
    call?: Call,
  ) => Limit | undefined;
  /** Returns the name under which a call is counted. */
  readonly limiterKey: (call: Call) => string;
  readonly counted: Readonly<Record<Endpoint, readonly FindingKind[]>>;
  readonly count: Count;
  readonly payload: (status: number, exchange: Exchange) => Payload;
  readonly serialize: (payload: Payload) => string;
  readonly transform: (response: HttpResponse, exchange: Exchange) => HttpResponse;
}

/** The conforming behaviour. `decisions.test.ts` lists what it does where the interface is silent. */
export const reference: Behaviour = {
  seen: (world) => world,
  path: (path) => path,
  methods: ['GET', 'HEAD'],
  decode: decodeText,
  value: (parameters, name) => parameters.find((parameter) => parameter[0] === name)?.[1],
  credential: ({ request }) => /^bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1],
  findKey: (world, credential) => (credential === undefined ? undefined : lookUp(world.keys, credential)),
  accepts: (key) => key.state === 'active' && key.partner !== null,
  checkOrder: ['key', 'limit', 'parameter'],
  isValidId,
  normalizeId: (_, value) => value.toLowerCase(),
  owns: (call, partner) => partner !== null && partner === call.caller?.partner,
  executionOf: becomeExecuted,
  limit: (world, endpoint, key) => key?.limits?.[endpoint] ?? world.limits[endpoint],
  limiterKey: (call) => call.caller?.key ?? '',
  counted: {
    'user-status': ['invalid', 'foreign', 'unknown'],
    'deposit-check': ['invalid', 'foreign', 'unknown', 'notYet', 'executed'],
  },
  count: limiters.fixedWindow,
  payload: payloadOf,
  serialize: (payload) => JSON.stringify(payload),
  transform: (response) => response,
};

/** The i flag without u matches ASCII letters only. */
const idPatterns: Readonly<Record<Endpoint, RegExp>> = {
  'user-status': /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i,
  'deposit-check': /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i,
};

/**
 * Whether a value is a valid id: a UUID of version 4 for user-status, of version 1 to 8 for deposit-check,
 * with the variant bits of RFC 9562, in any letter case (Endpoints).
 */
export function isValidId(endpoint: Endpoint, value: string): boolean {
  return idPatterns[endpoint].test(value);
}

/** Decodes a percent-encoded name or value. Text with broken encoding stays as it is, which is no valid id. */
export function decodeText(text: string): string {
  if (!/[%+]/.test(text)) return text;
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return text;
  }
}
