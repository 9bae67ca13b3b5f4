import type { IncomingHttpHeaders } from 'node:http';
import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib';
import { Pool, type Dispatcher } from 'undici';
import { readBeginning, readBody, trouble, type Answer, type Reply, type Trouble } from '../answer.ts';
import { defined } from '../../schemas/defined.ts';
import { TOO_MANY_FILES, wrongUsage } from '../../schemas/problem.ts';

/** Where requests go, and with which timeout. */
export interface ClientOptions {
  /** `{base_url}`; a trailing slash makes no difference. */
  readonly target: URL;
  /** Bound on each phase of a request, and on the whole of it, in ms. */
  readonly timeoutMs: number;
  readonly connections: number;
  /** Sent with every request, names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Certificates to trust beside the usual ones, in PEM. */
  readonly ca?: string;
  /** Whether certificates are not checked. */
  readonly insecure: boolean;
  /** The engine's time, in ms. */
  readonly now: () => number;
  /** When the run ends, in ms of that time: what is under way then is soon cut off. */
  readonly deadline?: number;
  /** Cuts off what is under way. */
  readonly signal: AbortSignal;
}

/** A request as it goes over the wire. */
export interface WireRequest {
  readonly method: string;
  /** Path and query below the base URL. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface Client {
  readonly send: (request: WireRequest) => Promise<Reply>;
  readonly close: () => Promise<void>;
}

/**
 * An answer's body is read up to here, packed and unpacked: the interface's own are a hundred bytes, and
 * a burst holds a thousand answers at once.
 */
export const MAX_BODY_BYTES = 16 * 1024;

/** An answer that comes this late (ms) after the end of the run is still taken. */
const GRACE = 250;

/** Header fields of an answer at most. */
const MAX_FIELDS = 100;

/** Opens a pool of connections to the target: keep-alive, no redirects, no pipelining. */
export function createClient(options: ClientOptions): Client {
  const { target, timeoutMs, connections, now, deadline = Number.POSITIVE_INFINITY, signal } = options;
  const basePath = target.pathname.replace(/\/+$/, '');
  const pool = new Pool(target.origin, {
    connections,
    pipelining: 1,
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    connect: { timeout: timeoutMs, rejectUnauthorized: !options.insecure, ...defined({ ca: options.ca }) },
  });
  const cutOffAll = () => void pool.destroy(new Error('cut off'));
  signal.addEventListener('abort', cutOffAll);

  const send = async (request: WireRequest): Promise<Reply> => {
    const sentAt = now();
    const leftMs = Math.max(0, deadline + GRACE - sentAt);
    // Each has a trouble of its own, by which a transcript tells them apart.
    const outOfTime = () =>
      leftMs < timeoutMs
        ? trouble('budget', '--max-duration was reached before the answer came')
        : timedOut(timeoutMs);
    if (signal.aborted) return outOfTime();
    const started = performance.now();
    return new Promise<Reply>((resolve, reject) => {
      let connection: Dispatcher.DispatchController | undefined;
      let head: Pick<Answer, 'status' | 'headers'> | undefined;
      let isOver = false;
      const pieces: Uint8Array[] = [];
      let size = 0;
      const end = (reply: Reply) => {
        clearTimeout(timer);
        isOver = true;
        resolve(reply);
      };
      /** Ends before the answer is complete; what is still waiting for a connection never gets one. */
      const cutOff = (reply: Reply) => {
        end(reply);
        connection?.abort(new Error('cut off'));
      };
      const answer = (): Answer => {
        const [receivedAt, tookMs] = [now(), performance.now() - started];
        const content = decodeBody(Buffer.concat(pieces), head!.headers['content-encoding']?.[0]);
        return { kind: 'answer', ...head!, ...content, sentAt, receivedAt, tookMs };
      };
      const timer = setTimeout(() => cutOff(outOfTime()), Math.min(timeoutMs, leftMs));
      pool.dispatch(
        {
          method: request.method as Dispatcher.HttpMethod,
          path: basePath + request.target,
          headers: { ...options.headers, ...request.headers },
          body: request.body ?? null,
        },
        {
          onRequestStart: (controller) => {
            connection = controller;
            if (isOver) controller.abort(new Error('cut off'));
          },
          onResponseStart: (_controller, status, headers) => {
            if (isOver || status < 200) return;
            head = { status, headers: multiMap(headers) };
            const fields = Object.values(head.headers).reduce((sum, { length }) => sum + length, 0);
            if (fields > MAX_FIELDS)
              cutOff(trouble('network', `the answer has more than ${MAX_FIELDS} header fields`));
          },
          onResponseData: (_controller, piece) => {
            if (isOver) return;
            pieces.push(piece);
            size += piece.length;
            if (size > MAX_BODY_BYTES) cutOff(answer());
          },
          onResponseEnd: () => {
            if (!isOver) end(answer());
          },
          onResponseError: (_controller, error) => {
            if (isOver) return;
            // The target has no part in that.
            if (['EMFILE', 'ENFILE'].includes((error as { code?: string }).code ?? ''))
              reject(wrongUsage(TOO_MANY_FILES));
            end(transportErrorOf(error, timeoutMs, head !== undefined));
          },
        },
      );
    });
  };
  return {
    send,
    close: () => {
      signal.removeEventListener('abort', cutOffAll);
      return pool.destroy();
    },
  };
}

/** No names but those that were sent: `constructor` is none. */
function multiMap(headers: IncomingHttpHeaders): Answer['headers'] {
  const map = Object.create(null) as Record<string, readonly string[]>;
  for (const [name, value = ''] of Object.entries(headers))
    map[name] = typeof value === 'string' ? [value] : value;
  return map;
}

const decoders: Readonly<
  Record<string, (bytes: Uint8Array, options: { maxOutputLength: number }) => Uint8Array>
> = {
  gzip: gunzipSync,
  'x-gzip': gunzipSync,
  deflate: inflateSync,
  br: brotliDecompressSync,
};

/** Reads the bytes of a body by its Content-Encoding (RFC 9110 8.4). */
export function decodeBody(bytes: Uint8Array, encoding: string | undefined): Pick<Answer, 'text' | 'json'> {
  const name = encoding?.trim().toLowerCase() ?? '';
  const decoder = Object.hasOwn(decoders, name) ? decoders[name] : undefined;
  const why = `the body has more than ${MAX_BODY_BYTES} bytes`;
  if (bytes.length > MAX_BODY_BYTES)
    return { text: decoder === undefined ? readBeginning(bytes) : '', json: { ok: false, why } };
  if (decoder === undefined || bytes.length === 0) return readBody(bytes);
  try {
    return readBody(decoder(bytes, { maxOutputLength: MAX_BODY_BYTES }));
  } catch (error) {
    if ((error as { code?: string }).code === 'ERR_BUFFER_TOO_LARGE')
      return { text: '', json: { ok: false, why } };
    return { text: '', json: { ok: false, why: `the body is not ${encoding}, as Content-Encoding says` } };
  }
}

const noName = 'the name does not resolve';
const noTls = 'TLS failed: the port may speak plain HTTP';
const unknownAuthority = 'its certificate is signed by an unknown authority: give --ca or --insecure';

/** What went wrong, by the code of the error. */
const knownErrors: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused: nothing listens there',
  ENOTFOUND: noName,
  EAI_AGAIN: noName,
  EHOSTUNREACH: 'there is no route to the host',
  ENETUNREACH: 'there is no route to the network',
  EADDRNOTAVAIL: 'the address cannot be reached from here',
  ECONNRESET: 'the connection was reset before the answer was complete',
  EPIPE: 'the connection was closed before the answer',
  UND_ERR_SOCKET: 'the connection was closed before the answer was complete',
  // undici takes no status for possible that is below 100.
  ERR_ASSERTION: 'the answer is not HTTP: it has a status below 100',
  UND_ERR_HEADERS_OVERFLOW: "the answer's headers are too long",
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'the body is not as long as Content-Length says',
  EPROTO: noTls,
  ERR_SSL_WRONG_VERSION_NUMBER: noTls,
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is self-signed: give --ca or --insecure',
  SELF_SIGNED_CERT_IN_CHAIN: unknownAuthority,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: unknownAuthority,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: unknownAuthority,
  CERT_HAS_EXPIRED: 'its certificate has expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another name',
};

/** Why the client closed a connection itself, by its words for it: the target had no part in that. */
const closedByUs = new Map([
  ['bad response', 'the answer is an unexpected 100'],
  ['bad upgrade', 'the answer switches to another protocol unexpectedly'],
]);

/** A request that took longer than it may. */
const timedOut = (timeoutMs: number) => trouble('timeout', `no complete answer within ${timeoutMs} ms`);

/**
 * What an error of the client means.
 *
 * @param hasHead whether the head of the answer had arrived
 */
function transportErrorOf(error: Error, timeoutMs: number, hasHead: boolean): Trouble {
  const { code = '', name, message, syscall } = error as NodeJS.ErrnoException;
  if (/^UND_ERR_\w+_TIMEOUT$|^ETIMEDOUT$/.test(code)) return timedOut(timeoutMs);
  if (name === 'HTTPParserError') return trouble('network', `the answer is not HTTP: ${syntaxOf(message)}`);
  // That is what undici says of a head too, if a Content-Length stands before what is wrong with it.
  if (code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH' && !hasHead)
    return trouble('network', 'the answer is not HTTP: its header cannot be parsed');
  const words =
    (code === 'UND_ERR_SOCKET' ? closedByUs.get(message) : undefined) ??
    knownErrors[syscall === 'getaddrinfo' ? 'ENOTFOUND' : code];
  // Nobody knows who wrote another message.
  return trouble('network', words ?? message.replace(/[^\u0020-\u007e]+/g, ' ').slice(0, 200));
}

/** What is wrong with an answer that is not HTTP, of the parser's words for it. */
function syntaxOf(message: string): string {
  const [, why = 'it cannot be parsed'] = /\(([^()]+)\)$/.exec(message) ?? [];
  return why.startsWith('Expected HTTP/') ? 'it does not begin with HTTP/' : why.toLowerCase();
}
