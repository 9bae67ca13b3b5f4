import { STATUS_CODES, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
// A test runner's fake timers replace the global ones, and nobody would move them.
import { setTimeout } from 'node:timers';
import type { Answer, HttpResponse, StreamedResponse } from './exchange.ts';

/** How long (ms) a refused connection stays open so that its peer can read why. */
const LINGER = 1_000;

/** Most bytes that wait for the reader of a stream; a slower reader is disconnected. */
const MAX_BUFFERED = 1_048_576;

/** Sends a response without an end. */
export function stream(response: ServerResponse, { status, headers, follow }: StreamedResponse): void {
  destroyAtEnd(response);
  response.writeHead(status, headers).flushHeaders();
  const stop = follow((text) => {
    if (response.writableLength > MAX_BUFFERED) response.destroy();
    else response.write(text);
  });
  response.once('close', stop);
}

/** A client that ends its side of the connection no longer waits for a response that is held back. */
export function destroyAtEnd(response: ServerResponse): void {
  const { socket } = response.req;
  const destroy = () => void response.destroy();
  if (socket.readableEnded) return destroy();
  socket.once('end', destroy);
  response.once('close', () => socket.off('end', destroy));
}

/** Sends a response, whole or as its fault says. */
export function write(response: ServerResponse, answer: HttpResponse): void {
  const { status, headers, body, transportFault } = answer;
  if ('Date' in headers) response.sendDate = false;
  response.writeHead(status, headers);
  if (transportFault !== 'truncate' || body.length === 0) return void response.end(body);
  const whole = Buffer.from(body);
  // The half would not arrive if the connection were cut before it is written.
  response.write(whole.subarray(0, whole.length / 2), () => response.destroy());
}

/** Answers on a bare socket, which has no response object, and ends it. */
export function sendOnSocket(socket: Socket, answer: Answer, date: string): void {
  if (!socket.writable) return;
  const { status, headers } = answer;
  const body = 'follow' in answer ? '' : answer.body;
  socket.on('error', () => socket.destroy());
  const timer = setTimeout(() => socket.destroy(), LINGER).unref();
  socket.once('close', () => clearTimeout(timer));
  const all = { Date: date, ...headers, Connection: 'close', 'Content-Length': Buffer.byteLength(body) };
  const fields = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${fields.join('')}\r\n${body.toString()}`);
  // The peer's own end shows only once all that it sent is read.
  socket.resume();
}

/** Whether a request announces a body (RFC 9112, 6). */
export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || !/^0*$/.test(headers['content-length']?.trim() ?? '');
}

type ReadBody =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'tooLarge' }
  | { readonly kind: 'cutOff' };

/** Reads a body of at most so many bytes; never rejects. */
export function readBody(message: IncomingMessage, most: number): Promise<ReadBody> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    message.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= most) return void chunks.push(chunk);
      chunks.length = 0;
      resolve({ kind: 'tooLarge' });
    });
    message.once('end', () => resolve({ kind: 'text', text: Buffer.concat(chunks).toString() }));
    message.once('error', () => resolve({ kind: 'cutOff' }));
    message.once('close', () => resolve({ kind: 'cutOff' }));
  });
}

/** An error of the transport itself, in the shape of all errors (Errors); the connection ends. */
export function transportError(status: number): HttpResponse {
  const body = JSON.stringify({ error: STATUS_CODES[status] });
  const length = { 'Content-Length': `${body.length}` };
  return { status, headers: { 'Content-Type': 'application/json', ...length, Connection: 'close' }, body };
}

const statusByCode: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

/** The response to bytes that are no request, by the code of node's parser error. */
export function parserError(code: string | undefined): HttpResponse {
  return transportError(statusByCode[code ?? ''] ?? 400);
}
