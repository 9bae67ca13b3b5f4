import type { IncomingHttpHeaders } from 'node:http';
import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib';
import type { Dispatcher } from 'undici';
// The whole of undici takes 70 ms longer to load.
import Pool from 'undici/lib/dispatcher/pool.js';
import { decodeStart, readBody, trouble, type Answer, type Reply, type Trouble } from '../answer.ts';
import { defined } from '../../schemas/defined.ts';
import { Problem, TOO_MANY_FILES, wrongUsage } from '../../schemas/problem.ts';

/** Target, timeouts and TLS options of the client. */
export interface ClientOptions {
  /** `{base_url}`, with or without a trailing slash. */
  readonly target: URL;
  /** Timeout of each phase of a request and of the whole request, in ms. */
  readonly timeoutMs: number;
  readonly connections: number;
  /** Sent with every request. Names are in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Additional trusted certificates, in PEM. */
  readonly ca?: string;
  readonly insecure: boolean;
  /** The engine's clock, in ms. */
  readonly now: () => number;
  /** End of the run, in ms of that clock. Requests in flight are aborted shortly after. */
  readonly deadline?: number;
  /** Aborts requests in flight. */
  readonly signal: AbortSignal;
}

/** A request as it is sent. */
export interface WireRequest {
  readonly method: string;
  readonly target: string;
  /** Whether the target is sent as a URL. */
  readonly isAbsolute?: boolean | undefined;
  /** Names are sent as they are. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
}

export interface Client {
  readonly send: (request: WireRequest) => Promise<Reply>;
  readonly close: () => Promise<void>;
}

/**
 * Maximum size of a body, before and after decompression. Bodies of the interface have about 100 bytes, and a
 * burst holds 1,000 answers in memory.
 */
export const MAX_BODY_BYTES = 16 * 1024;

/** Answers are accepted until this long (ms) after the end of the run. */
const GRACE_MS = 250;

const MAX_FIELDS = 100;

/** After this part of its timeout, a request without an answer may be waiting for an idle connection to close. */
const STARVED_AFTER = 2 / 5;

/** The pools of a client. */
interface Connections {
  readonly options: ClientOptions;
  /** Path of the target, without a trailing slash. */
  readonly basePath: string;
  /** The last one gets new requests. */
  readonly pools: Pool[];
  /** Number of answers that began. */
  answered: number;
}

/**
 * Opens a connection pool to the target: no redirects, no pipelining. Connections are kept alive until a request
 * starves: a server with a worker for each connection does not read new ones while all its workers wait for idle ones.
 */
export function createClient(options: ClientOptions): Client {
  const { target, signal } = options;
  const basePath = target.pathname.replace(/\/+$/, '');
  const connections: Connections = { options, basePath, pools: [openPool(options, true)], answered: 0 };
  const destroyAll = async (error?: Error) => {
    for (const pool of connections.pools) await pool.destroy(error ?? null);
  };
  const cutOffAll = () => void destroyAll(new Error('cut off'));
  signal.addEventListener('abort', cutOffAll);
  return {
    send: (request) => send(connections, request),
    close: () => {
      signal.removeEventListener('abort', cutOffAll);
      return destroyAll();
    },
  };
}

const openPool = ({ target, timeoutMs, connections, insecure, ca }: ClientOptions, isReusing: boolean) =>
  new Pool(target.origin, {
    connections,
    // 0 sends `Connection: close`.
    pipelining: isReusing ? 1 : 0,
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    connect: { timeout: timeoutMs, rejectUnauthorized: !insecure, ...defined({ ca }) },
  });

function stopReusing({ pools, options }: Connections): void {
  if (pools.length > 1) return;
  // Idle connections close now, the others after their answer.
  void pools[0]!.close();
  pools.push(openPool(options, false));
}

async function send(connections: Connections, request: WireRequest): Promise<Reply> {
  const { basePath, pools, options } = connections;
  const { target, timeoutMs, now, deadline = Number.POSITIVE_INFINITY, signal } = options;
  const sentAt = now();
  const leftMs = Math.max(0, deadline + GRACE_MS - sentAt);
  // A new object each time: replies are told apart by identity.
  const outOfTime = () =>
    leftMs < timeoutMs
      ? trouble('budget', '--max-duration was reached before the answer came')
      : timedOut(timeoutMs);
  if (signal.aborted) return outOfTime();
  const started = performance.now();
  const answeredBefore = connections.answered;
  return new Promise<Reply>((resolve, reject) => {
    let timer: NodeJS.Timeout;
    const collector = createCollector({
      timeoutMs,
      onHead: () => void connections.answered++,
      toAnswer: (head, bytes) => {
        const receivedAt = now();
        const tookMs = performance.now() - started;
        const content = decodeBody(bytes, head.headers['content-encoding']?.[0]);
        return { kind: 'answer', ...head, ...content, sentAt, receivedAt, tookMs };
      },
      onEnd: (end) => {
        clearTimeout(timer);
        if (end instanceof Problem) reject(end);
        // undici frees the connection after this callback. A request sent before would open another one.
        else setImmediate(resolve, end);
      },
    });
    const wait = (untilEndMs: number) => {
      const ms = Math.min(timeoutMs * STARVED_AFTER, untilEndMs);
      timer = setTimeout(() => {
        if (ms === untilEndMs) return collector.cutOff(outOfTime());
        const { connected, running } = pools[0]!.stats;
        const isStarving =
          !collector.hasHead() && connections.answered > answeredBefore && connected > running;
        if (isStarving) stopReusing(connections);
        wait(untilEndMs - ms);
      }, ms);
    };
    wait(Math.min(timeoutMs, leftMs));
    pools.at(-1)!.dispatch(
      {
        method: request.method,
        path: (request.isAbsolute === true ? target.origin : '') + basePath + request.target,
        headers: fieldsToSend(options.headers, request.headers),
        body: request.body ?? null,
      },
      collector.handler,
    );
  });
}

type Head = Pick<Answer, 'status' | 'headers'>;

interface CollectorOptions {
  readonly timeoutMs: number;
  readonly onHead: () => void;
  readonly toAnswer: (head: Head, bytes: Uint8Array) => Answer;
  /** Called once. */
  readonly onEnd: (end: Reply | Problem) => void;
}

/** Collects the parts of an answer. */
function createCollector({ timeoutMs, onHead, toAnswer, onEnd }: CollectorOptions) {
  let connection: Dispatcher.DispatchController | undefined;
  let head: Head | undefined;
  let isOver = false;
  const pieces: Uint8Array[] = [];
  let size = 0;
  const end = (reply: Reply | Problem) => {
    isOver = true;
    onEnd(reply);
  };
  /** Ends the request before the answer is complete. If it still waits for a connection, it is never sent. */
  const cutOff = (reply: Reply) => {
    end(reply);
    connection?.abort(new Error('cut off'));
  };
  const handler: Dispatcher.DispatchHandler = {
    onRequestStart: (controller) => {
      connection = controller;
      if (isOver) controller.abort(new Error('cut off'));
    },
    onResponseStart: (_controller, status, headers) => {
      if (isOver || status < 200) return;
      onHead();
      head = { status, headers: multiMap(headers) };
      let fields = 0;
      for (const name in head.headers) fields += head.headers[name]!.length;
      if (fields > MAX_FIELDS)
        cutOff(trouble('network', `the answer has more than ${MAX_FIELDS} header fields`));
    },
    onResponseData: (_controller, piece) => {
      if (isOver) return;
      pieces.push(piece);
      size += piece.length;
      if (size > MAX_BODY_BYTES) cutOff(toAnswer(head!, bytesOf(pieces)));
    },
    onResponseEnd: () => {
      if (!isOver) end(toAnswer(head!, bytesOf(pieces)));
    },
    onResponseError: (_controller, error) => {
      if (!isOver) end(transportErrorOf(error, timeoutMs, head !== undefined));
    },
  };
  return { handler, cutOff, hasHead: () => head !== undefined };
}

/** Most bodies come in one piece. */
const bytesOf = (pieces: readonly Uint8Array[]): Uint8Array =>
  pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces);

/** Names and values in turn. A field of the request replaces one of the user, whose names are in lower case. */
function fieldsToSend(own: WireRequest['headers'], fields: WireRequest['headers']): string[] {
  const list: string[] = [];
  const names = Object.keys(fields);
  for (const name in own) if (!names.some((one) => one.toLowerCase() === name)) list.push(name, own[name]!);
  for (const name of names) list.push(name, fields[name]!);
  return list;
}

/** Without a prototype, so that only received names exist, not `constructor`. V8 is slow with `Object.create(null)`. */
const Fields = function () {} as unknown as new () => Record<string, readonly string[]>;
Fields.prototype = Object.create(null);

function multiMap(headers: IncomingHttpHeaders): Answer['headers'] {
  const map = new Fields();
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

/** Decompresses and decodes a body according to Content-Encoding (RFC 9110 8.4). */
export function decodeBody(bytes: Uint8Array, encoding: string | undefined): Pick<Answer, 'text' | 'json'> {
  const name = encoding?.trim().toLowerCase() ?? '';
  const decoder = Object.hasOwn(decoders, name) ? decoders[name] : undefined;
  const why = `the body has more than ${MAX_BODY_BYTES} bytes`;
  if (bytes.length > MAX_BODY_BYTES)
    return { text: decoder === undefined ? decodeStart(bytes) : '', json: { ok: false, why } };
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
  // undici asserts that the status is at least 100.
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

/** Why undici closed a connection itself, by its error message. */
const closedByUs = new Map([
  ['bad response', 'the answer is an unexpected 100'],
  ['bad upgrade', 'the answer switches to another protocol unexpectedly'],
]);

const timedOut = (timeoutMs: number) => trouble('timeout', `no complete answer within ${timeoutMs} ms`);

/**
 * Describes an error of undici.
 *
 * @param hasHead whether status and headers had arrived
 */
function transportErrorOf(error: Error, timeoutMs: number, hasHead: boolean): Trouble | Problem {
  const { code = '', name, message, syscall } = error as NodeJS.ErrnoException;
  // This is not the target's fault.
  if (code === 'EMFILE' || code === 'ENFILE') return wrongUsage(TOO_MANY_FILES);
  if (/^UND_ERR_\w+_TIMEOUT$|^ETIMEDOUT$/.test(code)) return timedOut(timeoutMs);
  if (name === 'HTTPParserError') return trouble('network', `the answer is not HTTP: ${syntaxOf(message)}`);
  // undici also reports this for a bad header after a Content-Length.
  if (code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH' && !hasHead)
    return trouble('network', 'the answer is not HTTP: its header cannot be parsed');
  const words =
    (code === 'UND_ERR_SOCKET' ? closedByUs.get(message) : undefined) ??
    knownErrors[syscall === 'getaddrinfo' ? 'ENOTFOUND' : code];
  // The message may contain text of the target.
  return trouble('network', words ?? message.replace(/[^\u0020-\u007e]+/g, ' ').slice(0, 200));
}

function syntaxOf(message: string): string {
  const [, why = 'it cannot be parsed'] = /\(([^()]+)\)$/.exec(message) ?? [];
  return why.startsWith('Expected HTTP/') ? 'it does not begin with HTTP/' : why.toLowerCase();
}
