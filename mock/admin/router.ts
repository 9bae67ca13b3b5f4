import { unescape } from 'node:querystring';
import type { Answer, HttpRequest, HttpResponse } from '../exchange.ts';
import { syntaxErrorIn } from '../../schemas/json.ts';
import { controlsIn, controlsOf } from '../controls.ts';
import { Refusal, wrongAt, type Session } from '../session.ts';
import { splitTarget } from '../handler.ts';
import { wrongWorldName } from '../world.ts';
import { admit, type Access } from './guard.ts';
import { answerOf, checkFields } from './route.ts';
import { routes } from './routes.ts';

/** Path of the admin API, at the root whatever the base path is. */
const ROOT = '/__admin';

/** Maximum depth of a body; a fixture has five levels. */
const MAX_DEPTH = 32;

/** Answers an admin call; `access` is undefined if the caller is in this process. */
export async function answerAdmin(session: Session, access: Access | undefined, request: HttpRequest) {
  const isHead = request.method === 'HEAD';
  let answer: Answer;
  try {
    answer = await handle(session, access, isHead ? { ...request, method: 'GET' } : request);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    answer = refused(session, error);
  }
  return isHead ? { status: answer.status, headers: answer.headers, body: '' } : answer;
}

function handle(session: Session, access: Access | undefined, request: HttpRequest) {
  const { method, target, headers } = request;
  const { path, query: search } = splitTarget(target);
  const below = (path.startsWith(ROOT) ? path.slice(ROOT.length) : path) || '/';
  const here = routes.filter((one) => matchOf(one.path, below) !== null);
  const route = here.find((one) => one.method === method);
  if (access !== undefined && route?.isOpen !== true) admit(access, request);
  if (route === undefined && here.length > 0) {
    const allow = here.map((one) => one.method).join(', ');
    throw new Refusal(405, `${method} is not allowed here; allowed: ${allow}`, { headers: { Allow: allow } });
  }
  if (route === undefined)
    throw new Refusal(404, `there is no ${path}`, {
      routes: routes.map((one) => `${one.method} ${ROOT}${one.path}`),
    });
  const query = new URLSearchParams(search);
  const known = [...Object.keys(route.query ?? {}), ...(route.isForAll ? [] : ['world'])];
  for (const name of query.keys())
    if (!known.includes(name))
      throw wrongAt(name, `is unknown in the query; known are ${known.join(', ') || 'none'}`);
  const world = query.get('world') ?? '';
  const wrong = wrongWorldName(world);
  if (wrong !== undefined) throw wrongAt('world', wrong);
  const body = request.body ? parsed(request.body) : undefined;
  return route.run(controlsIn(session, world), {
    session,
    mock: controlsOf(session),
    world,
    id: unescape(matchOf(route.path, below)?.[1] ?? ''),
    query,
    accept: headers.accept ?? '',
    body: body as never,
    fields: route.fields === undefined ? {} : checkFields(route.fields, body),
  });
}

/** `/deposits/7` for `/deposits/{id}` → a match with `7`; null if the path is another. */
const matchOf = (pattern: string, path: string) =>
  new RegExp(`^${pattern.replaceAll('.', '\\.').replace('{id}', '([^/]*)')}$`).exec(path);

function parsed(text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    const { line, column, words } = syntaxErrorIn(text);
    throw wrongAt('', `the body is not JSON: line ${line}, column ${column}: ${words}`);
  }
  if (isDeeper(value, MAX_DEPTH)) throw wrongAt('', `the body is nested more than ${MAX_DEPTH} levels deep`);
  return value;
}

/** Whether a value has more levels: code that checks or writes it recurses as deep as it goes. */
function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((part) => isDeeper(part, levels - 1));
}

/** A refusal may repeat a part of the request, but no key in it. */
function refused({ redact }: Session, { status, message, details }: Refusal): HttpResponse {
  const { headers, place, ...more } = details;
  const error = { error: redact(message), ...(place !== undefined && { place: redact(place) }), ...more };
  return answerOf(status, 'application/json', JSON.stringify(error), headers);
}
