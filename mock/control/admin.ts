import { createHash, timingSafeEqual } from 'node:crypto';
import { unescape } from 'node:querystring';
import { syntaxErrorIn } from '../../schemas/json.ts';
import type { HttpRequest, HttpResponse } from '../server/exchange.ts';
import { splitTarget } from '../server/handler.ts';
import { operations, perform, withoutKeys, type Operation } from './operations.ts';
import { page } from '../page/generated/page.ts';
import { badRequest, Refusal } from '../server/refusal.ts';
import type { Session } from './session.ts';

/** Path of the admin API; it does not depend on the base path. */
export const ADMIN_PATH = /^\/__admin(?=[/?]|$)/;

/** Maximum depth of a body; a fixture has five levels. */
const MAX_DEPTH = 32;

/** Who may call the admin API: callers with the token, or without one callers on this machine. */
export interface Access {
  readonly token: string | undefined;
}

/** Answers an admin call; `access` is undefined for a caller in this process. */
export function answerAdmin(session: Session, access: Access | undefined, request: HttpRequest) {
  const isHead = request.method === 'HEAD';
  let answer: HttpResponse;
  try {
    answer = handle(session, access, isHead ? { ...request, method: 'GET' } : request);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    answer = refusalAnswer(withoutKeys(session, error));
  }
  return isHead ? { ...answer, body: '' } : answer;
}

function handle(session: Session, access: Access | undefined, request: HttpRequest) {
  const { method, target } = request;
  const { path, query: search } = splitTarget(target.replace(ADMIN_PATH, ''));
  // The page is public: it contains no data and loads them by calls with the token.
  if ((path === '' || path === '/') && method === 'GET') return pageAnswer();
  const samePath = rows.filter((row) => row.pattern.test(path));
  const row = samePath.find((one) => one.method === method);
  if (access !== undefined && row?.isPublic !== true) checkAccess(access, request);
  if (row === undefined) throw noSuchCall(method, path, samePath);
  const { world, ...query } = queryOf(search);
  const [unknown] = method === 'GET' ? [] : Object.keys(query);
  if (unknown !== undefined) throw badRequest(unknown, 'is unknown in the query; known: world');
  const body = request.body ? parseBody(request.body) : undefined;
  const ids = (row.pattern.exec(path) ?? []).slice(1).map((id) => unescape(id));
  const input = method === 'GET' ? query : body;
  const result = perform(row, session, world, [...ids, ...(input === undefined ? [] : [input])]);
  return result === undefined ? answerOf(204) : answerOf(200, 'application/json', JSON.stringify(result));
}

const rows = Object.values(operations).map((one) => {
  const [method = '', path = ''] = one.call.split(' ');
  return {
    ...(one as unknown as Operation),
    method,
    pattern: new RegExp(`^${path.replace('{id}', '(.+)')}$`),
  };
});

function noSuchCall(method: string, path: string, samePath: readonly { readonly method: string }[]): Refusal {
  const calls = rows.map(({ call }) => call.replace(' ', ' /__admin'));
  if (samePath.length === 0) return new Refusal(404, `unknown path ${path}`, { calls });
  const allow = samePath.map((one) => one.method).join(', ');
  return new Refusal(405, `${method} is not allowed here; allowed: ${allow}`, { headers: { Allow: allow } });
}

/** Reads a query. Whole numbers become numbers. */
function queryOf(search: string): Readonly<Record<string, unknown>> & { world?: string } {
  const query = new URLSearchParams(search);
  const values = Array.from(query, ([name, text]) => [
    name,
    /^(?:status|since|limit)$/.test(name) && /^\d{1,15}$/.test(text) ? Number(text) : text,
  ]);
  if (new Set(query.keys()).size < values.length) throw badRequest('', 'the query names a parameter twice');
  return Object.fromEntries(values) as Record<string, unknown>;
}

function parseBody(text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    const { line, column, words } = syntaxErrorIn(text);
    throw badRequest('', `the body is not JSON: line ${line}, column ${column}: ${words}`);
  }
  if (isDeeperThan(value, MAX_DEPTH))
    throw badRequest('', `the body is nested more than ${MAX_DEPTH} levels deep`);
  return value;
}

/** Whether a value has more levels. Later code recurses into every level. */
function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((part) => isDeeperThan(part, levels - 1));
}

function pageAnswer(): HttpResponse {
  const headers = { 'Content-Security-Policy': policyOf(page), 'Referrer-Policy': 'no-referrer' };
  return answerOf(200, 'text/html; charset=utf-8', page, headers);
}

function refusalAnswer({ status, message, details }: Refusal): HttpResponse {
  const { headers, ...more } = details;
  return answerOf(status, 'application/json', JSON.stringify({ error: message, ...more }), headers);
}

/** Creates an answer of the admin API; without a type, it has no body. */
function answerOf(status: number, type = '', body = '', headers: HttpResponse['headers'] = {}): HttpResponse {
  const content = type !== '' && { 'Content-Type': type, 'Content-Length': `${Buffer.byteLength(body)}` };
  const common = { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' };
  return { status, headers: { ...common, ...content, ...headers }, body };
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
    throw new Refusal(
      403,
      'only available by a loopback name such as localhost; with --admin-token, by any name',
    );
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

/**
 * Returns the Content-Security-Policy of the page: only its own style and script, by hash, and calls to its own
 * origin. No frames, and no text as markup.
 */
export function policyOf(html: string): string {
  return [
    "default-src 'none'",
    `script-src ${hashesOf(html, 'script')}`,
    `style-src ${hashesOf(html, 'style')}`,
    "connect-src 'self'",
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ');
}

function hashesOf(html: string, element: 'script' | 'style'): string {
  const texts = html.matchAll(new RegExp(`<${element}>([^]*?)</${element}>`, 'g'));
  const hashOf = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
  return Array.from(texts, ([, text = '']) => hashOf(text)).join(' ');
}
