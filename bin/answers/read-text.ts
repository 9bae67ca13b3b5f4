import { endpointNames, endpoints } from '../../schemas/endpoints.ts';
import { wrongUsage } from '../../schemas/problem.ts';
import type { Answer } from '../../suites/answer.ts';
import { decodeBody } from '../../suites/index.ts';
import type { Known, KnownKey } from '../../suites/known.ts';
import type { Request } from '../../suites/request.ts';

/** What a request text is read with. */
export interface Reading {
  readonly known: Known;
  /** The key that the request has, or that `$IB_API_KEY` stands for. */
  readonly key: KnownKey | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/**
 * Reads a request: `GET /api/ib/…`, a path, a URL, or a curl command line as reports print it.
 *
 * @throws Problem with code `usage` if it cannot be read or has another path than the interface
 */
export function readRequest(text: string, reading: Reading): Request {
  const line = text.trim();
  if (/^curl\s/.test(line)) return fromCurl(wordsOf(line, reading), reading);
  const [, method = 'GET', target] = /^(?:([A-Z]+)\s+)?(\S+)$/.exec(line) ?? [];
  if (target === undefined)
    throw wrongUsage(
      `${line}: needs a path, a URL or a curl line, such as 'GET /api/ib/user-status?user_id=…'`,
    );
  const { key } = reading;
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

/** Options of curl that do not change the request. */
const harmless =
  /^(?:-[gisSvkfN]+|--(?:globoff|include|silent|show-error|verbose|insecure|fail|path-as-is|compressed|http1\.1))$/;

function fromCurl([, ...words]: readonly string[], { known, key }: Reading): Request {
  const headers: Record<string, string> = {};
  let [method, url, body]: (string | undefined)[] = [];
  let isAbsolute = false;
  const left = words.values();
  for (const word of left) {
    const value = () => {
      const next = left.next();
      if (next.done === true) throw wrongUsage(`curl: ${word} needs a value`);
      return next.value;
    };
    if (word === '-X' || word === '--request') method = value();
    else if (word === '--head' || word === '-I') method = 'HEAD';
    else if (/^(?:-d|--data(?:-raw|-binary)?)$/.test(word)) body = value();
    else if (word === '-H' || word === '--header') {
      // A name with a semicolon is a field without a value.
      const given = value();
      const [, name, field = ''] = /^([^:;]+)(?::\s*(.*)|;)$/s.exec(given) ?? [];
      if (name === undefined) throw wrongUsage(`curl: ${given} is no header field; needs 'name: value'`);
      headers[name.toLowerCase()] = field;
    } else if (word === '--url') url = value();
    else if (word === '--request-target') isAbsolute = /^https?:/i.test(value());
    else if (word.startsWith('-') && !harmless.test(word))
      throw wrongUsage(`curl: ${word} is not understood; leave it out if it does not change the request`);
    else if (!word.startsWith('-')) url = word;
  }
  if (url === undefined) throw wrongUsage('curl: there is no URL in this line');
  const { authorization, ...fields } = headers;
  // A proxy may have moved the path into a field.
  const moved = fields['x-original-url'] ?? fields['x-rewrite-url'];
  const target = moved === undefined ? targetOf(url) : { ...targetOf(moved), target: localOf(url) };
  const request = {
    ...target,
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    headers: fields,
    ...(isAbsolute ? { isAbsolute } : {}),
  } as const;
  const content = body === undefined ? request : { ...request, body };
  if (authorization !== undefined) {
    const isPlain = key !== undefined && authorization === `Bearer ${key.key}`;
    return {
      ...content,
      credential: isPlain ? { as: 'key', key } : { as: 'header', value: authorization, shell: authorization },
    };
  }
  const written = [request.target, body ?? '', ...Object.values(fields)].join('\n');
  const misplaced = known.everyKey.find((one) =>
    [one.key, encodeURIComponent(one.key)].some((form) => written.includes(form)),
  );
  return { ...content, credential: { as: 'none' }, ...(misplaced && { misplaced }) };
}

/** The words of a command line: quotes, escapes and variables are those of a shell. */
function wordsOf(line: string, reading: Reading): readonly string[] {
  const token = /\\\n|\s+|'([^']*)'|"|\\(.)|(\$\([^)]*\)|\$\{[^}]*\}|\$\w+)|([^\s'"\\$]+|\$)/gsy;
  const words: string[] = [];
  let [word, isQuoted]: [string | undefined, boolean] = [undefined, false];
  for (let at = 0; at < line.length; at = token.lastIndex) {
    token.lastIndex = at;
    const match = token.exec(line);
    if (match === null) throw wrongUsage('curl: a single quote has no end');
    const [all, single, escaped, variable] = match;
    if (all === '\\\n') continue;
    if (all === '"') [word, isQuoted] = [word ?? '', !isQuoted];
    else if (!isQuoted && /^\s/.test(all)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else if (variable !== undefined) word = (word ?? '') + valueOf(variable, reading);
    else if (isQuoted) word += escaped !== undefined && !'\\"$`'.includes(escaped) ? all : (escaped ?? all);
    else word = (word ?? '') + (single ?? escaped ?? all);
  }
  if (isQuoted) throw wrongUsage('curl: a double quote has no end');
  return word === undefined ? words : [...words, word];
}

/** The code of Basic credentials: a format, and a key or another text. */
const encoded = /^\$\(printf (\S+) "([^"]*)" \| base64/;

/**
 * The value of a variable, a part of it (`${NAME:0:4}`), another letter case (`${NAME^^}`), or the code that reports
 * print for an encoded key.
 */
function valueOf(text: string, reading: Reading): string {
  const { key, env } = reading;
  const [, format, word = ''] = encoded.exec(text) ?? [];
  if (format !== undefined) {
    const value = word.startsWith('$') ? valueOf(word, reading) : word;
    return Buffer.from(format.replace('%s', () => value)).toString('base64');
  }
  const [, code] = /^\$\(printf '\\([0-7]{3})'\)$/.exec(text) ?? [];
  if (code !== undefined) return String.fromCharCode(Number.parseInt(code, 8));
  const [, name = 'IB_API_KEY'] = /(?:^\$\{?|process\.env\.|"\$)(\w+)/.exec(text) ?? [];
  const value = name === 'IB_API_KEY' ? key?.key : env[name];
  if (value === undefined) {
    const fix =
      name === 'IB_API_KEY'
        ? 'name a key with --key'
        : `export ${name}, or write $IB_API_KEY and name its key with --key`;
    throw wrongUsage(`curl: $${name} has no value: ${fix}`);
  }
  if (text.startsWith('$(')) return value;
  const [, from, length] = /:(\d+):(\d+)\}$/.exec(text) ?? [];
  if (from !== undefined) return value.slice(Number(from), Number(from) + Number(length));
  if (text.endsWith('^^}')) return value.toUpperCase();
  return text.endsWith(',,}') ? value.toLowerCase() : value;
}

/**
 * Reads an answer as `curl -i` prints it: status line, header fields, an empty line, the body. Of several answers, such
 * as after `100 Continue`, the last one counts.
 *
 * @param name of the file, for messages
 * @throws Problem with code `usage` if it is no HTTP answer
 */
export function readAnswer(bytes: Uint8Array, name: string): Answer {
  // Latin-1 keeps the number of bytes.
  const text = Buffer.from(bytes).toString('latin1');
  const head = /^HTTP\/[\d.]+ (\d{3})[^\n]*\n((?:[^\r\n]+\r?\n)*)(?:\r?\n|$)/;
  let [at, found, status, lines]: [number, boolean, number, string] = [0, false, 0, ''];
  for (
    let match = head.exec(text);
    match !== null && (!found || status < 200);
    match = head.exec(text.slice(at))
  ) {
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
