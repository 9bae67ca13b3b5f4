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

/** A connection to a port of this machine. It does not keep the process alive. */
export async function connected(port: number): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
  await once(socket, 'connect');
  return socket.unref().setEncoding('latin1');
}

/** Silence (ms) after which a test gives up. */
const TIMEOUT_MS = 10_000;

/** All that comes until the other side ends the connection, or resets it. */
function heard(socket: Socket): Promise<Heard> {
  return new Promise((resolve) => {
    let bytes = '';
    let code: string | undefined;
    socket.on('data', (chunk) => (bytes += String(chunk)));
    socket.setTimeout(TIMEOUT_MS, () => {
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
 * Sends segments, each so that it arrives by itself, and reads what comes back until the other side ends
 * the connection. With `half`, our side is ended behind what is sent.
 */
export async function say(port: number, segments: readonly string[], { half = false } = {}): Promise<Heard> {
  const socket = await connected(port);
  const all = heard(socket);
  for (const [index, segment] of segments.entries()) {
    if (index > 0) await arrived();
    if (!socket.writable) break;
    socket.write(segment, 'latin1');
  }
  if (half) socket.end();
  return all;
}

/** Resolves when no connection of this process is open. */
export async function noSocketsOpen(): Promise<void> {
  for (let turns = 0; sockets() > 0; turns += 1) {
    assert.ok(turns < 4000, `${sockets()} connections are open`);
    for (let done = 0; done < 50; done += 1) await turn();
  }
}

const sockets = () =>
  process.getActiveResourcesInfo().filter((resource) => resource === 'TCPSocketWrap').length;

/** An answer as it stood in the bytes of a connection. */
export interface RawAnswer {
  readonly status: number;
  readonly body: string;
}

const HEAD = /^HTTP\/1\.1 ([1-5]\d\d) [ -~]*\r\n((?:[\w-]+: [ -~]*\r\n)+)\r\n/;

/**
 * Reads answers one behind the other, with none of a client's leniency: each has a date and one length,
 * is JSON, has `error` alone from 400 on (Errors), and is no server error.
 *
 * @param bytes all that came, in latin1
 * @throws AssertionError that says what is wrong
 */
export function readAnswers(bytes: string): readonly RawAnswer[] {
  const answers: RawAnswer[] = [];
  for (let rest = bytes; rest !== '';) {
    // 100 (Continue) is no answer.
    rest = rest.replace(/^HTTP\/1\.1 100 Continue\r\n\r\n/, '');
    const [head, code, fields = ''] = HEAD.exec(rest) ?? assert.fail(`no answer: ${rest.slice(0, 200)}`);
    const status = Number(code);
    const names = Array.from(fields.matchAll(/^([\w-]+):/gm), ([, name]) => name!.toLowerCase());
    assert.equal(new Set(names).size, names.length, `a field stands twice: ${fields}`);
    assert.ok(status < 500 && names.includes('date'), head);
    const behind = rest.slice(head.length);
    const [body, length] = status === 204 ? ['', 0] : bodyOf(fields, behind);
    if (body !== '') {
      assert.match(fields, /^content-type: application\/json\b/im);
      const value = JSON.parse(body) as object;
      if (status >= 400) assert.deepEqual(Object.keys(value), ['error'], body);
    }
    answers.push({ status, body });
    rest = behind.slice(length);
  }
  return answers;
}

/** The body, and how many bytes it took. */
function bodyOf(fields: string, bytes: string): readonly [body: string, length: number] {
  const [, declared] = /^content-length: (\d+)\r$/im.exec(fields) ?? [];
  const isChunked = /^transfer-encoding: chunked\r$/im.test(fields);
  assert.ok((declared === undefined) === isChunked, `needs one way to know the length: ${fields}`);
  if (declared !== undefined) {
    assert.ok(bytes.length >= Number(declared), `${bytes.length} bytes of ${declared}`);
    return [bytes.slice(0, Number(declared)), Number(declared)];
  }
  let body = '';
  for (let at = 0; ;) {
    const [line, size] = /^([\da-f]+)\r\n/i.exec(bytes.slice(at)) ?? assert.fail('a chunk without its size');
    const begin = at + line.length;
    const end = begin + parseInt(size!, 16);
    assert.equal(bytes.slice(end, end + 2), '\r\n', 'a chunk without its end');
    if (end === begin) return [body, end + 2];
    body += bytes.slice(begin, end);
    at = end + 2;
  }
}
