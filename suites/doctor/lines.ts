import { lookup } from 'node:dns/promises';
import { connect as connectPlain, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

/** Trust in certificates. */
export interface Trust {
  /** Certificates to trust beside the usual ones, in PEM. */
  readonly ca?: string;
  /** Whether certificates are not checked. */
  readonly insecure: boolean;
}

/** The ways to a target below HTTP; each rejects with the system's error. */
export interface Lines {
  /** Addresses of a host. */
  readonly resolve: (host: string) => Promise<readonly string[]>;
  /** Opens and closes a connection. */
  readonly connect: (host: string, port: number, signal: AbortSignal) => Promise<void>;
  /** The same with TLS; gives the version that was agreed on. */
  readonly handshake: (host: string, port: number, trust: Trust, signal: AbortSignal) => Promise<string>;
}

/** Those of this machine. */
export const realLines: Lines = {
  resolve: async (host) => (await lookup(host, { all: true })).map(({ address }) => address),
  connect: (host, port, signal) => {
    const socket = connectPlain({ host, port });
    return seen(socket, 'connect', signal, () => undefined);
  },
  handshake: (host, port, { ca, insecure }, signal) => {
    const socket = connectTls({
      host,
      port,
      rejectUnauthorized: !insecure,
      ...(ca === undefined ? {} : { ca }),
      // A certificate is chosen by a name, never by an address.
      ...(isIP(host) === 0 ? { servername: host } : {}),
    });
    return seen(socket, 'secureConnect', signal, () => socket.getProtocol() ?? 'TLS');
  },
};

/** Waits for an event of a socket, looks, and lets go of the socket whatever happened. */
async function seen<Result>(
  socket: Socket,
  event: string,
  signal: AbortSignal,
  look: () => Result,
): Promise<Result> {
  const cutOff = () => void socket.destroy(new Error('cut off'));
  signal.addEventListener('abort', cutOff);
  if (signal.aborted) cutOff();
  try {
    return await new Promise<Result>((resolve, reject) => {
      // Stays, so that an error that comes late is not thrown at anybody.
      socket.on('error', reject);
      socket.once(event, () => resolve(look()));
      socket.once('close', () => reject(Object.assign(new Error('closed'), { code: 'ECONNRESET' })));
    });
  } finally {
    signal.removeEventListener('abort', cutOff);
    socket.destroy();
  }
}
