import { createHash, timingSafeEqual } from 'node:crypto';
import type { HttpRequest } from '../exchange.ts';
import { Refusal } from '../session.ts';

/** Who may call the admin API: whoever is on this machine, or whoever has the token. */
export type Access = { readonly kind: 'loopback' } | { readonly kind: 'token'; readonly token: string };

/**
 * Refuses a call from elsewhere. On loopback a page of another site cannot call either: not under a
 * name of its own (DNS rebinding), and not across sites, where browsers send its Origin.
 */
export function admit(access: Access, { method, headers, body }: HttpRequest): void {
  const { host = '', origin } = headers;
  if (access.kind === 'token') {
    const [, presented = ''] = /^bearer +(\S+)$/i.exec(headers.authorization ?? '') ?? [];
    if (!isSame(presented, access.token))
      throw new Refusal(
        401,
        presented === ''
          ? 'needs Authorization: Bearer and the admin token'
          : 'the admin token is wrong; the mock printed it at its start, or --admin-token set it',
        { headers: { 'WWW-Authenticate': 'Bearer' } },
      );
  } else if (!isLoopbackName(host))
    throw new Refusal(403, 'only reachable by a loopback name, such as localhost');
  const isOtherOrigin = origin !== undefined && origin.replace(/^https?:\/\//i, '') !== host;
  if (isOtherOrigin || isOfAnotherPage(headers))
    throw new Refusal(403, 'not available to pages of another origin');
  if (method !== 'GET' && body !== undefined && !isJson(headers['content-type']))
    throw new Refusal(415, 'Content-Type must be application/json');
}

/**
 * Whether a browser says that another page asks, which it does also where it sends no Origin: for an
 * image, a script, a form of GET. A link may lead here.
 */
const isOfAnotherPage = (headers: HttpRequest['headers']) =>
  (headers['sec-fetch-site'] === 'cross-site' || headers['sec-fetch-site'] === 'same-site') &&
  !(headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document');

const isJson = (type = '') => /^application\/json *(?:;|$)/i.test(type);

/** Takes as long for every wrong token. */
function isSame(one: string, other: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(one), digest(other));
}

const isLoopbackName = (host: string) => /^(?:localhost|127(?:\.\d+){3}|\[::1\])(?::\d+)?$/i.test(host);
