import type { Answer, HttpRequest, HttpResponse } from '../exchange.ts';
import { syntaxErrorIn } from '../../schemas/json.ts';
import type { Redact } from '../journal.ts';
import { type Session, isWorldName, Refusal, wrongAt } from '../session.ts';
import { splitTarget } from '../handler.ts';
import { admit, type Access } from './guard.ts';
import type { AdminAnswer, Route } from './route.ts';
import { routes } from './routes.ts';

/** Path of the admin API, at the root whatever the base path is. */
const ROOT = '/__admin';

/** How deep a body may be nested; a fixture has five levels. */
const MOST_DEPTH = 32;

/** Answers an admin call; `access` is undefined where the caller is in this process. */
export async function answerAdmin(
  session: Session,
  access: Access | undefined,
  request: HttpRequest,
): Promise<Answer> {
  const method = request.method === 'HEAD' ? 'GET' : request.method;
  try {
    const { path, query } = splitTarget(request.target);
    const below = (path.startsWith(ROOT) ? path.slice(ROOT.length) : path) || '/';
    const here = routes.flatMap((route) => {
      const params = paramsOf(route.path, below);
      return params === undefined ? [] : [{ route, params }];
    });
    const found = here.find(({ route }) => route.method === method);
    if (access !== undefined && found?.route.isOpen !== true) admit(access, { ...request, method });
    if (found === undefined)
      throw noRoute(
        request,
        here.map(({ route }) => route),
      );
    const search = new URLSearchParams(query);
    const world = search.get('world') ?? '';
    if (!isWorldName(world)) throw wrongAt('world', 'has to be what stands behind the ~ of a key');
    const body = request.body === undefined || request.body === '' ? undefined : parsed(request.body);
    const { accept = '' } = request.headers;
    const { params, route } = found;
    const answer = await route.handle(session, { world, params, query: search, accept, body });
    return sent(answer, request.method);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return refused(error, session.redact, request.method);
  }
}

/** `/deposits/{id}` and `/deposits/7` → `{ id: '7' }`; undefined where they do not fit. */
function paramsOf(pattern: string, path: string): Readonly<Record<string, string>> | undefined {
  const [wanted, given] = [pattern.split('/'), path.split('/')];
  if (wanted.length !== given.length) return undefined;
  const params: Record<string, string> = {};
  for (const [index, part] of wanted.entries()) {
    const name = /^\{(\w+)\}$/.exec(part)?.[1];
    if (name !== undefined) params[name] = decoded(given[index] ?? '');
    else if (part !== given[index]) return undefined;
  }
  return params;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function parsed(text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    const { line, column, words } = syntaxErrorIn(text);
    throw wrongAt('', `the body is not JSON: line ${line}, column ${column}: ${words}`);
  }
  if (isDeeper(value, MOST_DEPTH)) throw wrongAt('', `the body is nested more than ${MOST_DEPTH} times`);
  return value;
}

/** Whether something lies below so many levels: what writes or checks a value goes as deep as it does. */
function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((part) => isDeeper(part, levels - 1));
}

function noRoute({ method, target }: HttpRequest, others: readonly Route[]): Refusal {
  const allow = others.map((route) => route.method).join(', ');
  if (others.length > 0)
    return new Refusal(405, `${method} is not allowed here; allowed: ${allow}`, { allow });
  const all = routes.map((route) => `${route.method} ${ROOT}${route.path}`);
  return new Refusal(404, `there is no ${splitTarget(target).path}`, { routes: all });
}

const common = { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' } as const;

function sent(answer: AdminAnswer, method: string): Answer {
  if ('follow' in answer) {
    const { status, headers } = answer;
    return method === 'HEAD' ? { status, headers, body: '' } : answer;
  }
  if ('html' in answer) {
    const page = withBody(answer.status, 'text/html; charset=utf-8', answer.html, method);
    return { ...page, headers: { ...page.headers, ...answer.headers } };
  }
  if ('text' in answer) return withBody(answer.status, answer.type, answer.text, method);
  return answer.json === undefined
    ? { status: answer.status, headers: common, body: '' }
    : withBody(answer.status, 'application/json', JSON.stringify(answer.json), method);
}

/** A refusal may repeat what it was asked, but no key in that. */
function refused({ status, message, details }: Refusal, redact: Redact, method: string): HttpResponse {
  const { allow, isChallenge, place, ...more } = details;
  const told = {
    error: redact(message),
    ...(typeof place === 'string' && { place: redact(place) }),
    ...more,
  };
  const response = withBody(status, 'application/json', JSON.stringify(told), method);
  const fields = {
    ...(typeof allow === 'string' && { Allow: allow }),
    ...(isChallenge === true && { 'WWW-Authenticate': 'Bearer' }),
  };
  return { ...response, headers: { ...response.headers, ...fields } };
}

function withBody(status: number, type: string, body: string, method: string): HttpResponse {
  const length = `${Buffer.byteLength(body)}`;
  return {
    status,
    headers: { ...common, 'Content-Type': type, 'Content-Length': length },
    body: method === 'HEAD' ? '' : body,
  };
}
