import { createHash, timingSafeEqual } from 'node:crypto';
import type { HttpRequest } from '../exchange.ts';
import { Refusal } from '../session.ts';

/** Who may call the admin API: callers with the token, or without one callers on this machine. */
export interface Access {
  readonly token: string | undefined;
}

/**
 * Checks that a call may use the admin API. Pages of other sites may not: neither by a host name of their own
 * (DNS rebinding) nor across origins, where browsers send `Origin`.
 *
 * @throws Refusal with 401, 403 or 415
 */
export function checkAccess(access: Access, { method, headers, body }: HttpRequest): void {
  const { host = '', origin } = headers;
  if (access.token !== undefined) {
    const [, presented = ''] = /^bearer +(\S+)$/i.exec(headers.authorization ?? '') ?? [];
    if (!isEqual(presented, access.token))
      throw new Refusal(
        401,
        presented === ''
          ? 'needs Authorization: Bearer with the admin token'
          : 'wrong admin token; use that of --admin-token, or the one that the mock printed',
        { headers: { 'WWW-Authenticate': 'Bearer' } },
      );
  } else if (!isLoopbackName(host))
    throw new Refusal(403, 'only available by a loopback name such as localhost');
  const isOtherOrigin = origin !== undefined && origin.replace(/^https?:\/\//i, '') !== host;
  if (isOtherOrigin || isOfAnotherPage(headers))
    throw new Refusal(403, 'not available to pages of another origin');
  if (method !== 'GET' && body !== undefined && !isJson(headers['content-type']))
    throw new Refusal(415, 'Content-Type must be application/json');
}

/** Whether a page of another origin calls without `Origin`: by an image, script or GET form. Links are allowed. */
const isOfAnotherPage = (headers: HttpRequest['headers']) =>
  (headers['sec-fetch-site'] === 'cross-site' || headers['sec-fetch-site'] === 'same-site') &&
  !(headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document');

const isJson = (type = '') => /^application\/json *(?:;|$)/i.test(type);

/** Compares in constant time. */
function isEqual(one: string, other: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(one), digest(other));
}

const isLoopbackName = (host: string) => /^(?:localhost|127(?:\.\d+){3}|\[::1\])(?::\d+)?$/i.test(host);
