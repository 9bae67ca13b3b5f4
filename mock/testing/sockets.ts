import { once } from 'node:events';
import { request, type ClientRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import type { TestContext } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { startMock, type Mock, type MockOptions } from '../index.ts';
import { builtIn, START } from './session.ts';

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

/** Starts a mock over the built-in fixture, at START, that ends with its test. */
export async function startFor(t: TestContext, options: Partial<MockOptions> = {}): Promise<Mock> {
  const mock = await startMock({ fixture: builtIn, clock: { now: () => START }, ...options });
  t.after(() => mock.close({ force: true }));
  return mock;
}

export const bearer = (key: string) => ({ headers: { authorization: `Bearer ${key}` } });

/** Sends a GET with the key of northwind, or what `options` say, on a connection of its own. */
export function send(port: number, path: string, options: RequestOptions = {}, body?: string) {
  return request({ port, path, agent: false, ...bearer('northwind-key'), ...options }).end(body);
}

/** The answer to a request that is on its way. */
export async function answerTo(outgoing: ClientRequest) {
  const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage];
  return { status: incoming.statusCode, headers: incoming.headers, body: await text(incoming) };
}

/** Sends a request and reads the answer. */
export const ask = (...asked: Parameters<typeof send>) => answerTo(send(...asked));
