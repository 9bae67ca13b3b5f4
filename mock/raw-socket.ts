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
export function heard(socket: Socket): Promise<Heard> {
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
