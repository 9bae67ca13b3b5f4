import type { Answer, HttpRequest } from '../exchange.ts';
import { syntaxErrorIn } from '../../schemas/json.ts';
import { isWorldName, Refusal, sandboxNamed, sandboxSeen, wrongAt, type Session } from '../session.ts';
import { splitTarget } from '../handler.ts';
import { admit, type Access } from './guard.ts';
import { checkFields, type AdminAnswer } from './route.ts';
import { routes } from './routes.ts';

/** Path of the admin API, at the root whatever the base path is. */
const ROOT = '/__admin';

/** Maximum depth of a body; a fixture has five levels. */
const MAX_DEPTH = 32;

/** Answers an admin call; `access` is undefined if the caller is in this process. */
export async function answerAdmin(
  session: Session,
  access: Access | undefined,
  request: HttpRequest,
): Promise<Answer> {
  try {
    return responseTo(await handled(session, access, request), request.method);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return refused(session, error, request.method);
  }
}

function handled(session: Session, access: Access | undefined, request: HttpRequest) {
  const method = request.method === 'HEAD' ? 'GET' : request.method;
  const { path, query: search } = splitTarget(request.target);
  const below = (path.startsWith(ROOT) ? path.slice(ROOT.length) : path) || '/';
  const here = routes.flatMap((route) => {
    const id = idIn(below, route.path);
    return id === undefined ? [] : [{ route, id }];
  });
  const found = here.find(({ route }) => route.method === method);
  if (access !== undefined && found?.route.isOpen !== true) admit(access, { ...request, method });
  if (found === undefined && here.length > 0) {
    const allow = here.map(({ route }) => route.method).join(', ');
    throw new Refusal(405, `${request.method} is not allowed here; allowed: ${allow}`, { allow });
  }
  if (found === undefined)
    throw new Refusal(404, `there is no ${path}`, {
      routes: routes.map((route) => `${route.method} ${ROOT}${route.path}`),
    });
  const query = new URLSearchParams(search);
  const world = query.get('world') ?? '';
  if (!isWorldName(world)) throw wrongAt('world', 'has to be what stands behind the ~ of a key');
  const body = request.body === undefined || request.body === '' ? undefined : parsed(request.body);
  const { id, route } = found;
  return route.handle(session, {
    world,
    // Read when it is needed: a call that is refused before then creates no world.
    get sandbox() {
      return method === 'GET' ? sandboxSeen(session, world) : sandboxNamed(session, world);
    },
    id,
    query,
    accept: request.headers.accept ?? '',
    body,
    fields: route.fields === undefined ? {} : checkFields(route.fields, body),
  });
}

/** `/deposits/7` of `/deposits/{id}` → `7`; undefined if the path is another. */
function idIn(path: string, pattern: string): string | undefined {
  const source = pattern.replaceAll('.', '\\.').replace('{id}', '([^/]*)');
  const [whole, id = ''] = new RegExp(`^${source}$`).exec(path) ?? [];
  if (whole === undefined) return undefined;
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
  if (isDeeper(value, MAX_DEPTH)) throw wrongAt('', `the body is nested more than ${MAX_DEPTH} times`);
  return value;
}

/** Whether a value has more levels: code that checks or writes it recurses as deep as it goes. */
function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((part) => isDeeper(part, levels - 1));
}

const common = { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' } as const;

function responseTo(answer: AdminAnswer, method: string): Answer {
  const isHead = method === 'HEAD';
  if ('follow' in answer) {
    const { status, headers } = answer;
    return isHead ? { status, headers, body: '' } : answer;
  }
  if (!('text' in answer)) {
    const { status, json } = answer;
    if (json === undefined) return { status, headers: common, body: '' };
    return responseTo({ status, type: 'application/json', text: JSON.stringify(json) }, method);
  }
  const { status, type, text, headers } = answer;
  const length = `${Buffer.byteLength(text)}`;
  return {
    status,
    headers: { ...common, 'Content-Type': type, 'Content-Length': length, ...headers },
    body: isHead ? '' : text,
  };
}

/** A refusal may repeat a part of the request, but no key in it. */
function refused({ redact }: Session, { status, message, details }: Refusal, method: string): Answer {
  const { allow, isChallenge, place, ...more } = details;
  const error = { error: redact(message), ...(typeof place === 'string' && { place: redact(place) }) };
  const headers = {
    ...(typeof allow === 'string' && { Allow: allow }),
    ...(isChallenge === true && { 'WWW-Authenticate': 'Bearer' }),
  };
  const text = JSON.stringify({ ...error, ...more });
  return responseTo({ status, type: 'application/json', text, headers }, method);
}
