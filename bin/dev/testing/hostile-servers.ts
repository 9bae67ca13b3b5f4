import { createServer as createHttpServer } from 'node:http';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { createServer, type Server, type Socket } from 'node:net';
import { createMock } from '../../../mock/index.ts';
import type { Fixture } from '../../../schemas/generated/types.ts';

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

/** Answers as a mock does, with these further fields, and spaces after each body. */
export function mockListener(
  fixture: Fixture,
  fields: Readonly<Record<string, string>> = {},
  spaces = 0,
): RequestListener {
  const mock = createMock({ fixture });
  const pass = async ({ url = '', method = 'GET', headers }: IncomingMessage, to: ServerResponse) => {
    const given = Object.entries(headers).flatMap(([name, value]) =>
      [value ?? []].flat().map((one): [string, string] => [name, one]),
    );
    const answer = await mock.fetch(`http://mock${url}`, { method, headers: given });
    answer.headers.delete('content-length');
    const body = (await answer.text()) + ' '.repeat(spaces);
    to.writeHead(answer.status, { ...Object.fromEntries(answer.headers), ...fields }).end(body);
  };
  return (request, response) => {
    request.resume();
    void pass(request, response);
  };
}

/**
 * A mock that sometimes fails, and appends spaces to each body. `meets` gets the number of the request, and returns
 * whether it handled it.
 */
export function flaky(
  fixture: Fixture,
  meets: (nth: number, socket: Socket, request: IncomingMessage) => boolean,
  spaces = 0,
): Server {
  const answer = mockListener(fixture, {}, spaces);
  let requests = 0;
  return createHttpServer((request, response) => {
    if (!meets(++requests, request.socket, request)) answer(request, response);
  });
}
