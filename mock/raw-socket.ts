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

/** A connection to a port of this machine that stays open until somebody ends it. */
export async function connected(port: number): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
  await once(socket, 'connect');
  return socket.setEncoding('latin1');
}

/** All that comes until the other side ends the connection, or resets it. */
export function heard(socket: Socket): Promise<Heard> {
  return new Promise((resolve) => {
    let bytes = '';
    let code: string | undefined;
    socket.on('data', (chunk) => (bytes += String(chunk)));
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

/** Resolves when so many sockets are open in this process, on either side of a connection. */
export async function openSockets(count: number): Promise<void> {
  while (sockets() !== count) await turn();
}

/** Sockets that are open in this process. */
export const sockets = () =>
  process.getActiveResourcesInfo().filter((resource) => resource === 'TCPSocketWrap').length;
