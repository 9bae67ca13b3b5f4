import { STATUS_CODES, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
// Not the global timers: a test runner may replace them with fake ones.
import { setTimeout } from 'node:timers';
import type { Answer, HttpResponse, StreamedResponse } from './exchange.ts';

/** How long (ms) a refused connection stays open, so that the client can read the response. */
const LINGER_MS = 1_000;

/** Maximum of unread bytes of a stream. A slower reader is disconnected. */
const MAX_BUFFERED = 1_048_576;

/** Sends an endless response. */
export function streamResponse(response: ServerResponse, { status, headers, subscribe }: StreamedResponse) {
  destroyAtEnd(response);
  response.writeHead(status, headers).flushHeaders();
  const stop = subscribe((text) => {
    if (response.writableLength > MAX_BUFFERED) response.destroy();
    else response.write(text);
  });
  response.once('close', stop);
}

/** Drops a withheld response when the client closes its side of the connection. */
export function destroyAtEnd(response: ServerResponse): void {
  const { socket } = response.req;
  const destroy = () => void response.destroy();
  if (socket.readableEnded) return destroy();
  socket.once('end', destroy);
  response.once('close', () => socket.off('end', destroy));
}

/** Sends a response, or half of it if its fault is `truncate`. */
export function writeResponse(response: ServerResponse, answer: HttpResponse): void {
  const { status, headers, body, transportFault } = answer;
  if ('Date' in headers) response.sendDate = false;
  response.writeHead(status, headers);
  if (transportFault !== 'truncate' || body.length === 0) return void response.end(body);
  const whole = Buffer.from(body);
  // Wait for the write: otherwise the half would not arrive.
  response.write(whole.subarray(0, whole.length / 2), () => response.destroy());
}

/** Sends an answer on a socket without a response object, and ends the connection. */
export function sendOnSocket(socket: Socket, answer: Answer, date: string): void {
  if (!socket.writable) return;
  const { status, headers } = answer;
  const body = 'subscribe' in answer ? '' : answer.body;
  socket.on('error', () => socket.destroy());
  const timer = setTimeout(() => socket.destroy(), LINGER_MS).unref();
  socket.once('close', () => clearTimeout(timer));
  const all = { Date: date, ...headers, Connection: 'close', 'Content-Length': Buffer.byteLength(body) };
  const fields = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${fields.join('')}\r\n${body.toString()}`);
  // Read all: otherwise the end of the client's side is never seen.
  socket.resume();
}

/** Whether a request announces a body (RFC 9112, 6). */
export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || !/^0*$/.test(headers['content-length']?.trim() ?? '');
}

/** Reads a body of at most `most` bytes; never rejects. `cutOff`: the client left before its end. */
export function readBody(message: IncomingMessage, most: number): Promise<Buffer | 'tooLarge' | 'cutOff'> {
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
    message.once('error', () => resolve('cutOff'));
    message.once('close', () => resolve('cutOff'));
  });
}

/** Creates an error response of the transport, with the usual error body (Errors). Ends the connection. */
export function errorResponse(status: number): HttpResponse {
  const body = JSON.stringify({ error: STATUS_CODES[status] });
  const length = { 'Content-Length': `${body.length}` };
  return { status, headers: { 'Content-Type': 'application/json', ...length, Connection: 'close' }, body };
}

const statusByCode: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

/** Creates the response to bytes that are not a request, by the code of node's parser error. */
export function parserErrorResponse(code: string | undefined): HttpResponse {
  return errorResponse(statusByCode[code ?? ''] ?? 400);
}
