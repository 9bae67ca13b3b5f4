import { createHash } from 'node:crypto';
import { endpointNames, endpoints, messageOf, type Endpoint } from '../../schemas/endpoints.ts';
import type {
  Exchange,
  FindingKind,
  HttpRequest,
  HttpResponse,
  Parameter,
  Serve,
} from '../server/exchange.ts';
import { credentialOf, isValidId, readQuery, splitTarget, type Behaviour } from '../server/handler.ts';
import {
  lastingKey,
  limitIn,
  lookUp,
  valuesOf,
  type ApiKey,
  type Overlay,
  type World,
} from '../server/world.ts';

/** Makes another server of one. What it remembers belongs to the server that it makes. */
export type Change = (from: Behaviour) => Behaviour;

/** A server that differs from the reference, with one sentence about it. */
export interface Deviation {
  readonly id: string;
  readonly what: string;
  readonly change: Change;
}

/** Changes by id. A sentence may follow the id, after a colon; otherwise the id says enough. */
export type Changes = Readonly<Record<string, Change>>;

/** `date-null` → `Date null.`, and `date-bare: A date without a time` → `A date without a time.` */
export function deviationsOf(...tables: readonly Changes[]): Readonly<Record<string, Deviation>> {
  const all: Record<string, Deviation> = {};
  for (const [row, change] of tables.flatMap(Object.entries<Change>)) {
    const [id = '', words = wordsOf(id)] = row.split(/: (.*)/s, 2);
    if (Object.hasOwn(all, id)) throw new Error(`two deviations have the id ${id}`);
    // A field name, such as amountInUsd, keeps its letter case.
    const sentence = words.replace(/^[a-z]+\b/, (word) => word.charAt(0).toUpperCase() + word.slice(1));
    all[id] = { id, what: `${sentence}.`, change };
  }
  return all;
}

/** Sentences for ids of one form. */
const forms: readonly (readonly [RegExp, string])[] = [
  [/^(\S+) (\d+) for (\d+)$/, 'where $1 answers $3, it is $2'],
  [/^(\S+) (\d+) of (\S+-\S+)$/, 'a $2 of $1 has the message of $3'],
  [/^(\S+) (\d+) (with|in) (?!second)(.+)$/, 'the message of a $2 of $1 is written $3 $4'],
  [/^(\S+) errors field called (.+)$/, 'errors of $1 have a field called $2'],
  [/^(\S+) errors with (.+)$/, 'errors of $1 come with a $2'],
  [/^(\S+) errors (as|in) (.+)$/, 'errors of $1 are sent $2 $3'],
  [/^(\S+) errors (.+)$/, 'errors of $1 are $2'],
  [/^(foreign \S+) with (\d+)$/, 'the lookup of a $1 is answered with $2'],
  [/^(pending|failed) with (\d+)$/, 'a $1 deposit is answered with $2'],
  [/^(unknown \S+) with (\d+)$/, 'the lookup of an $1 is answered with $2'],
  [/^(.+) told by (.+)$/, 'the $2 tells a $1 from an unknown one'],
  [/^(revoked|expired) key on (\S+)$/, 'a key that is $1 is accepted by $2'],
  [/^other account on (\S+)$/, 'a key of an account that is no Partner is accepted by $1'],
  [/^(.+) left out$/, '$1 is left out'],
];

/** What an id says, as a sentence if it has one of the forms. */
function wordsOf(id: string): string {
  const words = id
    .replaceAll('-', ' ')
    .replaceAll(/user status|deposit check/g, (endpoint) => endpoint.replace(' ', '-'));
  const form = forms.find(([pattern]) => pattern.test(words));
  return form === undefined ? words : words.replace(...form);
}

/** Puts middleware around a server. */
export const around =
  (middleware: (next: Serve) => Serve): Change =>
  (from) => ({ ...from, around: (serve) => middleware(from.around(serve)) });

/** Several changes of one server. */
export const all =
  (...changes: readonly Change[]): Change =>
  (from) =>
    changes.reduce((server, change) => change(server), from);

/** A change that remembers something: each server has its own memory. */
export const remembering =
  (make: () => Change): Change =>
  (from) => ({ ...from, around: (serve) => make()(from).around(serve) });

/** Replaces rules: the order of the checks, or how the limiter works. */
export const set =
  (rules: Partial<Behaviour> | ((from: Behaviour) => Partial<Behaviour>)): Change =>
  (from) => ({ ...from, ...(typeof rules === 'function' ? rules(from) : rules) });

/** Reads a request as another one; undefined: as it is. */
export const read = (as: (request: HttpRequest, world: World) => HttpRequest | undefined): Change =>
  around((next) => (world, request, now) => {
    const other = as(request, world);
    if (other === undefined) return next(world, request, now);
    const { exchange, response } = next(world, other, now);
    return { exchange: { ...exchange, request }, response };
  });

/** Part of a criterion: a finding, several, an endpoint, the status of the response, or a test. */
type Where = FindingKind | readonly FindingKind[] | Endpoint | number | ((exchange: Exchange) => boolean);

const matches = (where: readonly Where[], exchange: Exchange, status: number): boolean =>
  where.every((one) => {
    if (typeof one === 'function') return one(exchange);
    if (typeof one === 'number') return one === status;
    if (typeof one !== 'string') return one.includes(exchange.finding.kind);
    return one === exchange.finding.kind || one === exchange.call?.endpoint;
  });

/** Criterion: a header field, by its name in lower case. */
export const hasField = (name: string, pattern: RegExp) => (exchange: Exchange) =>
  pattern.test(String(exchange.request.headers[name] ?? ''));
/** Criterion: the limit of one of the endpoints is used up for a key. */
export const hasLimitedKey =
  (...names: readonly Endpoint[]) =>
  ({ world: { hits, limits }, now }: Exchange) =>
    names.some((name) =>
      [...hits[name].values()].some(
        (ends) => ends.filter((at) => at > now).length >= (limitIn(limits, name)?.most ?? Infinity),
      ),
    );
/** Criterion: a lookup with a valid key and id. */
export const lookups: readonly FindingKind[] = [
  'member',
  'executed',
  'notYet',
  'unknown',
  'foreign',
  'limited',
];
/** Criterion: a deposit that was pending at first. */
export const isBecoming = ({ finding }: Exchange) =>
  finding.kind === 'executed' && finding.deposit.state === 'pending';

/** Changes parts of a response. */
export type Edit = (response: HttpResponse, exchange: Exchange) => Partial<HttpResponse>;

/** Edits the responses for which all criteria hold, in this order: `on('foreign', 'user-status', status(404))`. */
export const on = (...given: readonly [...where: readonly Where[], edit: Edit]): Change => {
  const [edit, where] = [given.at(-1) as Edit, given.slice(0, -1) as readonly Where[]];
  return around((next) => (world, request, now) => {
    const { exchange, response } = next(world, request, now);
    if (!matches(where, exchange, response.status)) return { exchange, response };
    return { exchange, response: { ...response, ...edit(response, exchange) } };
  });
};

type Json = Readonly<Record<string, unknown>>;

export const status =
  (code: number): Edit =>
  () => ({ status: code });
export const answer =
  (code: number, payload: unknown): Edit =>
  () => ({ status: code, body: JSON.stringify(payload) });
export const error = (code: number, message: string): Edit => answer(code, { error: message });
export const noContent: Edit = () => ({ status: 204, body: '' });
/** The 401 of the endpoint. */
export const refused: Edit = (response, exchange) =>
  error(401, messageOf(exchange.call!.endpoint, 401)!)(response, exchange);
/** Like an unhandled exception behind a proxy. */
export const crash = error(500, 'Internal server error');
/** The connection ends without an answer. */
export const reset: Edit = () => ({ transportFault: 'reset' });

/** Rewrites the body. */
export const body =
  (write: (text: string) => string): Edit =>
  (response) => ({ body: write(response.body) });
export const withNewline = body((text) => `${text}\n`);
/** Rewrites the JSON of the body. */
export const json =
  (edit: (payload: Json, exchange: Exchange) => unknown): Edit =>
  (response, exchange) => ({
    body: JSON.stringify(edit(JSON.parse(response.body) as Json, exchange)),
  });
/** Adds or replaces fields of the JSON. */
export const fields = (more: Json): Edit => json((payload) => ({ ...payload, ...more }));
/** Rewrites the value of a field. */
export const field = (name: string, edit: (value: never) => unknown): Edit =>
  json((payload) => ({ ...payload, [name]: edit(payload[name] as never) }));
export const renamed = (from: string, to: string): Edit =>
  json(({ [from]: value, ...others }) => ({ ...others, [to]: value }));
export const leftOut = (name: string): Edit => json(({ [name]: _, ...others }) => others);

/** Adds or replaces header fields. */
export const headerFields =
  (of: (exchange: Exchange) => Readonly<Record<string, string>>): Edit =>
  (response, exchange) => ({ headers: { ...response.headers, ...of(exchange) } });
/** Adds or replaces a header field. */
export const header = (name: string, value: string | ((exchange: Exchange) => string)): Edit =>
  headerFields((exchange) => ({ [name]: typeof value === 'string' ? value : value(exchange) }));
export const without =
  (name: string): Edit =>
  ({ headers: { [name]: _, ...headers } }) => ({ headers });
/** A tag for a text (RFC 9110 8.8.3). */
export const tagOf = (text: string) => `"${createHash('sha1').update(text).digest('hex').slice(0, 16)}"`;
/** Adds a tag, and answers 304 to a request that has it. */
export const tagged =
  (of: (exchange: Exchange, response: HttpResponse) => string): Edit =>
  (response, exchange) => {
    const ETag = of(exchange, response);
    const isKept = exchange.request.headers['if-none-match'] === ETag;
    return { headers: { ...response.headers, ETag }, ...(isKept && { status: 304, body: '' }) };
  };
/** Replaces the body by HTML. */
export const page =
  (content: string, code?: number): Edit =>
  (response) => ({
    status: code ?? response.status,
    headers: { ...response.headers, 'Content-Type': 'text/html' },
    body: `<!DOCTYPE html>${content}`,
  });

/** Counts exchanges by name. */
export const counter = (nameOf: (exchange: Exchange) => string) => {
  const seen = new Map<string, number>();
  return (exchange: Exchange) => {
    const times = (seen.get(nameOf(exchange)) ?? 0) + 1;
    seen.set(nameOf(exchange), times);
    return times;
  };
};
/** The target and the header fields of an exchange. */
export const sameRequest = ({ request: { target, headers, rawHeaders } }: Exchange) =>
  `${JSON.stringify(rawHeaders ?? headers)} ${target}`;

/**
 * Answers again what the server answered before, for `ms`. Each key has its own answers.
 *
 * @param kinds findings whose answers are kept
 * @param also findings whose answers kept ones replace as well
 */
export const cached = (ms: number, kinds: readonly FindingKind[], also: readonly FindingKind[] = []) =>
  remembering(() => {
    const kept = new Map<string, { readonly response: HttpResponse; readonly until: number }>();
    return on([...kinds, ...also], (response, { request, now, finding }) => {
      const name = `${request.method} ${request.headers.authorization} ${request.target}`;
      const known = kept.get(name);
      if (known !== undefined && now < known.until) return known.response;
      if (kinds.includes(finding.kind)) kept.set(name, { response, until: now + ms });
      return response;
    });
  });

/** The endpoint that a request names, whatever is before its path. */
export const endpointIn = ({ target }: HttpRequest) =>
  endpointNames.find((name) => splitTarget(target).path.endsWith(endpoints[name].path));
/** A request with a normalized path; undefined: it is normal already. */
export function withPath(request: HttpRequest, normalize: (path: string) => string): HttpRequest | undefined {
  const { path, query } = splitTarget(request.target);
  const other = normalize(path);
  return other === path ? undefined : { ...request, target: query === '' ? other : `${other}?${query}` };
}
export const knownKey = (request: HttpRequest, { keys }: World) => lookUp(keys, credentialOf(request) ?? '');
const isAccepted = ({ state, partner }: ApiKey) => state === 'active' && partner !== null;
/** The partner of the first key that lasts, which is the one under test. */
export const firstPartner = ({ keys }: World) => lastingKey(valuesOf(keys))?.partner;

/**
 * Reads a request as one with a key that the server knows or does not know; undefined: as it is. Never give it another key
 * of the fixture: that key may be limited or expired, and the request would count at its limit.
 */
export const asKey = (keyIn: (request: HttpRequest, world: World) => ApiKey | undefined): Change =>
  around((next) => (world, request, now) => {
    const key = keyIn(request, world);
    if (key === undefined) return next(world, request, now);
    // In both maps: it is no change of the data.
    const withKey = (keys: ReadonlyMap<string, ApiKey>) => new Map(keys).set(key.key, key);
    const keys = { base: withKey(world.keys.base), changed: withKey(world.keys.changed) };
    const headers = { ...request.headers, authorization: `Bearer ${key.key}` };
    const { exchange, response } = next({ ...world, keys }, { ...request, headers }, now);
    return { exchange: { ...exchange, world, request }, response };
  });

/** Accepts a request without a known key if `test` holds for an active key of the server. */
export const opened = (
  test: (key: string, request: HttpRequest, sent: string | undefined) => boolean,
  only?: Endpoint,
) =>
  asKey((request, world) => {
    if (only !== undefined && only !== endpointIn(request)) return undefined;
    if (knownKey(request, world) !== undefined) return undefined;
    const sent = credentialOf(request);
    const found = valuesOf(world.keys).find((one) => isAccepted(one) && test(one.key, request, sent));
    // Without the limits and the end of the key that was found.
    return found && { key: sent ?? NOBODY, name: found.name, partner: found.partner, state: 'active' };
  });

/** Reads a known key as an active one of its partner, or else of the first one. */
export const accepted = (test: (key: ApiKey, request: HttpRequest) => boolean) =>
  asKey((request, world) => {
    const key = knownKey(request, world);
    if (key === undefined || !test(key, request)) return undefined;
    const partner = key.partner ?? firstPartner(world) ?? null;
    return { ...key, partner, state: 'active', expiresAt: Infinity };
  });

/**
 * Reads the value of the parameter as another one; undefined: as it is.
 *
 * @param as gets the first value, the endpoint, all values of the parameter, and all parameters
 */
export const id = (
  as: (
    value: string | undefined,
    endpoint: Endpoint,
    values: readonly string[],
    parameters: readonly Parameter[],
  ) => string | undefined,
  only?: Endpoint,
) =>
  read((request) => {
    const endpoint = endpointIn(request);
    if (endpoint === undefined || (only !== undefined && only !== endpoint)) return undefined;
    const { path, query } = splitTarget(request.target);
    const { parameter } = endpoints[endpoint];
    const parameters = readQuery(query);
    const values = parameters.flatMap(([name, text]) => (name === parameter ? text : []));
    const [value] = values;
    const other = as(value, endpoint, values, parameters);
    if (other === undefined || other === value) return undefined;
    return { ...request, target: `${path}?${parameter}=${encodeURIComponent(other)}` };
  });

/** An id that no fixture has. */
export const NOBODY = '5eed0000-0000-4000-8000-00000000dead';
/** Takes what `test` accepts for an id, which is then unknown. */
export const wellFormed = (test: (value: string, endpoint: Endpoint) => boolean, only?: Endpoint) =>
  id(
    (value = '', endpoint) => (!isValidId(endpoint, value) && test(value, endpoint) ? NOBODY : undefined),
    only,
  );
/** Cleans an invalid value before it is checked. */
export const cleaned = (clean: (value: string) => string, only?: Endpoint) =>
  id((value = '', endpoint) => (isValidId(endpoint, clean(value)) ? clean(value) : undefined), only);
/** Reads some valid ids as another value. */
export const misread = (pattern: RegExp, as: string, only?: Endpoint) =>
  id((value = '', endpoint) => (isValidId(endpoint, value) && pattern.test(value) ? as : undefined), only);

/** A change of the data during a run, as one request may see it. */
interface DataChange {
  readonly of: 'key' | 'deposit';
  readonly request: HttpRequest;
  readonly world: World;
  /** Ms since a request could first see it. */
  readonly ageMs: number;
  /** Number of earlier requests that could see it. */
  readonly nth: number;
}

/** Limits which changes of the data, by the admin API or a state hook, a request sees. */
export const sees = (isSeen: (change: DataChange) => boolean): Change =>
  around((next) => {
    const first = new Map<unknown, { readonly at: number; nth: number }>();
    return (world, request, now) => {
      const visible = <Value>(of: DataChange['of'], { base, changed }: Overlay<Value>): Overlay<Value> => {
        const entries = [...changed].filter(([name, value]) => {
          if (base.get(name) === value) return true;
          const known = first.get(value) ?? { at: now, nth: 0 };
          first.set(value, known);
          return isSeen({ of, request, world, ageMs: now - known.at, nth: known.nth++ });
        });
        return { base, changed: new Map(entries) };
      };
      const keys = visible('key', world.keys);
      return next({ ...world, keys, deposits: visible('deposit', world.deposits) }, request, now);
    };
  });
