import { unescape } from 'node:querystring';
import type { Answer, HttpRequest, HttpResponse } from '../exchange.ts';
import { syntaxErrorIn } from '../../schemas/json.ts';
import { worldControls, createControls } from '../controls.ts';
import { Refusal, badRequest, type Session } from '../session.ts';
import { splitTarget } from '../handler.ts';
import { worldNameProblem } from '../world.ts';
import { checkAccess, type Access } from './access.ts';
import { checkFields } from '../controls/inputs.ts';
import { adminAnswer } from './operation.ts';
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

function handle(session: Session, access: Access | undefined, request: HttpRequest) {
  const { method, target, headers } = request;
  const { path, query: search } = splitTarget(target);
  const subpath = (path.startsWith(ROOT) ? path.slice(ROOT.length) : path) || '/';
  const samePath = routes.filter((one) => matchPath(one.path, subpath) !== null);
  const route = samePath.find((one) => one.method === method);
  if (access !== undefined && route?.isPublic !== true) checkAccess(access, request);
  if (route === undefined && samePath.length > 0) {
    const allow = samePath.map((one) => one.method).join(', ');
    throw new Refusal(405, `${method} is not allowed here; allowed: ${allow}`, { headers: { Allow: allow } });
  }
  if (route === undefined)
    throw new Refusal(404, `unknown path ${path}`, {
      routes: routes.map((one) => `${one.method} ${ROOT}${one.path}`),
    });
  const query = new URLSearchParams(search);
  const known = [...Object.keys(route.query ?? {}), ...(route.isGlobal ? [] : ['world'])];
  for (const name of query.keys())
    if (!known.includes(name))
      throw badRequest(name, `is unknown in the query; known: ${known.join(', ') || 'none'}`);
  const world = query.get('world') ?? '';
  const wrong = worldNameProblem(world);
  if (wrong !== undefined) throw badRequest('world', wrong);
  const body = request.body ? parseBody(request.body) : undefined;
  return route.run(worldControls(session, world), {
    session,
    mock: createControls(session),
    world,
    id: unescape(matchPath(route.path, subpath)?.[1] ?? ''),
    query,
    accept: headers.accept ?? '',
    body: body as never,
    fields: route.fields === undefined ? {} : checkFields(route.fields, body),
  });
}

/** Matches a path: `/deposits/7` and `/deposits/{id}` → a match with `7`; null for another path. */
const matchPath = (pattern: string, path: string) =>
  new RegExp(`^${pattern.replaceAll('.', '\\.').replace('{id}', '([^/]*)')}$`).exec(path);

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
  return adminAnswer(status, 'application/json', JSON.stringify(error), headers);
}
