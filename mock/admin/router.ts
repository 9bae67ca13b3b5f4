import { unescape } from 'node:querystring';
import type { Answer, HttpRequest, HttpResponse } from '../exchange.ts';
import { syntaxErrorIn } from '../../schemas/json.ts';
import { isUsed } from '../controls.ts';
import { answerOf } from '../controls/answer.ts';
import { perform, type Route } from '../controls/operation.ts';
import { Refusal, badRequest, worldHandle, type Session } from '../session.ts';
import { splitTarget } from '../handler.ts';
import { checkAccess, type Access } from './access.ts';
import { routes } from './routes.ts';

/** Path of the admin API; it does not depend on the base path. */
const ROOT = '/__admin';

/** Maximum depth of a body; a fixture has five levels. */
const MAX_DEPTH = 32;

/** Answers an admin call; `access` is undefined for a caller in this process. */
export async function answerAdmin(session: Session, access: Access | undefined, request: HttpRequest) {
  const isHead = request.method === 'HEAD';
  let answer: Answer;
  try {
    answer = await handle(session, access, isHead ? { ...request, method: 'GET' } : request);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    answer = refusalAnswer(session, error);
  }
  return isHead ? { status: answer.status, headers: answer.headers, body: '' } : answer;
}

async function handle(session: Session, access: Access | undefined, request: HttpRequest): Promise<Answer> {
  const { path, query: search } = splitTarget(request.target);
  const samePath = routes.filter((one) => matchPath(one, path) !== null);
  const route = samePath.find((one) => one.method === request.method);
  if (access !== undefined && route?.isPublic !== true) checkAccess(access, request);
  if (route === undefined) throw noRoute(request.method, path, samePath);
  const query = new URLSearchParams(search);
  const world = worldNamed(session, route, query);
  const body = request.body ? parseBody(request.body) : undefined;
  const wasUsed = isUsed(world);
  const result = await perform(route, world, body, parametersOf(route, path, query));
  if (route.respond !== undefined) return route.respond(result);
  if (result === undefined) return answerOf(204);
  // A mistyped world would make every check true that no request came.
  const isUnused = route.isGlobal !== true && !wasUsed && !isUsed(world);
  const shown = isUnused ? { ...result, unused: true } : result;
  return answerOf(route.status ?? 200, 'application/json', JSON.stringify(shown));
}

function noRoute(method: string, path: string, samePath: readonly Route[]): Refusal {
  const lines = routes.map((one) => `${one.method} ${ROOT}${one.path}`);
  if (samePath.length === 0) return new Refusal(404, `unknown path ${path}`, { routes: lines });
  const allow = samePath.map((one) => one.method).join(', ');
  return new Refusal(405, `${method} is not allowed here; allowed: ${allow}`, { headers: { Allow: allow } });
}

/** Matches a path: `/deposits/7` and `/deposits/{id}` → a match with `7`; null for another path. */
function matchPath({ path: pattern }: Route, path: string) {
  const subpath = (path.startsWith(ROOT) ? path.slice(ROOT.length) : path) || '/';
  return new RegExp(`^${pattern.replaceAll('.', '\\.').replace('{id}', '([^/]*)')}$`).exec(subpath);
}

/** @throws Refusal with 400 for an unknown parameter or an invalid name of a world */
function worldNamed(session: Session, { path, parameters = {}, isGlobal }: Route, query: URLSearchParams) {
  const own = Object.keys(parameters).filter((name) => !path.includes(`{${name}}`));
  const known = isGlobal === true ? own : [...own, 'world'];
  for (const name of query.keys())
    if (!known.includes(name))
      throw badRequest(name, `is unknown in the query; known: ${known.join(', ') || 'none'}`);
  return worldHandle(session, query.get('world') ?? '', !query.has('world'));
}

/** Reads parameters from path and query, as numbers where an operation wants one. */
function parametersOf(route: Route, path: string, query: URLSearchParams): object {
  const values = Object.entries(route.parameters ?? {}).map(([name, { schema }]) => {
    if (route.path.includes(`{${name}}`)) return [name, unescape(matchPath(route, path)![1]!)];
    const text = query.get(name);
    if (text === null) return [name, schema['default']];
    return [name, schema['type'] === 'integer' && /^-?\d{1,9}(?:\.\d+)?$/.test(text) ? Number(text) : text];
  });
  return Object.fromEntries(values) as object;
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

/** Creates the answer of a refusal, without keys: the message may repeat a part of the request. */
function refusalAnswer({ redact }: Session, { status, message, details }: Refusal): HttpResponse {
  const { headers, place, ...more } = details;
  const error = { error: redact(message), ...(place !== undefined && { place: redact(place) }), ...more };
  return answerOf(status, 'application/json', JSON.stringify(error), headers);
}
