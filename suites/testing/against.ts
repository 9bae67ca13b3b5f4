import type { AddressInfo, Server, Socket } from 'node:net';
import type { TestContext } from 'node:test';

/** Starts a server on a free port. Returns its port and a function that ends it and its connections. */
async function start(server: Server) {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const stop = async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  };
  return { port: (server.address() as AddressInfo).port, stop };
}

/** Runs a server on a free port while it is used. */
export async function withServer<Result>(
  server: Server,
  use: (port: number) => Promise<Result>,
): Promise<Result> {
  const { port, stop } = await start(server);
  try {
    return await use(port);
  } finally {
    await stop();
  }
}

/** Runs a server on a free port until the end of a test. Returns its URL. */
export async function serverFor(t: TestContext, server: Server): Promise<string> {
  const { port, stop } = await start(server);
  t.after(stop);
  return `http://127.0.0.1:${port}`;
}
