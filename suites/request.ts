import { endpoints, type Endpoint } from '../schemas/endpoints.ts';
import type { KnownKey } from './known.ts';

/** The content of the Authorization header. */
export type Credential =
  /** Any active key of the partner under test that is not rate-limited. */
  | { readonly as: 'caller' }
  /** A specific key. `scheme` is Bearer in another letter case. */
  | { readonly as: 'key'; readonly key: KnownKey; readonly scheme?: string }
  /** Any other value. `shell` is its form in double quotes, with $IB_API_KEY for the key. */
  | { readonly as: 'header'; readonly value: string; readonly shell: string; readonly key?: KnownKey }
  | { readonly as: 'none' };

/** Letter case of field names, which does not matter (RFC 9110 5.1). */
export type FieldNames = 'capitalized' | 'upper case';

/** A request as a value. The engine sends it. */
export interface Request {
  readonly endpoint: Endpoint;
  readonly method: string;
  /** Encoded path and query below {base_url}. */
  readonly target: string;
  readonly credential: Credential;
  /** Whether the target is sent as a URL (absolute form, RFC 9112 3.2.2). */
  readonly isAbsolute?: true;
  /** Further headers. Names are in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** How all field names are written; without it, in lower case. */
  readonly fieldNames?: FieldNames;
  readonly body?: string;
  /**
   * Whether the cookies that the target has set are sent back: those of right answers to the key itself, or to the key
   * under test if this is not one of its partner.
   */
  readonly cookies?: 'of the key' | 'of ours';
  /** The key, if it is sent outside the Authorization header. */
  readonly misplaced?: KnownKey;
}

/** Differences from a plain lookup with the caller's key. */
export type Changes = Partial<
  Pick<Request, 'method' | 'credential' | 'headers' | 'fieldNames' | 'body' | 'cookies' | 'misplaced'>
>;

/** The raw query of a request, without the question mark. */
export function queryOf({ target }: Pick<Request, 'target'>): string {
  const mark = target.indexOf('?');
  return mark < 0 ? '' : target.slice(mark + 1);
}

/** Whether a request is to the exact path of its endpoint. */
export const isOnPath = ({ endpoint, target }: Request): boolean =>
  target.split('?')[0] === endpoints[endpoint].path;

/** Whether a request is a lookup as the interface shows it, whatever its query is (GET user-status; GET deposit-check). */
export const isLookup = (request: Request): boolean => request.method === 'GET' && isOnPath(request);

/** A lookup with a raw query, without the question mark; undefined for no query. */
export function lookup(endpoint: Endpoint, query: string | undefined, changes: Changes = {}): Request {
  const { path } = endpoints[endpoint];
  const target = query === undefined ? path : `${path}?${query}`;
  return { endpoint, method: 'GET', target, credential: { as: 'caller' }, headers: {}, ...changes };
}

/** A lookup of one value, percent-encoded if necessary. */
export function lookupOf(endpoint: Endpoint, value: string, changes: Changes = {}): Request {
  return lookup(endpoint, `${endpoints[endpoint].parameter}=${encodeValue(value)}`, changes);
}

/** `GET {base_url}/api/ib/user-status?user_id=…` */
export const userStatus = (user_id: string, changes?: Changes) => lookupOf('user-status', user_id, changes);

/** `GET {base_url}/api/ib/deposit-check?reference_id=…` */
export const depositCheck = (reference_id: string, changes?: Changes) =>
  lookupOf('deposit-check', reference_id, changes);

/** The id that a lookup asks for, in lower case; the value as sent if it is none, and empty without one. */
export function idOf(request: Request): string {
  const { parameter } = endpoints[request.endpoint];
  const pattern = new RegExp(`(?:^|&)${parameter.replace('_', '(?:_|%5F)')}=([^&]*)`);
  const raw = pattern.exec(queryOf(request))?.[1] ?? '';
  return decoded(raw.replaceAll('+', ' '))?.toLowerCase() ?? raw;
}

/** Text without percent-encoding; undefined if the encoding is broken. */
export function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** A text that identifies a request: equal requests have equal fingerprints. */
export const fingerprint = ({
  method,
  target,
  isAbsolute,
  credential,
  headers,
  fieldNames,
  body,
  cookies,
}: Request): string => {
  const who = credential.as === 'key' ? [credential.key.key, credential.scheme] : credential;
  return JSON.stringify([method, target, isAbsolute, who, headers, fieldNames, body, cookies]);
};

/** Writes a field name in another letter case: `x-api-key` → `X-Api-Key` or `X-API-KEY`. */
export function writtenName(name: string, as: FieldNames | undefined): string {
  if (as === undefined) return name;
  return as === 'upper case'
    ? name.toUpperCase()
    : name.replace(/(?<=^|-)[a-z]/g, (letter) => letter.toUpperCase());
}

/** Like encodeURIComponent, but encodes everything except unreserved characters (RFC 3986 2.3). */
export const encodeValue = (value: string): string =>
  encodeURIComponent(value.toWellFormed()).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
