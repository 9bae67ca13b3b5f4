import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';

/** What came back on a connection, in latin1, and whether it ended in an orderly way. */
export interface Heard {
  readonly bytes: string;
  /** Such as ECONNRESET; undefined where it ended with FIN. */
  readonly code: string | undefined;
}

export interface Saying {
  /** Our side is ended behind what is sent. */
  readonly half?: boolean;
}

/**
 * A connection to a port of this machine that stays open until somebody ends it. The process lives by its
 * server alone: a test that fails leaves it with nothing to wait for.
 */
export async function connected(port: number): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
  await once(socket, 'connect');
  return socket.unref().setEncoding('latin1');
}

/** Silence (ms) after which a test is not to wait any more: then something is wrong. */
const PATIENCE = 10_000;

/** All that comes until the other side ends the connection, or resets it. */
function heard(socket: Socket): Promise<Heard> {
  return new Promise((resolve) => {
    let bytes = '';
    let code: string | undefined;
    socket.on('data', (chunk) => (bytes += String(chunk)));
    socket.setTimeout(PATIENCE, () => {
      bytes += ' and then nothing more';
      socket.destroy();
    });
    socket.on('error', (error: NodeJS.ErrnoException) => (code = error.code));
    socket.once('end', () => socket.destroy()).once('close', () => resolve({ bytes, code }));
  });
}

/** Two turns of the loop: what was written before them has been read by a server in this process. */
export async function arrived(): Promise<void> {
  await turn();
  await turn();
}

/**
 * Sends segments, each so that it arrives by itself, and hears what comes back. The connection has to be
 * ended by the other side.
 */
export async function say(
  port: number,
  segments: readonly (string | Uint8Array)[],
  { half = false }: Saying = {},
): Promise<Heard> {
  const socket = await connected(port);
  const all = heard(socket);
  for (const [index, segment] of segments.entries()) {
    if (index > 0) await arrived();
    if (!socket.writable) break;
    socket.write(typeof segment === 'string' ? Buffer.from(segment, 'latin1') : segment);
  }
  if (half) socket.end();
  return all;
}

/** Turns between two looks: with thousands of sockets a look takes longer than a turn. */
const AT_ONCE = 50;

/** Far more than it takes for the other side of a connection to see what became of it. */
const MOST_TURNS = 200_000;

/**
 * Resolves when the servers of this process have so many connections. They take one in each turn.
 *
 * @throws AssertionError where it does not come to that
 */
export async function openSockets(count: number, mostTurns = MOST_TURNS): Promise<void> {
  for (let turns = 0; sockets() !== count; turns += AT_ONCE) {
    assert.ok(turns < mostTurns, `${sockets()} connections are open instead of ${count}`);
    for (let done = 0; done < AT_ONCE; done += 1) await turn();
  }
}

const sockets = () =>
  process.getActiveResourcesInfo().filter((resource) => resource === 'TCPSocketWrap').length;
/** An answer as it stood in the bytes of a connection. */
export interface RawAnswer {
  readonly status: number;
  /** By their names in lower case. */
  readonly fields: ReadonlyMap<string, string>;
  readonly body: string;
}

const STATUS_LINE = /^HTTP\/1\.1 ([1-5]\d\d) [ -~]*$/;
const FIELD = /^([!#$%&'*+.^_`|~\dA-Za-z-]+): ([!-~](?:[ -~]*[!-~])?)?$/;

/**
 * Reads answers one behind the other, as strictly as RFC 9112 is written, and each as the interface has
 * it: JSON, and `error` alone from 400 on (Errors). Without any leniency of a client.
 *
 * @param bytes all that came, in latin1
 * @param methods of the requests, where some of them were HEAD: those answers have no body
 * @throws AssertionError that says what is wrong
 */
export function readAnswers(bytes: string, methods: readonly string[] = []): readonly RawAnswer[] {
  const answers: RawAnswer[] = [];
  let rest = bytes;
  while (rest !== '') {
    const [answer, behind] = readAnswer(rest, methods[answers.length] === 'HEAD');
    rest = behind;
    // 100 (Continue) is none.
    if (answer.status >= 200) answers.push(answer);
  }
  return answers;
}

function readAnswer(bytes: string, isHead: boolean): readonly [answer: RawAnswer, behind: string] {
  const end = bytes.indexOf('\r\n\r\n');
  assert.ok(end >= 0, `no end of the header fields: ${bytes.slice(0, 200)}`);
  const [first = '', ...lines] = bytes.slice(0, end).split('\r\n');
  const status = Number(STATUS_LINE.exec(first)?.[1]);
  assert.ok(status > 0, `no status line: ${first.slice(0, 200)}`);
  const fields = fieldsOf(lines);
  const behind = bytes.slice(end + 4);
  if (status < 200) return [{ status, fields, body: '' }, behind];
  assert.ok(status < 500, `${first}: nothing that is sent may bring that about`);
  assert.ok(fields.has('date'), `${first}: no Date`);
  const [body, length] = isHead || status === 204 ? ['', 0] : bodyOf(fields, behind);
  if (body !== '') assertJson(status, fields, body);
  return [{ status, fields, body }, behind.slice(length)];
}

function fieldsOf(lines: readonly string[]): ReadonlyMap<string, string> {
  const fields = new Map<string, string>();
  for (const line of lines) {
    const [, name, value = ''] = FIELD.exec(line) ?? [];
    assert.ok(name !== undefined, `no header field: ${line.slice(0, 200)}`);
    assert.ok(!fields.has(name.toLowerCase()), `twice: ${name}`);
    fields.set(name.toLowerCase(), value);
  }
  return fields;
}

/** The body, and how many bytes it took. */
function bodyOf(fields: ReadonlyMap<string, string>, bytes: string): readonly [body: string, length: number] {
  const declared = fields.get('content-length');
  const coding = fields.get('transfer-encoding');
  assert.ok((declared === undefined) !== (coding === undefined), 'needs one way to know the length');
  if (declared !== undefined) {
    assert.match(declared, /^\d+$/);
    const length = Number(declared);
    assert.ok(bytes.length >= length, `a body of ${bytes.length} bytes, short of its ${length}`);
    return [bytes.slice(0, length), length];
  }
  assert.equal(coding, 'chunked');
  let body = '';
  for (let at = 0; ;) {
    const [line, size] = /^([\da-f]+)\r\n/i.exec(bytes.slice(at, at + 20)) ?? [];
    assert.ok(line !== undefined && size !== undefined, 'a chunk without its size');
    const begin = at + line.length;
    const end = begin + parseInt(size, 16);
    assert.equal(bytes.slice(end, end + 2), '\r\n', 'a chunk without its end');
    if (end === begin) return [body, end + 2];
    body += bytes.slice(begin, end);
    at = end + 2;
  }
}

function assertJson(status: number, fields: ReadonlyMap<string, string>, body: string): void {
  assert.match(fields.get('content-type') ?? '', /^application\/json\b/);
  const value = JSON.parse(body) as object;
  if (status < 400) return;
  assert.deepEqual(Object.keys(value), ['error'], body);
  assert.equal(typeof (value as { readonly error: unknown }).error, 'string', body);
}
