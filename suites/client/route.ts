import type { buildConnector, Dispatcher } from 'undici';
// The whole of undici takes 70 ms longer to load.
import connectMethod from 'undici/lib/api/api-connect.js';
import connectorOf from 'undici/lib/core/connect.js';
import EnvHttpProxyAgent from 'undici/lib/dispatcher/env-http-proxy-agent.js';
import Pool from 'undici/lib/dispatcher/pool.js';
import { defined } from '../../schemas/values.ts';
import { MAX_HEADER_KIB, type ErrorContext } from './transport-errors.ts';

export type { Dispatcher } from 'undici';

/** The target, and how it is reached. */
export interface RouteOptions {
  /** `{base_url}`, with or without a trailing slash. */
  readonly target: URL;
  /** Timeout of each phase of a request and of the whole request, in ms. */
  readonly timeoutMs: number;
  readonly connections: number;
  /** Additional trusted certificates, in PEM. */
  readonly ca?: string;
  readonly insecure: boolean;
  /** The client certificate, and its private key, in PEM. */
  readonly cert?: string;
  readonly certKey?: string;
  /** As in the variables HTTP_PROXY, HTTPS_PROXY and NO_PROXY; each may be empty. Never used for loopback. */
  readonly proxy?: { readonly httpProxy: string; readonly httpsProxy: string; readonly noProxy: string };
}

/** Leads to the target, directly or through a proxy. */
export interface Route {
  readonly dispatcher: Dispatcher;
  /** The pools of connections to the target. */
  readonly pools: readonly Pool[];
}

/** @param errorContext learns whether a proxy is used, once something is sent */
export function openRoute(options: RouteOptions, isReusing: boolean, errorContext: ErrorContext): Route {
  const { target, timeoutMs, connections, insecure, ca, cert, certKey: key, proxy } = options;
  const pools: Pool[] = [];
  const open = (origin: string, connect: buildConnector.connector) => {
    const pool = new Pool(origin, {
      connections,
      // 0 sends `Connection: close`.
      pipelining: isReusing ? 1 : 0,
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
      maxHeaderSize: MAX_HEADER_KIB * 1024,
      connect: noticingAlerts(connect, errorContext),
    });
    pools.push(pool);
    return pool;
  };
  const tls = { timeout: timeoutMs, rejectUnauthorized: !insecure, ...defined({ ca, cert, key }) };
  const connect = connectorOf(tls);
  if (proxy === undefined || isLoopback(target)) return { pools, dispatcher: open(target.origin, connect) };
  const dispatcher = new EnvHttpProxyAgent({
    ...proxy,
    connect,
    requestTls: tls,
    // For https, the proxy gets CONNECT. Only the whole of undici has this method.
    clientFactory: (origin, given) => Object.assign(new Pool(origin, given), { connect: connectMethod }),
    // undici gives the connector of the proxy, or the one above if NO_PROXY has the target.
    factory: (_origin, given) => {
      const chosen = (given as { readonly connect: buildConnector.connector }).connect;
      const isForwarded = target.protocol === 'http:' && /^https?:/.test(proxy.httpProxy);
      errorContext.proxied = chosen === connect ? undefined : isForwarded ? 'forwarded' : 'tunnelled';
      if (errorContext.proxied !== 'forwarded') return open(target.origin, chosen);
      const { origin, username, password } = new URL(proxy.httpProxy);
      const fields = new Map([['host', target.host]]);
      const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
      if (username !== '')
        fields.set('proxy-authorization', `Basic ${Buffer.from(credentials).toString('base64')}`);
      return open(origin, connectorOf({ timeout: timeoutMs })).compose(forwarding(target, fields));
    },
  });
  return { pools, dispatcher };
}

/** Sends requests in absolute form (RFC 9112 3.2.2): many proxies allow CONNECT only for port 443. */
const forwarding =
  ({ origin }: URL, fields: ReadonlyMap<string, string>): Dispatcher.DispatcherComposeInterceptor =>
  (dispatch) =>
  (given, handler) => {
    const own = given.headers as ReadonlyMap<string, string>;
    const path = given.path.startsWith('/') ? origin + given.path : given.path;
    return dispatch({ ...given, path, headers: new Map([...fields, ...own]) }, handler);
  };

const isLoopback = ({ hostname }: URL) =>
  /^(?:(?:.+\.)?localhost\.?|127(?:\.\d+){3}|\[::1\])$/.test(hostname);

/** Notes TLS alerts that come after the handshake: undici reports only that the connection was closed. */
const noticingAlerts =
  (connect: buildConnector.connector, errorContext: ErrorContext): buildConnector.connector =>
  (options, done) =>
    connect(options, (...[error, socket]) => {
      socket?.on('error', ({ code = '' }: NodeJS.ErrnoException) => {
        if (code.startsWith('ERR_SSL_')) errorContext.tlsAlert = code;
      });
      if (error === null) done(null, socket);
      else done(error, null);
    });
