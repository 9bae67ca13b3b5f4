import { Pool, type Dispatcher } from 'undici';
import type { Answer } from '../answer.ts';
import { decodeBody, MOST_BODY_BYTES } from './body.ts';

/** Where requests go, and how patiently. */
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

/** A request that got no whole answer. */
export interface WireTrouble {
  readonly kind: 'trouble';
  readonly code: 'timeout' | 'network';
  readonly words: string;
  /** Whether not even a connection came about. */
  readonly unreachable: boolean;
}

export interface Client {
  readonly send: (request: WireRequest) => Promise<Answer | WireTrouble>;
  readonly close: () => Promise<void>;
}

/** Opens a pool of connections to the target: keep-alive, no redirects, no pipelining. */
export function createClient(options: ClientOptions): Client {
  const { target, timeoutMs, connections, now } = options;
  const basePath = target.pathname.replace(/\/+$/, '');
  const pool = new Pool(target.origin, {
    connections,
    pipelining: 1,
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    connect: {
      timeout: timeoutMs,
      rejectUnauthorized: !options.insecure,
      ...(options.ca === undefined ? {} : { ca: options.ca }),
    },
  });

  const send = async (request: WireRequest): Promise<Answer | WireTrouble> => {
    const abort = new AbortController();
    const cutOff = () => abort.abort();
    const timer = setTimeout(cutOff, timeoutMs);
    options.signal.addEventListener('abort', cutOff);
    const sentAt = now();
    const started = performance.now();
    try {
      const response = await pool.request({
        method: request.method,
        path: basePath + request.target,
        headers: { ...options.headers, ...request.headers },
        body: request.body ?? null,
        signal: abort.signal,
      });
      const body = await read(response.body);
      const headers = multiMap(response.headers);
      return {
        kind: 'answer',
        status: response.statusCode,
        headers,
        ...(await decodeBody(body, headers['content-encoding']?.[0])),
        sentAt,
        receivedAt: now(),
        tookMs: performance.now() - started,
      };
    } catch (error) {
      return troubleOf(error, abort.signal.aborted, timeoutMs);
    } finally {
      clearTimeout(timer);
      options.signal.removeEventListener('abort', cutOff);
    }
  };
  return { send, close: () => pool.destroy() };
}

/** The bytes of a body; undefined where there are too many. */
async function read(body: Dispatcher.ResponseData['body']): Promise<Uint8Array | undefined> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    // Leaving the loop destroys the rest of the body.
    if (size > MOST_BODY_BYTES) return undefined;
    chunks.push(chunk);
  }
  return chunks.length === 1 ? chunks[0] : Buffer.concat(chunks);
}

function multiMap(headers: Dispatcher.ResponseData['headers']): Readonly<Record<string, readonly string[]>> {
  const map: Record<string, readonly string[]> = Object.create(null) as Record<string, readonly string[]>;
  for (const [name, value] of Object.entries(headers)) map[name] = [value ?? ''].flat();
  return map;
}

/** What went wrong, by the code of the error: words, and whether a connection ever came about. */
const knownErrors: Readonly<Record<string, readonly [words: string, unreachable: boolean]>> = {
  ECONNREFUSED: ['the connection was refused: nothing listens there', true],
  ENOTFOUND: ['the name does not resolve', true],
  EAI_AGAIN: ['the name does not resolve', true],
  EHOSTUNREACH: ['there is no route to the host', true],
  ENETUNREACH: ['there is no route to the network', true],
  EADDRNOTAVAIL: ['the address cannot be reached from here', true],
  ECONNRESET: ['the connection was reset before the answer was whole', false],
  EPIPE: ['the connection was closed before the answer', false],
  UND_ERR_SOCKET: ['the connection was closed before the answer was whole', false],
  UND_ERR_HEADERS_OVERFLOW: ["the answer's headers are too long", false],
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: ['the body is not as long as Content-Length says', false],
  EPROTO: ['TLS failed: the port may speak plain HTTP', true],
  ERR_SSL_WRONG_VERSION_NUMBER: ['TLS failed: the port may speak plain HTTP', true],
  DEPTH_ZERO_SELF_SIGNED_CERT: ['its certificate is self-signed: give --ca or --insecure', true],
  SELF_SIGNED_CERT_IN_CHAIN: [
    'its certificate is signed by an unknown authority: give --ca or --insecure',
    true,
  ],
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: [
    'its certificate is signed by an unknown authority: give --ca or --insecure',
    true,
  ],
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: [
    'its certificate is signed by an unknown authority: give --ca or --insecure',
    true,
  ],
  CERT_HAS_EXPIRED: ['its certificate has expired', true],
  ERR_TLS_CERT_ALTNAME_INVALID: ['its certificate is for another name', true],
};

const timeouts = new Set([
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
  'ETIMEDOUT',
]);

function troubleOf(error: unknown, aborted: boolean, timeoutMs: number): WireTrouble {
  const { code = '', name = '', message = String(error) } = error as Partial<NodeJS.ErrnoException>;
  if (aborted || timeouts.has(code))
    return {
      kind: 'trouble',
      code: 'timeout',
      words: `no whole answer within ${timeoutMs} ms`,
      unreachable: code === 'UND_ERR_CONNECT_TIMEOUT',
    };
  const [words, unreachable] = knownErrors[code] ?? [
    name === 'HTTPParserError' ? `the answer is not HTTP (${message})` : message,
    false,
  ];
  return { kind: 'trouble', code: 'network', words, unreachable };
}
