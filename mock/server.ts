import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import polka, { type Request } from 'polka';
import type { Fixture } from '../schemas/generated/types.ts';
import { reference, type Behaviour } from './behaviour.ts';
import type { HttpRequest, HttpResponse } from './exchange.ts';
import { handlerOf } from './handler.ts';
import { stateAnswer } from './provider-state.ts';
import { trimBasePath } from './target.ts';
import { messageText, parserError, readBody, transportError } from './transport.ts';
import { createWorld } from './world.ts';

/** Request line and header fields together; room for hostile values, which are then answered 400. */
const MOST_HEADER = 65_536;

/** How long (ms) a refused connection may stay open so that its peer can read why. */
const LINGER = 1_000;

/** A request and its answer; `at` is in Unix ms. Header fields hold keys: never print them. */
export interface AnsweredRequest {
  readonly request: HttpRequest;
  readonly response: HttpResponse;
  readonly at: number;
}

export interface MockOptions {
  readonly fixture: Fixture;
  /** The only clock, in Unix milliseconds. */
  readonly clock: { now(): number };
  /** 0, the default, takes a free one. */
  readonly port?: number;
  readonly host?: string;
  /** Path of {base_url}; a trailing slash makes no difference. */
  readonly basePath?: string;
  readonly behaviour?: Behaviour;
  /** Told of each request when its answer is on its way. */
  readonly onExchange?: (exchange: AnsweredRequest) => void;
}

export interface Mock {
  /** The {base_url}, without a trailing slash. */
  readonly url: string;
  readonly port: number;
  /** Stops listening and ends every connection, idle or not. */
  close(): Promise<void>;
}

/**
 * Starts the reference server.
 *
 * @throws the system's error where it cannot listen, such as one with code EADDRINUSE
 */
export async function startMock(options: MockOptions): Promise<Mock> {
  const { fixture, clock, port = 0, host = '127.0.0.1', basePath = '/', onExchange } = options;
  const world = createWorld(fixture, clock.now());
  const handle = handlerOf(options.behaviour ?? reference, basePath);
  const answer = (request: HttpRequest): HttpResponse => {
    const state = isLoopback(host) ? stateAnswer(world, request) : undefined;
    if (state !== undefined) return state;
    const at = clock.now();
    const response = handle(world, request, at);
    onExchange?.({ request, response, at });
    return response;
  };

  // A request without Host is answered like any other: node's own 400 would carry no JSON.
  const server = createServer({ maxHeaderSize: MOST_HEADER, requireHostHeader: false });
  const sockets = new Set<Socket>();
  let inFlight = 0;
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.on('request', (_, response) => {
    inFlight += 1;
    response.once('close', () => (inFlight -= 1));
  });
  server.on('clientError', ({ code }: NodeJS.ErrnoException, socket) =>
    refuse(socket as Socket, parserError(code)),
  );
  server.on('connect', (message: IncomingMessage, socket) =>
    refuse(socket as Socket, answer(requestOf(message, message.url ?? '', undefined, inFlight))),
  );

  const serve = async (message: Request, response: ServerResponse): Promise<void> => {
    // polka has rewritten `url` by now; the raw target is what its parser kept.
    const target = message._parsedUrl.raw;
    const body = await readBody(message);
    if (body.kind === 'cutOff') return;
    if (body.kind === 'tooLarge') return send(response, transportError(413));
    const text = body.kind === 'text' ? body.text : undefined;
    send(response, answer(requestOf(message, target, text, inFlight - 1)));
  };
  // Targets such as `*` match no pattern of polka's, hence `onNoMatch`.
  const app = polka({ server, onNoMatch: serve }).use(serve);

  app.listen(port, host);
  await once(server, 'listening');
  const bound = (server.address() as AddressInfo).port;
  const name = host.includes(':') ? `[${host}]` : host;
  return {
    url: `http://${name}:${bound}${trimBasePath(basePath)}`,
    port: bound,
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

const isLoopback = (host: string) => host === 'localhost' || host === '::1' || host.startsWith('127.');

function requestOf(
  { method = '', headers }: IncomingMessage,
  target: string,
  body: string | undefined,
  alongside: number,
): HttpRequest {
  return { method, target, headers, alongside, ...(body === undefined ? {} : { body }) };
}

function send(response: ServerResponse, { status, headers, body, dropped }: HttpResponse): void {
  if (dropped) response.destroy();
  else response.writeHead(status, headers).end(body);
}

/** Answers on a bare socket, once, and lets it go. */
function refuse(socket: Socket, response: HttpResponse): void {
  if (!socket.writable) return;
  socket.on('error', () => socket.destroy());
  socket.setTimeout(LINGER, () => socket.destroy());
  socket.end(messageText(response));
}
