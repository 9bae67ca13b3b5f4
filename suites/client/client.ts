import { decodeBody, MAX_BODY_BYTES, trouble, type Answer, type Reply } from '../answer.ts';
import { fieldsToSend, multiMap } from './fields.ts';
import { openRoute, type Dispatcher, type Route, type RouteOptions } from './route.ts';
import { PROXY_PASSWORD, timedOut, transportErrorOf, type ErrorContext } from './transport-errors.ts';

/** Target, connections and times of the client. */
export interface ClientOptions extends RouteOptions {
  /** Sent with every request. Names are in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The engine's clock, in ms. */
  readonly now: () => number;
  /** End of the run, in ms of that clock. Requests in flight are aborted shortly after. */
  readonly deadline?: number;
  /** Aborts requests in flight. */
  readonly signal: AbortSignal;
}

/** How the target is reached: TLS and proxies. */
export type Network = Pick<RouteOptions, 'ca' | 'insecure' | 'cert' | 'certKey' | 'proxy'>;

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
  /** Sends what follows on new connections. A client without sockets has none. */
  readonly renew?: () => void;
  /** Whether what was sent last went through a proxy. */
  readonly isProxied?: () => boolean;
  readonly close: () => Promise<void>;
}

/** Answers are accepted until this long (ms) after the end of the run. */
const GRACE_MS = 250;

const MAX_FIELDS = 100;

/** After this part of its timeout, a request without an answer may be waiting for an idle connection to close. */
const STARVED_AFTER = 2 / 5;

/** The connections of a client. */
interface Connections {
  readonly options: ClientOptions;
  /** Path of the target, without a trailing slash. */
  readonly basePath: string;
  /** The last one gets new requests. */
  readonly routes: Route[];
  /** Number of answers that began. */
  answered: number;
  /** Whether connections are kept alive. */
  isReusing: boolean;
  readonly errorContext: ErrorContext;
}

/**
 * Opens a connection pool to the target: no redirects, no pipelining. Connections are kept alive until a request
 * starves: a server with a worker for each connection does not read new ones while all its workers wait for idle ones.
 */
export function createClient(options: ClientOptions): Client {
  const { target, timeoutMs, signal } = options;
  const basePath = target.pathname.replace(/\/+$/, '');
  const errorContext = { timeoutMs, proxied: undefined, tlsAlert: undefined, now: options.now };
  const routes = [openRoute(options, true, errorContext)];
  const connections: Connections = { options, basePath, routes, answered: 0, errorContext, isReusing: true };
  const destroyAll = async (error?: Error) => {
    for (const { dispatcher } of routes) await dispatcher.destroy(error ?? null);
  };
  const cutOffAll = () => void destroyAll(new Error('cut off'));
  signal.addEventListener('abort', cutOffAll);
  return {
    send: (request) => send(connections, request),
    renew: () => openAgain(connections, connections.isReusing),
    isProxied: () => connections.errorContext.proxied !== undefined,
    close: () => {
      signal.removeEventListener('abort', cutOffAll);
      return destroyAll();
    },
  };
}

/** Idle connections close now, the others after their answer. */
function openAgain(connections: Connections, isReusing: boolean): void {
  const { routes, options, errorContext } = connections;
  // It may be destroyed already.
  void routes
    .at(-1)!
    .dispatcher.close()
    .catch(() => undefined);
  routes.push(openRoute(options, isReusing, errorContext));
  connections.isReusing = isReusing;
}

async function send(connections: Connections, request: WireRequest): Promise<Reply> {
  const { basePath, routes, options, errorContext } = connections;
  const { target, timeoutMs, now, deadline = Number.POSITIVE_INFINITY, signal } = options;
  const sentAt = now();
  const leftMs = Math.max(0, deadline + GRACE_MS - sentAt);
  // A new object each time: replies are told apart by identity.
  const outOfTime = () =>
    leftMs < timeoutMs
      ? trouble('budget', '--max-duration was reached before the answer came')
      : timedOut(timeoutMs);
  if (signal.aborted) return outOfTime();
  // Other lookups show the same, as if a bound had left this one out.
  if (errorContext.proxied === 'forwarded' && Object.keys(request.headers).some(isOfProxy))
    return trouble('budget', 'a proxy keeps Proxy-Authorization for itself');
  const started = performance.now();
  const answeredBefore = connections.answered;
  return new Promise<Reply>((resolve, reject) => {
    let timer: NodeJS.Timeout;
    const collector = createCollector({
      errorContext,
      onHead: () => void connections.answered++,
      toAnswer: (head, bytes) => {
        const receivedAt = now();
        const tookMs = performance.now() - started;
        const content = decodeBody(bytes, head.headers['content-encoding']?.[0]);
        return { kind: 'answer', ...head, ...content, sentAt, receivedAt, tookMs };
      },
      onEnd: (end) => {
        clearTimeout(timer);
        if (end instanceof Error) reject(end);
        // undici frees the connection after this callback. A request sent before would open another one.
        else setImmediate(resolve, end);
      },
    });
    const wait = (untilEndMs: number) => {
      const ms = Math.min(timeoutMs * STARVED_AFTER, untilEndMs);
      timer = setTimeout(() => {
        if (ms === untilEndMs) return collector.cutOff(outOfTime());
        const hasIdle = routes.at(-1)!.pools.some(({ stats }) => stats.connected > stats.running);
        const isStarving = !collector.hasHead() && connections.answered > answeredBefore && hasIdle;
        if (isStarving && connections.isReusing) openAgain(connections, false);
        wait(untilEndMs - ms);
      }, ms);
    };
    wait(Math.min(timeoutMs, leftMs));
    routes.at(-1)!.dispatcher.dispatch(
      {
        origin: target.origin,
        method: request.method,
        path: (request.isAbsolute === true ? target.origin : '') + basePath + request.target,
        headers: fieldsToSend(options.headers, request.headers),
        body: request.body ?? null,
      },
      collector.handler,
    );
  });
}

const isOfProxy = (name: string) => name.toLowerCase() === 'proxy-authorization';

type Head = Pick<Answer, 'status' | 'headers'>;

interface CollectorOptions {
  readonly errorContext: ErrorContext;
  readonly onHead: () => void;
  readonly toAnswer: (head: Head, bytes: Uint8Array) => Answer;
  /** Called once. */
  readonly onEnd: (end: Reply | Error) => void;
}

/** Collects the parts of an answer. */
function createCollector({ errorContext, onHead, toAnswer, onEnd }: CollectorOptions) {
  let connection: Dispatcher.DispatchController | undefined;
  let head: Head | undefined;
  let isOver = false;
  const pieces: Uint8Array[] = [];
  let size = 0;
  const end = (reply: Reply | Error) => {
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
      if (status === 407 && errorContext.proxied === 'forwarded')
        return cutOff(trouble('network', PROXY_PASSWORD));
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
      if (!isOver) end(transportErrorOf(error, errorContext, head !== undefined));
    },
  };
  return { handler, cutOff, hasHead: () => head !== undefined };
}

/** Most bodies come in one piece. */
const bytesOf = (pieces: readonly Uint8Array[]): Uint8Array =>
  pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces);
