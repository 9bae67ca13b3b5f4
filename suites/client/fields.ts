import { createHash, randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Answer } from '../answer.ts';
import { fingerprint, type Request } from '../request.ts';
import type { Known } from '../known.ts';

type Fields = Readonly<Record<string, string>>;

/** Cookies that the target set in right answers, by key. */
export type Cookies = Map<string | undefined, Map<string, string>>;

/**
 * Adds cookies that the target has set, if a request sends them back. A key of the partner has no use for them, except
 * its own once it is revoked.
 */
export function withCookies(
  { known, cookies, headers }: { readonly known: Known; readonly headers: Fields; readonly cookies: Cookies },
  request: Request,
): Request {
  const { cookies: which, credential } = request;
  if (which === undefined) return request;
  const key = credential.as === 'key' ? credential.key : undefined;
  const isOurs = known.callerKeys.some((one) => one === key);
  if (which === 'of ours' && isOurs) return request;
  const kept = cookies.get(which === 'of the key' ? key?.key : known.callerKeys[0]?.key);
  if (kept === undefined) return request;
  const set = [...kept].map(([name, value]) => `${name}=${value}`);
  const all = [headers['cookie'], request.headers['cookie'], ...set].filter((one) => one !== undefined);
  return { ...request, headers: { ...request.headers, cookie: all.join('; ') } };
}

/** Keeps the cookies of a right answer to a key. */
export function keepCookies(cookies: Cookies, { credential }: Request, { status, headers }: Answer): void {
  const fields = headers['set-cookie'];
  if (status !== 200 || fields === undefined || credential.as !== 'key') return;
  const kept = cookies.get(credential.key.key) ?? new Map<string, string>();
  cookies.set(credential.key.key, kept);
  for (const field of fields) {
    const [, name, value] = /^\s*([^=;\s]+)=([^;]*)/.exec(field) ?? [];
    if (name !== undefined && value !== undefined) kept.set(name, value.trim());
  }
}

/**
 * The fields of a request. One of its own replaces one of the user, whose names are in lower case. They are a Map:
 * behind a proxy, undici refuses any other form that has a Proxy-Authorization for the target.
 */
export function fieldsToSend(ofUser: Fields, own: Fields): Map<string, string> {
  const names = new Set(Object.keys(own).map((name) => name.toLowerCase()));
  const kept = Object.entries(ofUser).filter(([name]) => !names.has(name));
  return new Map([...kept, ...Object.entries(own)]);
}

/** Without a prototype, so that only received names exist, not `constructor`. V8 is slow with `Object.create(null)`. */
const Received = function () {} as unknown as new () => Record<string, readonly string[]>;
Received.prototype = Object.create(null);

export function multiMap(headers: IncomingHttpHeaders): Answer['headers'] {
  const map = new Received();
  for (const [name, value = ''] of Object.entries(headers))
    map[name] = typeof value === 'string' ? [value] : value;
  return map;
}

/**
 * Returns the traceparent of a request (W3C Trace Context), at random for each run. Equal requests have the same one:
 * for a cache, they must be equal.
 */
export function createTraces(): (request: Request) => string {
  const ofRun = randomBytes(16);
  return (request) => {
    const hex = createHash('sha256').update(ofRun).update(fingerprint(request)).digest('hex');
    return `00-${hex.slice(0, 32)}-${hex.slice(32, 48)}-01`;
  };
}
