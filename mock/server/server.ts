import { once } from 'node:events';
import {
  createServer,
  STATUS_CODES,
  type IncomingMessage,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from 'node:http';
import { isIPv4, type AddressInfo, type Socket } from 'node:net';
// Not the global timers: a test runner may replace them with fake ones.
import { clearTimeout, setImmediate, setTimeout } from 'node:timers';
import polka, { type Request } from 'polka';
import { wrongUsage } from '../../schemas/problem.ts';
import { ADMIN_PATH, answerAdmin, type Access } from '../control/admin.ts';
import { createAnswerer, type AnsweredRequest } from './answer-request.ts';
import { httpDate } from './answer.ts';
import type { HttpRequest, HttpResponse } from './exchange.ts';
import { trimBasePath } from './handler.ts';
import type { MockData } from '../control/options.ts';
import { createSession, timeIn, type Session } from '../control/session.ts';

export interface MockOptions extends MockData {
  /** Default: 0, which takes a free port. */
  readonly port?: number;
  /** Default: 127.0.0.1. */
  readonly host?: string;
  /** Admin API: `false` turns it off, and `token` protects it. */
  readonly admin?: false | { readonly token?: string | undefined };
  /** Lets pages of other origins call the service, but not the admin API. */
  readonly cors?: boolean;
  /** Called for each request to the service, before its response is sent. */
  readonly onExchange?: (exchange: AnsweredRequest) => void;
  /** The process runs until `close`. Default: true, but not in a test of `node --test`, Vitest or Jest. */
  readonly keepsProcess?: boolean;
}

/** A running mock server. */
export interface ServedMock {
  /** The {base_url}, without a trailing slash. */
  readonly url: string;
  readonly port: number;
  /** URL of the admin API; undefined if it is off. */
  readonly adminUrl: string | undefined;
  /** Stops listening and ends all connections. Without `force`, waits for responses in progress. */
  close(options?: { readonly force?: boolean }): Promise<void>;
  /** Closes the mock at the end of an `await using` block. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** Variables by which test runners say that they run. */
const RUNNERS = ['NODE_TEST_CONTEXT', 'VITEST', 'JEST_WORKER_ID'];

/**
 * Starts the reference server.
 *
 * @throws Problem with code `usage` if an option is wrong
 * @throws the system's error if it cannot listen, such as EADDRINUSE
 */
export async function startMock(
  options: MockOptions = {},
): Promise<ServedMock & { readonly session: Session }> {
  const { port = 0, host = '127.0.0.1', basePath = '/', onExchange, admin = {}, cors } = options;
  const { keepsProcess = !RUNNERS.some((name) => process.env[name] !== undefined) } = options;
  const { token } = admin || {};
  if (token !== undefined && !isToken(token))
    throw wrongUsage('the admin token needs visible ASCII characters without spaces, at least one');
  const session = createSession(options);
  const access = admin !== false && (token !== undefined || isLoopback(host)) ? { token } : undefined;
  const answer = createAnswerer(session, { cors, onExchange, hasPage: access !== undefined });
  const { server, close } = createHttpServer(session, access, answer);
  server.listen(port, host, BACKLOG);
  await once(server, 'listening');
  if (!keepsProcess) server.unref().on('connection', (socket: Socket) => socket.unref());
  const origin = `http://${host.includes(':') ? `[${host}]` : host}:${(server.address() as AddressInfo).port}`;
  return {
    session,
    url: `${origin}${trimBasePath(basePath)}`,
    port: (server.address() as AddressInfo).port,
    adminUrl: access && `${origin}/__admin`,
    close,
    [Symbol.asyncDispose]: () => close(),
  };
}

/** Whether a text can be sent as a Bearer token. An empty token would protect nothing. */
const isToken = (text: string) => /^[!-~]+$/.test(text);

/** Whether only this machine can reach a host. */
export const isLoopback = (host: string) =>
  host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'));

/** Maximum of connections that wait to be accepted. With node's 511, a burst waits for seconds. */
const BACKLOG = 16_384;

/** Maximum of request line and header fields, in bytes. Long ids fit, so that they get 400. */
const MAX_HEADER_BYTES = 65_536;

/** Maximum of a body, in bytes. The interface has no bodies; some faults read them. */
const MAX_BODY_BYTES = 65_536;

/** Maximum body of an admin call, in bytes. It may be a fixture; a larger fixture has to come from a file. */
const MAX_ADMIN_BODY_BYTES = 2 ** 24;

/** How long (ms) a refused connection stays open, so that the client can read the response. */
const LINGER_MS = 1_000;

/** Time in ms for open requests to finish when the mock stops. */
const CLOSE_TIMEOUT_MS = 800;

/** What the server knows about its connections. */
interface Connections {
  /**
   * By connection: its responses that are not sent yet, in the order of their requests. Not a Set of all responses:
   * each time a Set makes room, its old table refers to the new one. Once V8 moves a dead table to its old generation,
   * all later tables and their responses outlive collections. They took 10 to 20 ms instead of 2.
   */
  readonly sockets: Map<Socket, ServerResponse[]>;
  /** Number of these responses. */
  open: number;
  /** Functions that end the delays of responses. */
  readonly delays: Set<() => void>;
}

type Answer = (request: HttpRequest) => HttpResponse;

/**
 * Creates the HTTP server of a mock.
 *
 * @param access who may call the admin API; undefined: nobody
 * @param timeouts maximum times (ms) until a request has arrived; then it gets 408. Default: node's
 */
export function createHttpServer(
  session: Session,
  access: Access | undefined,
  answer: Answer,
  timeouts: Pick<ServerOptions, 'headersTimeout' | 'requestTimeout' | 'connectionsCheckingInterval'> = {},
) {
  // Requests without Host get a normal answer: node's own 400 has no JSON.
  const server = createServer({ maxHeaderSize: MAX_HEADER_BYTES, requireHostHeader: false, ...timeouts });
  // No limit of the count: node would drop fields, perhaps Authorization. MAX_HEADER_BYTES limits the size.
  server.maxHeadersCount = 0;
  // A client that closed its side still reads. Without this, node drops later responses.
  Object.assign(server, { httpAllowHalfOpen: true });
  const connections: Connections = { sockets: new Map(), open: 0, delays: new Set() };
  const date = () => httpDate(timeIn(session, session.main));
  const serve = (to: Answer, maxBody: number) => (message: IncomingMessage, response: ServerResponse) =>
    serveRequest(connections, to, maxBody, date, message, response);
  // The handler routes: polka's routes ignore letter case and accept a slash at the end.
  const app = polka({ onNoMatch: serve(answer, MAX_BODY_BYTES) });
  app.parse = wholeTarget;
  if (access !== undefined)
    app.use(
      ADMIN_PATH as never,
      serve((request) => answerAdmin(session, access, request), MAX_ADMIN_BODY_BYTES),
    );
  const handle = app.handler as (message: IncomingMessage, response: ServerResponse) => void;
  server.on('connection', (socket) => {
    connections.sockets.set(socket, []);
    socket.once('close', () => connections.sockets.delete(socket));
  });
  server.on('request', (message, response) => {
    const responses = connections.sockets.get(message.socket) ?? [];
    responses.push(response);
    connections.open += 1;
    response.once('close', () => {
      responses.splice(responses.indexOf(response), 1);
      connections.open -= 1;
    });
    // All requests of one turn of the event loop are answered together, so that each knows how many others there are.
    setImmediate(handle, message, response);
  });
  // Requests with Expect get a normal answer: node's own 417 has no JSON.
  server.on('checkExpectation', (message, response) => server.emit('request', message, response));
  server.on('clientError', ({ code }: NodeJS.ErrnoException, socket) =>
    refuseBytes(connections, socket as Socket, code, date()),
  );
  return { server, close: closer(server, connections) };
}

/** Passes the whole target as path: the handler parses it, more strictly than polka. */
function wholeTarget({ url = '' }: IncomingMessage): Request['_parsedUrl'] {
  return { raw: url, pathname: url, search: '', query: {}, hash: undefined };
}

function serveRequest(
  connections: Connections,
  answer: Answer,
  maxBody: number,
  date: () => string,
  message: IncomingMessage,
  response: ServerResponse,
): void {
  const { method = '', headers, rawHeaders } = message;
  // polka cuts the path of a route off.
  const target = (message as Request).originalUrl ?? message.url ?? '';
  const alongside = connections.open - 1;
  const clientPort = message.socket.remotePort;
  const request = { method, target, headers, rawHeaders, alongside, clientPort };
  const respond = (answered: HttpResponse) => send(connections, response, answered);
  const reply = (body?: string) => {
    try {
      respond(answer(body === undefined ? request : { ...request, body }));
    } catch (error) {
      respond(errorResponse(500, date()));
      // It is a mistake of ours, or of `onExchange`: do not hide it.
      setImmediate(() => {
        throw error;
      });
    }
  };
  // Most requests have no body and need no wait.
  if (!hasBody(message)) return reply();
  void readBody(message, maxBody).then((body) => {
    if (body === 'tooLarge') respond(errorResponse(413, date(), `The body is larger than ${maxBody} bytes`));
    else if (body !== 'cutOff') reply(body.toString());
    return undefined;
  });
}

/** Whether a request announces a body (RFC 9112, 6). */
const hasBody = ({ headers }: IncomingMessage) =>
  headers['transfer-encoding'] !== undefined || !/^0*$/.test(headers['content-length']?.trim() ?? '');

/** Reads a body of at most `most` bytes; never rejects. `cutOff`: the client left before its end. */
function readBody(message: IncomingMessage, most: number): Promise<Buffer | 'tooLarge' | 'cutOff'> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    message.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= most) return void chunks.push(chunk);
      chunks.length = 0;
      resolve('tooLarge');
    });
    message.once('end', () => resolve(Buffer.concat(chunks)));
    for (const end of ['error', 'close']) message.once(end, () => resolve('cutOff'));
  });
}

/** Sends a response after its delay. */
function send({ delays }: Connections, response: ServerResponse, answer: HttpResponse): void {
  const { delayMs = 0 } = answer;
  if (delayMs > 0) delay(delays, response, delayMs, () => write(response, answer));
  else write(response, answer);
}

function write(response: ServerResponse, { status, headers, body, transportFault }: HttpResponse): void {
  if (response.destroyed) return;
  if (transportFault === 'reset') return void response.req.socket.resetAndDestroy();
  if ('Date' in headers) response.sendDate = false;
  response.writeHead(status, headers);
  if (transportFault !== 'truncate' || body.length === 0) return void response.end(body);
  const whole = Buffer.from(body);
  // Wait for the write: otherwise the half would not arrive.
  response.write(whole.subarray(0, whole.length / 2), () => response.destroy());
}

/** Calls `act` after some ms, or when the mock closes. Drops the response if the client closes its side before. */
function delay(delays: Connections['delays'], response: ServerResponse, ms: number, act: () => void): void {
  const { socket } = response.req;
  if (socket.readableEnded) return void response.destroy();
  const end = () => {
    clearTimeout(timer);
    delays.delete(end);
    socket.off('end', leave);
    act();
  };
  const leave = () => void response.destroy();
  // The connection, not the timer, keeps the process alive.
  const timer = setTimeout(end, ms).unref();
  delays.add(end);
  socket.once('end', leave);
  response.once('close', end);
}

/** Creates an error response of the transport, with the usual error body (Errors). Ends the connection. */
function errorResponse(status: number, date: string, message = STATUS_CODES[status]): HttpResponse {
  const body = JSON.stringify({ error: message });
  const content = { 'Content-Type': 'application/json', 'Content-Length': `${body.length}` };
  return { status, headers: { Date: date, ...content, Connection: 'close' }, body };
}

const statusByCode: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

/** Creates the response to bytes that are not a request, by the code of node's parser error. */
export const parserError = (code: string | undefined, date: string): HttpResponse =>
  errorResponse(statusByCode[code ?? ''] ?? 400, date);

const refused = new WeakSet<Socket>();

/** Answers bytes that are not a request, after the responses to earlier requests of the connection. */
function refuseBytes({ sockets }: Connections, socket: Socket, code: string | undefined, date: string): void {
  if (refused.has(socket)) return;
  refused.add(socket);
  const { status, headers, body } = parserError(code, date);
  const answer = () => {
    if (!socket.writable) return;
    socket.on('error', () => socket.destroy());
    const timer = setTimeout(() => socket.destroy(), LINGER_MS).unref();
    socket.once('close', () => clearTimeout(timer));
    const fields = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${fields.join('')}\r\n${body}`);
    // Read all: otherwise the end of the client's side is never seen.
    socket.resume();
  };
  const before = lastComplete(sockets.get(socket));
  if (before === undefined) answer();
  else before.once('close', answer);
}

/** Returns the last response whose request has arrived as a whole. */
const lastComplete = (responses: readonly ServerResponse[] | undefined) =>
  responses?.findLast(({ req }) => req.complete);

/**
 * Creates the function that stops listening and ends all connections. Without `force`, complete requests still get
 * their response, without its delay. Incomplete requests end at once.
 */
function closer(server: Server, { sockets, delays }: Connections): ServedMock['close'] {
  let closing: Promise<void> | undefined;
  return ({ force = false } = {}) => {
    closing ??= once(server, 'close').then(() => undefined);
    server.close();
    const others: Socket[] = [];
    for (const [socket, responses] of sockets) {
      const last = force ? undefined : lastComplete(responses);
      // The last response of a connection ends it.
      if (last === undefined) others.push(socket);
      else last.shouldKeepAlive = false;
    }
    for (const end of delays) end();
    // They may still have data to send.
    for (const socket of others) socket[force ? 'destroy' : 'destroySoon']();
    // A client that does not read cannot keep it open.
    setTimeout(() => sockets.forEach((_, socket) => socket.destroy()), CLOSE_TIMEOUT_MS).unref();
    return closing;
  };
}
