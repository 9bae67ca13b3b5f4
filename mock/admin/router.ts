import type { Answer, HttpRequest, HttpResponse } from '../exchange.ts';
import { syntaxErrorIn } from '../../schemas/json.ts';
import type { Redact } from '../journal.ts';
import { isWorldName, Refusal, wrongAt, type Session } from '../session.ts';
import { splitTarget } from '../handler.ts';
import { admit, type Access } from './guard.ts';
import { checkFields, type AdminAnswer, type Route } from './route.ts';
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
      const id = idIn(below, route.path);
      return id === undefined ? [] : [{ route, id }];
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
    const { id, route } = found;
    const fields = route.fields === undefined ? {} : checkFields(route.fields, body);
    const answer = await route.handle(session, { world, id, query: search, accept, body, fields });
    return sent(answer, request.method);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return refused(error, session.redact, request.method);
  }
}

/** `/deposits/7` of `/deposits/{id}` → `7`; undefined if the path is another. */
function idIn(path: string, pattern: string): string | undefined {
  const [before = '', after] = pattern.split('{id}');
  if (after === undefined) return path === pattern ? '' : undefined;
  const id = path.slice(before.length, path.length - after.length);
  const isLongEnough = path.length >= before.length + after.length;
  if (!isLongEnough || !path.startsWith(before) || !path.endsWith(after) || id.includes('/'))
    return undefined;
  try {
    return decodeURIComponent(id);
  } catch {
    return id;
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
