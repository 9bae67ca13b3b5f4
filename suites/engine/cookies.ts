import type { Answer } from '../answer.ts';
import type { Request } from '../request.ts';
import type { RunOptions } from './run-options.ts';

/** Cookies that the target set in right answers, by key. */
export type Cookies = Map<string | undefined, Map<string, string>>;

/**
 * Adds cookies that the target has set, if a request sends them back. A key of the partner has no use for them, except
 * its own once it is revoked.
 */
export function withCookies(
  { known, cookies, headers }: Pick<RunOptions, 'known' | 'headers'> & { readonly cookies: Cookies },
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
