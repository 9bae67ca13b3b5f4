import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer, type Server, type Socket } from 'node:net';
import { createMock } from '../../mock/index.ts';
import type { Fixture } from '../../schemas/generated/types.ts';

/** Calls `write` for every piece of a request. */
export const onData = (write: (socket: Socket) => void) =>
  createServer((socket) => socket.on('data', () => write(socket)));

/** Returns the head of a response, with any characters. */
export const head = (status: string, ...fields: readonly string[]) =>
  [`HTTP/1.1 ${status}`, ...fields, '', ''].join('\r\n');

export const json = 'Content-Type: application/json';

/** Answers every request with this status and body, or with these bodies in turn. */
export function send(status: string, body: Body | readonly Body[], ...fields: readonly string[]): Server {
  const answers = [body].flat().map((each) => {
    const start = head(status, `Content-Length: ${Buffer.byteLength(each)}`, ...fields);
    return Buffer.concat([Buffer.from(start, 'latin1'), Buffer.from(each)]);
  });
  let turn = 0;
  return onData((socket) => socket.write(answers[turn++ % answers.length]!));
}

type Body = string | Uint8Array;

/** Writes for ever, as fast as the client reads. */
export const endless = (start: string, more: string) =>
  onData((socket) => {
    socket.write(start);
    const go = () => {
      while (!socket.destroyed && socket.write(more));
    };
    socket.on('drain', go);
    go();
  });

/** Writes the start, then repeats the rest, one byte every 40 ms. */
export const slow = (start: string, rest: string) =>
  createServer((socket) => {
    socket.once('data', () => {
      let at = 0;
      socket.write(start);
      const drip = setInterval(() => socket.write(rest[at++ % rest.length]!), 40);
      socket.on('close', () => clearInterval(drip));
    });
  });

/** Answers an HTTP request with an in-process mock. */
async function answerWith(
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

/** A mock that sometimes fails. `meets` gets the number of the request and returns whether it handled it. */
export function flaky(fixture: Fixture, meets: (nth: number, socket: Socket) => boolean): Server {
  const mock = createMock({ fixture });
  let requests = 0;
  return createHttpServer((request, response) => {
    if (meets(++requests, request.socket)) return;
    request.resume();
    void answerWith(mock, request, response);
  });
}

/** A correct mock that appends spaces to each body. */
export function padded(fixture: Fixture, spaces: number): Server {
  const mock = createMock({ fixture });
  const handle = async (asked: Request) => {
    const answered = await mock.handle(asked);
    const headers = new Headers(answered.headers);
    headers.delete('content-length');
    return new Response((await answered.text()) + ' '.repeat(spaces), { status: answered.status, headers });
  };
  return createHttpServer((request, response) => {
    request.resume();
    void answerWith({ handle }, request, response);
  });
}
