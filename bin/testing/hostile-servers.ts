import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer, type Server, type Socket } from 'node:net';
import { createMock } from '../../mock/index.ts';
import type { Fixture } from '../../schemas/generated/types.ts';

/** Writes the same for every request. */
export const always = (write: (socket: Socket) => void) =>
  createServer((socket) => socket.on('data', () => write(socket)));

/** The head of a response, with any characters. */
export const head = (status: string, ...fields: readonly string[]) =>
  [`HTTP/1.1 ${status}`, ...fields, '', ''].join('\r\n');

export const json = 'Content-Type: application/json';

/** Gives the same answer to everything, or these bodies in turn. */
export function says(status: string, body: Body | readonly Body[], ...fields: readonly string[]): Server {
  const answers = [body].flat().map((each) => {
    const start = head(status, `Content-Length: ${Buffer.byteLength(each)}`, ...fields);
    return Buffer.concat([Buffer.from(start, 'latin1'), Buffer.from(each)]);
  });
  let turn = 0;
  return always((socket) => socket.write(answers[turn++ % answers.length]!));
}

type Body = string | Uint8Array;

/** Writes as long as the client reads. */
export const endlessly = (start: string, more: string) =>
  always((socket) => {
    socket.write(start);
    const go = () => {
      while (!socket.destroyed && socket.write(more));
    };
    socket.on('drain', go);
    go();
  });

/** Writes the start, and then the rest over and over, one byte every 40 ms. */
export const dripping = (start: string, rest: string) =>
  createServer((socket) => {
    socket.once('data', () => {
      let at = 0;
      socket.write(start);
      const drip = setInterval(() => socket.write(rest[at++ % rest.length]!), 40);
      socket.on('close', () => clearInterval(drip));
    });
  });

/** Has a mock in process answer a request that came over a socket. */
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

/** A mock that fails now and then: `meets` gets the number of the request, and returns whether it dealt with it. */
export function faltering(fixture: Fixture, meets: (nth: number, socket: Socket) => boolean): Server {
  const mock = createMock({ fixture });
  let requests = 0;
  return createHttpServer((request, response) => {
    if (meets(++requests, request.socket)) return;
    request.resume();
    void answerWith(mock, request, response);
  });
}

/** A mock whose answers are right, with spaces behind each body. */
export function fattened(fixture: Fixture, spaces: number): Server {
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
