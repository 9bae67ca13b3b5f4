import { STATUS_CODES, type IncomingMessage } from 'node:http';
import type { HttpResponse } from './exchange.ts';

/** Most bytes of a request body that are read. The interface knows none; faults may look into one. */
export const MOST_BODY = 65_536;

/** What came of reading a request body. */
export type ReadBody =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'tooLarge' }
  | { readonly kind: 'cutOff' };

/** Whether a request announces a body (RFC 9112, 6). */
export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || !/^0*$/.test(headers['content-length']?.trim() ?? '');
}

/** Reads the body of a request that has one, up to so many bytes; never rejects. */
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

/** An answer that the transport gives by itself, in the shape of all errors (Errors); the connection ends. */
export function transportError(status: number): HttpResponse {
  const error = STATUS_CODES[status] ?? 'Bad Request';
  return {
    status,
    headers: { 'Content-Type': 'application/json', Connection: 'close' },
    body: JSON.stringify({ error }),
  };
}

const statusByCode: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

/** The answer to bytes that are no request, by the code of node's parser error. */
export function parserError(code: string | undefined): HttpResponse {
  return transportError(statusByCode[code ?? ''] ?? 400);
}

/** An answer as the bytes of an HTTP/1.1 message, for sockets that no longer have a response object. */
export function messageText({ status, headers, body }: HttpResponse): string {
  const all = { ...headers, Connection: 'close', 'Content-Length': `${Buffer.byteLength(body)}` };
  const fields = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${fields.join('')}\r\n${body.toString()}`;
}
