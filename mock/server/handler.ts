import { endpointNames, endpoints, findsUsers, perEndpoint, type Endpoint } from '../../schemas/endpoints.ts';
import { answered, finished, METHODS } from './answer.ts';
import type { Call, Finding, HttpRequest, Parameter, Serve } from './exchange.ts';
import { checkLimit, countCall, defaultLimiter, type Limiter } from './limiter.ts';
import { becomeExecuted, countPoll, keyAt, lookUp, partnerOf, type World } from './world.ts';

/** A check before the lookup. */
export type Check = 'key' | 'limit' | 'id';

/** What the interface leaves to the server, and what a fault or a variant puts around it. */
export interface Behaviour extends Limiter {
  readonly checkOrder: readonly Check[];
  readonly around: (serve: Serve) => Serve;
}

/** The conforming behaviour. */
export const reference: Behaviour = {
  ...defaultLimiter,
  checkOrder: ['key', 'limit', 'id'],
  around: (serve) => serve,
};

/** A service with a certain behaviour. */
export interface Service extends ReturnType<typeof createService> {}

/**
 * Creates a service of the interface. `decisions.test.ts` lists what it does where the interface is silent.
 *
 * @param basePath path of {base_url}, with or without a trailing slash
 */
export function createService(behaviour: Behaviour = reference, basePath = '/') {
  const read = callReader(basePath);
  /** Answers a request in a world at `now` (Unix ms), without Date and Content-Length. */
  const serve = behaviour.around((world, request, now) => {
    const call = read(world, request, now);
    if (typeof call === 'string')
      return answered({ world, now, request, call: undefined, finding: { kind: call } });
    const finding = check(behaviour, world, call, now) ?? find(world, call, now);
    countCall(behaviour, world, call, finding, now);
    if (finding.kind === 'notYet' || finding.kind === 'executed') countPoll(world, finding.deposit, now);
    return answered({ world, now, request, call, finding });
  });
  const answer: Serve = (world, request, now) => finished(serve(world, request, now));
  return { behaviour, read, serve, answer };
}

/** Creates the function that reads the call of a request, or says why it reaches no endpoint. Counts nothing. */
function callReader(basePath: string) {
  const below = trimBasePath(basePath);
  const routes = new Map(endpointNames.map((name) => [below + endpoints[name].path, name]));
  return (world: World, request: HttpRequest, now: number): Call | 'noSuchPath' | 'noSuchMethod' => {
    const { path, query } = splitTarget(request.target);
    const endpoint = routes.get(path);
    if (endpoint === undefined) return 'noSuchPath';
    if (!METHODS.includes(request.method)) return 'noSuchMethod';
    return readCall(world, endpoint, query, request, now);
  };
}

/** Reads the parameter and the key of a request (Authentication). */
function readCall(world: World, endpoint: Endpoint, query: string, request: HttpRequest, now: number): Call {
  const parameters = readQuery(query);
  const value = parameters.find(([name]) => name === endpoints[endpoint].parameter)?.[1];
  const credential = credentialOf(request);
  const known = credential === undefined ? undefined : lookUp(world.keys, credential);
  const key = known && keyAt(world, known, now);
  const caller = key?.state === 'active' && key.partner !== null ? key : undefined;
  return { endpoint, request, parameters, value, credential, key, caller };
}

/** Returns the key that a request sends in `Authorization: Bearer <API_KEY>` (Authentication: the header). */
export const credentialOf = ({ headers }: HttpRequest) =>
  /^bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1];

/** Returns why a call is refused; undefined: it may look up. */
function check(behaviour: Behaviour, world: World, call: Call, now: number): Finding | undefined {
  for (const one of behaviour.checkOrder) {
    const refusal = checks[one](behaviour, world, call, now);
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}

const checks: Readonly<
  Record<Check, (behaviour: Behaviour, world: World, call: Call, now: number) => Finding | undefined>
> = {
  key: (_behaviour, _world, { caller }) => (caller === undefined ? { kind: 'unauthorized' } : undefined),
  limit: checkLimit,
  id: (_behaviour, _world, { endpoint, value }) =>
    value !== undefined && isValidId(endpoint, value) ? undefined : { kind: 'invalid' },
};

/** The i flag without u matches ASCII letters only. */
const idPatterns = perEndpoint((endpoint) => {
  const { versions } = endpoints[endpoint];
  return new RegExp(`^[0-9a-f]{8}-[0-9a-f]{4}-[${versions}][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`, 'i');
});

/**
 * Whether a value is a valid id: a UUID of version 4 for user-status, of version 1 to 8 for deposit-check,
 * with the variant bits of RFC 9562, in any letter case (GET user-status, user_id; GET deposit-check, reference_id).
 */
export const isValidId = (endpoint: Endpoint, value: string): boolean => idPatterns[endpoint].test(value);

/** Looks up the user or deposit of a call. */
function find(world: World, call: Call, now: number): Finding {
  const id = (call.value ?? '').toLowerCase();
  return findsUsers(call.endpoint) ? findUser(world, call, id) : findDeposit(world, call, id, now);
}

/** Whether users and deposits of a partner belong to the caller's IB. */
const owns = ({ caller }: Call, partner: string | null) => partner !== null && partner === caller?.partner;

/** Looks up a user and checks whether they belong to the caller's IB (GET user-status, 200). */
function findUser(world: World, call: Call, id: string): Finding {
  const user = lookUp(world.users, id);
  if (user === undefined) return { kind: 'unknown' };
  return owns(call, user.partner) ? { kind: 'member', user } : { kind: 'foreign', user };
}

/** Looks up a deposit and checks whether the caller may see it (GET deposit-check, 404). */
function findDeposit(world: World, call: Call, id: string, now: number): Finding {
  const deposit = lookUp(world.deposits, id);
  if (deposit === undefined) return { kind: 'unknown' };
  if (!owns(call, partnerOf(world, deposit))) return { kind: 'foreign', deposit };
  const execution = deposit.state === 'EXECUTED' ? deposit : becomeExecuted(world, deposit, now);
  if (execution === undefined) return { kind: 'notYet', deposit };
  const { amountInUsd, executedAt } = execution;
  return { kind: 'executed', deposit, amountInUsd, executedAt };
}

/** Start of an absolute-form target, which a server has to accept (RFC 9112, 3.2.2). */
const SCHEME_AND_AUTHORITY = /^https?:\/\/[^/?]*/i;

/** Splits a request target into path and query, without the question mark. */
export function splitTarget(target: string): { readonly path: string; readonly query: string } {
  const local = target.startsWith('/') ? target : target.replace(SCHEME_AND_AUTHORITY, '');
  const mark = local.indexOf('?');
  return mark < 0 ? { path: local, query: '' } : { path: local.slice(0, mark), query: local.slice(mark + 1) };
}

/** Splits a query into names and values and decodes each. */
export function readQuery(query: string): readonly Parameter[] {
  if (query === '') return [];
  return query.split('&').map((part) => {
    const sign = part.indexOf('=');
    return sign < 0
      ? [decodeText(part), '']
      : [decodeText(part.slice(0, sign)), decodeText(part.slice(sign + 1))];
  });
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

/** `/gateway/v2/` → `/gateway/v2`, `/` → the empty string */
export function trimBasePath(basePath: string): string {
  const inner = basePath.replace(/^\/+|\/+$/g, '');
  return inner === '' ? '' : `/${inner}`;
}
