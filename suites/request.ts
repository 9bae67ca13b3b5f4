import { endpoints, type Endpoint } from '../schemas/endpoints.ts';
import type { KnownKey } from './known.ts';

/** What stands in the Authorization header. */
export type Credential =
  /** An active key of the partner under test, whichever has room left. */
  | { readonly as: 'caller' }
  /** One certain key, presented as the interface says; `scheme` spells Bearer in another letter case. */
  | { readonly as: 'key'; readonly key: KnownKey; readonly scheme?: string }
  /** Anything else. `shell` writes the same inside double quotes, with $IB_API_KEY for the key. */
  | { readonly as: 'header'; readonly value: string; readonly shell: string; readonly key?: KnownKey }
  | { readonly as: 'none' };

/** A request as a value; the engine sends it. */
export interface Request {
  readonly endpoint: Endpoint;
  readonly method: string;
  /** Path and query below {base_url}, ready to be sent. */
  readonly target: string;
  readonly credential: Credential;
  /** Further headers, names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** A key that stands elsewhere than in the Authorization header. */
  readonly misplaced?: KnownKey;
  /** Sent while a state hook has changed the target: the fixture does not say what is true. */
  readonly isStateChanged?: true;
}

/** What differs from a plain lookup with the caller's key. */
export type Changes = Partial<
  Pick<Request, 'method' | 'credential' | 'headers' | 'body' | 'misplaced' | 'isStateChanged'>
>;

/** A lookup with a query as it is, without the question mark; undefined leaves the query out. */
export function lookup(endpoint: Endpoint, query: string | undefined, changes: Changes = {}): Request {
  const { path } = endpoints[endpoint];
  const target = query === undefined ? path : `${path}?${query}`;
  return { endpoint, method: 'GET', target, credential: { as: 'caller' }, headers: {}, ...changes };
}

/** A lookup of one value, percent-encoded where it must be. */
export function lookupOf(endpoint: Endpoint, value: string, changes: Changes = {}): Request {
  return lookup(endpoint, `${endpoints[endpoint].parameter}=${encodeValue(value)}`, changes);
}

/** `GET {base_url}/api/ib/user-status?user_id=…` */
export const userStatus = (user_id: string, changes?: Changes) => lookupOf('user-status', user_id, changes);

/** `GET {base_url}/api/ib/deposit-check?reference_id=…` */
export const depositCheck = (reference_id: string, changes?: Changes) =>
  lookupOf('deposit-check', reference_id, changes);

/** Text that tells requests apart: equal requests have equal fingerprints. */
export const fingerprint = ({ method, target, credential, headers, body }: Request): string =>
  JSON.stringify([method, target, credential, headers, body]);

/** Like encodeURIComponent, and of the characters that it leaves alone only the unreserved ones (RFC 3986 2.3). */
export const encodeValue = (value: string): string =>
  encodeURIComponent(value.toWellFormed()).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
