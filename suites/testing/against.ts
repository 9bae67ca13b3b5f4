import type { AddressInfo, Server, Socket } from 'node:net';

/** Runs a server on a free port while it is used. */
export async function withServer<Result>(
  server: Server,
  use: (port: number) => Promise<Result>,
): Promise<Result> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    return await use((server.address() as AddressInfo).port);
  } finally {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  }
}
