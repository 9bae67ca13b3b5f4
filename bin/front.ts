import type { IncomingMessage, ServerResponse } from 'node:http';
import type { createMock } from '../mock/index.ts';

/** For tests: has a mock in process answer what came in over a socket, which a test may do as it likes with. */
export async function answerWith(
  { handle }: Pick<ReturnType<typeof createMock>, 'handle'>,
  { url = '', method = 'GET', headers }: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const fields = Object.entries(headers).flatMap(([name, value]) =>
    [value ?? []].flat().map((one): [string, string] => [name, one]),
  );
  const reply = await handle(new Request(`http://mock${url}`, { method, headers: fields }));
  response.writeHead(reply.status, [...reply.headers].flat()).end(await reply.text());
}
