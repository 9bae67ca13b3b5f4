import { endpointNames, endpoints } from '../../schemas/endpoints.ts';
import { wrongUsage } from '../../schemas/problem.ts';
import type { Answer } from '../../suites/answer.ts';
import { decodeBody } from '../../suites/index.ts';
import type { KnownKey } from '../../suites/catalogue/known.ts';
import type { Request } from '../../suites/request.ts';

/**
 * Reads a request: a path or a URL, perhaps with a method before it, such as `GET /api/ib/…`.
 *
 * @param key the key that the request has, if any
 * @throws Problem with code `usage` if it cannot be read or has another path than the interface
 */
export function readRequest(text: string, key: KnownKey | undefined): Request {
  const line = text.trim();
  const [, method = 'GET', target] = /^(?:([A-Z]+)\s+)?(\S+)$/.exec(line) ?? [];
  if (target === undefined)
    throw wrongUsage(`${line}: needs a path or a URL, such as 'GET /api/ib/user-status?user_id=…'`);
  return { ...targetOf(target), method, headers: {}, credential: key ? { as: 'key', key } : { as: 'none' } };
}

/** Path and query of a URL. */
const localOf = (text: string) => text.replace(/^https?:\/\/[^/?#]*/i, '').replace(/#.*$/s, '');

/** Endpoint and target of a path or URL, without what stands before `/api/ib`. Another form of the path stays as it is. */
function targetOf(text: string): Pick<Request, 'endpoint' | 'target'> {
  const raw = localOf(text);
  const mark = raw.indexOf('?');
  const path = mark < 0 ? raw : raw.slice(0, mark);
  const query = mark < 0 ? '' : raw.slice(mark);
  const endpointIn = (one: string) => endpointNames.find((name) => one.endsWith(endpoints[name].path));
  const exact = endpointIn(path);
  const base = exact === undefined ? '' : path.slice(0, -endpoints[exact].path.length);
  // Before the path of an endpoint, a base path may stand, but nothing that a server may leave out.
  const isForm = exact === undefined || /\/$|\/(?:\.|%2e){1,2}(?:\/|;|$)|;/i.test(base);
  const endpoint = exact ?? endpointIn(normalized(path));
  if (endpoint !== undefined && isForm) return { endpoint, target: path + query };
  if (endpoint === undefined) {
    const paths = endpointNames.map((name) => endpoints[name].path).join(', ');
    throw wrongUsage(`${path || text}: the interface has no such path; paths: ${paths}`);
  }
  return { endpoint, target: endpoints[endpoint].path + query };
}

/** The path that a server may take another one for: decoded, without dot segments, parameters, suffix and letter case. */
function normalized(path: string): string {
  const decoded = path.replace(/%([2-7][0-9a-f])/gi, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
  const plain = decoded
    .replace(/;[^/]*/g, '')
    .replace(/\/{2,}/g, '/')
    .trim();
  const { pathname } = new URL(plain, 'http://localhost');
  return pathname.replace(/(?:\/|\.json)$/, '').toLowerCase();
}

/**
 * Reads an answer as `curl -i` prints it: status line, header fields, an empty line, the body. The last head counts:
 * curl also prints those of a proxy, such as `200 Connection established` or 407, and `100 Continue`.
 *
 * @param name of the file, for messages
 * @throws Problem with code `usage` if it is no HTTP answer
 */
export function readAnswer(bytes: Uint8Array, name: string): Answer {
  // Latin-1 keeps the number of bytes.
  const text = Buffer.from(bytes).toString('latin1');
  const head = /^HTTP\/[\d.]+ (\d{3})[^\n]*\n((?:[^\r\n]+\r?\n)*)(?:\r?\n|$)/;
  let [at, found, status, lines]: [number, boolean, number, string] = [0, false, 0, ''];
  for (let match = head.exec(text); match !== null; match = head.exec(text.slice(at))) {
    [found, status, lines = ''] = [true, Number(match[1]), match[2]];
    at += match[0].length;
  }
  if (!found)
    throw wrongUsage(
      `${name}: is no HTTP answer; its first line must be a status line, as \`curl -i\` prints it`,
    );
  const headers: Record<string, string[]> = {};
  for (const line of lines.split(/\r?\n/).filter(Boolean)) {
    const [, field, value = ''] = /^([^:\s]+):[ \t]*(.*?)[ \t]*$/.exec(line) ?? [];
    if (field === undefined)
      throw wrongUsage(`${name}: is no HTTP answer: ${JSON.stringify(line)} is no header field`);
    (headers[field.toLowerCase()] ??= []).push(value);
  }
  const body = decodeBody(bytes.subarray(at), headers['content-encoding']?.[0]);
  return { kind: 'answer', status, headers, ...body, sentAt: 0, receivedAt: 0, tookMs: 0 };
}
