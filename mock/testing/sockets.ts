import { once } from 'node:events';
import { request, type ClientRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import type { TestContext } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { HttpRequest, HttpResponse } from '../server/exchange.ts';
import { startMock, type Mock, type MockOptions } from '../index.ts';
import { createHttpServer } from '../server/server.ts';
import { createSession } from '../control/session.ts';
import { builtIn, START } from './session.ts';

/** Connects to a local port. The connection does not keep the process alive. */
export async function connectTo(port: number): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
  await once(socket, 'connect');
  return socket.unref().setEncoding('latin1');
}

const TIMEOUT_MS = 10_000;

/**
 * Reads until the server ends or resets the connection.
 *
 * @returns all bytes, in latin1; `code`: such as ECONNRESET, or undefined if the connection ended with FIN
 */
async function readUntilEnd(socket: Socket) {
  let bytes = '';
  let code: string | undefined;
  socket.on('data', (chunk) => (bytes += String(chunk)));
  socket.setTimeout(TIMEOUT_MS, () => {
    bytes += ' and then nothing more';
    socket.destroy();
  });
  socket.on('error', (error: NodeJS.ErrnoException) => (code = error.code));
  socket.once('end', () => socket.destroy());
  await new Promise((resolve) => socket.once('close', resolve));
  return { bytes, code };
}

/** Waits until a server in this process has read what was written. */
export async function nextTurns(): Promise<void> {
  await turn();
  await turn();
}

/**
 * Sends segments that arrive separately, and reads until the server ends the connection. `half` closes our
 * side after the last segment.
 */
export async function sendRaw(port: number, segments: readonly string[], { half = false } = {}) {
  const socket = await connectTo(port);
  const all = readUntilEnd(socket);
  for (const [index, segment] of segments.entries()) {
    if (index > 0) await nextTurns();
    if (!socket.writable) break;
    socket.write(segment, 'latin1');
  }
  if (half) socket.end();
  return all;
}

const fine: HttpResponse = { status: 200, headers: {}, body: 'fine' };

interface ListenerOptions {
  readonly answer: (request: HttpRequest) => HttpResponse;
  readonly timeouts: Parameters<typeof createHttpServer>[3];
}

/** Starts a server that answers `fine` at START, and closes it after the test. */
export async function listenFor(
  t: TestContext,
  { answer = () => fine, timeouts }: Partial<ListenerOptions> = {},
) {
  const session = createSession({ fixture: builtIn, clock: { now: () => START } });
  const { server, close } = createHttpServer(session, undefined, answer, timeouts);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.after(() => close({ force: true }));
  return { port: (server.address() as AddressInfo).port, close };
}

/** Starts a server that answers the index of each request, after a delay (ms) that depends on it. */
export function delayedAnswers(t: TestContext, ...delays: readonly number[]) {
  let asked = 0;
  const headers = { 'Content-Type': 'application/json', 'Content-Length': '1' };
  const answer = () => ({ status: 200, headers, body: `${asked}`, delayMs: delays[asked++]! });
  return listenFor(t, { answer });
}

/** Starts a mock with the built-in fixture at START, and closes it after the test. */
export async function mockFor(t: TestContext, options: Partial<MockOptions> = {}): Promise<Mock> {
  const mock = await startMock({
    fixture: builtIn,
    clock: { now: () => START },
    keepsProcess: true,
    ...options,
  });
  t.after(() => mock.close({ force: true }));
  return mock;
}

export const bearer = (key: string) => ({ headers: { authorization: `Bearer ${key}` } });

/** Sends a request on a new connection; by default a GET with northwind-key. */
export function sendRequest(port: number, path: string, options: RequestOptions = {}, body?: string) {
  return request({ port, path, agent: false, ...bearer('northwind-key'), ...options }).end(body);
}

/** Reads the answer to a sent request. */
export async function readAnswer(outgoing: ClientRequest) {
  const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage];
  return { status: incoming.statusCode, headers: incoming.headers, body: await text(incoming) };
}

/** Sends a request and reads the answer. */
export const ask = (...asked: Parameters<typeof sendRequest>) => readAnswer(sendRequest(...asked));
