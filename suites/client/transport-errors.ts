import { TOO_MANY_FILES, wrongUsage } from '../../schemas/problem.ts';
import { trouble, type Trouble } from '../answer.ts';

/** Maximum size of the header fields of an answer, in KiB. */
export const MAX_HEADER_KIB = 64;

/** What is known about the connections of a client. */
export interface ErrorContext {
  readonly timeoutMs: number;
  /** How a proxy stands between, if one does: it passes requests on, or bytes (CONNECT). */
  proxied: 'forwarded' | 'tunnelled' | undefined;
  /** Code of the last TLS alert that came after a handshake. */
  tlsAlert: string | undefined;
  /** The engine's clock, in ms. */
  readonly now: () => number;
}

const noName = 'the name does not resolve';
const noTls = 'TLS failed: the port may speak plain HTTP';
const certRefused = 'the target does not accept the client certificate of --cert';
const onlyHttp2 = 'the target speaks only HTTP/2; a run needs HTTP/1.1';
const oldTls = 'the target offers no TLS version from 1.2 on';
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
  UND_ERR_HEADERS_OVERFLOW: `the answer's headers are too long: the limit is ${MAX_HEADER_KIB} KiB`,
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'the body is not as long as Content-Length says',
  ERR_SSL_WRONG_VERSION_NUMBER: noTls,
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is self-signed: give --ca or --insecure',
  SELF_SIGNED_CERT_IN_CHAIN: unknownAuthority,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    'the target sends its certificate alone, and the authority that signed it is unknown: let it send the intermediate certificates too, or give all up to the root with --ca, or --insecure',
  UNABLE_TO_GET_ISSUER_CERT:
    'the certificate in --ca is no root: give the certificates up to the root with --ca',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: unknownAuthority,
  ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED:
    'the target requires a client certificate: give --cert and --cert-key',
  ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE:
    'the target refused the TLS handshake: it may require a client certificate (--cert and --cert-key)',
  ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE: certRefused,
  ERR_SSL_SSLV3_ALERT_CERTIFICATE_EXPIRED: certRefused,
  ERR_SSL_SSLV3_ALERT_CERTIFICATE_REVOKED: certRefused,
  ERR_SSL_SSLV3_ALERT_CERTIFICATE_UNKNOWN: certRefused,
  ERR_SSL_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE: certRefused,
  ERR_SSL_TLSV1_ALERT_ACCESS_DENIED: certRefused,
  ERR_SSL_TLSV1_ALERT_UNKNOWN_CA: certRefused,
  CERT_HAS_EXPIRED: 'its certificate has expired',
  ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION: oldTls,
  ERR_SSL_UNSUPPORTED_PROTOCOL: oldTls,
  ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL: onlyHttp2,
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another name',
};

/** Why undici closed a connection itself, by its error message. */
const closedByUs = new Map([
  [
    'bad response',
    'the target sent 100 Continue unasked: HTTP allows that, but this program cannot read what comes after it',
  ],
  ['bad upgrade', 'the answer switches to another protocol unexpectedly'],
]);

/** The trouble if no complete answer came in time. */
export const timedOut = (timeoutMs: number) =>
  trouble('timeout', `no complete answer within ${timeoutMs} ms`);

/** The type of the frame with which an HTTP/2 connection begins, SETTINGS; it follows the length (RFC 9113 3.4, 6.5). */
const SETTINGS = 4;

/** Codes of requests that undici refuses, so that nothing was sent. */
const unsendable = /^UND_ERR_(?:INVALID_ARG|NOT_SUPPORTED|REQ_CONTENT_LENGTH_MISMATCH)$/;

/**
 * Describes an error of undici. A request that cannot be sent is a bug of ours: what users give is checked when it is
 * read.
 *
 * @param hasHead whether status and headers had arrived
 */
export function transportErrorOf(error: Error, context: ErrorContext, hasHead: boolean): Trouble | Error {
  const { code = '', name, message, syscall } = error as NodeJS.ErrnoException;
  if (unsendable.test(code)) return new Error(`the request cannot be sent: ${message}`, { cause: error });
  // This is not the target's fault.
  if (code === 'EMFILE' || code === 'ENFILE') return wrongUsage(TOO_MANY_FILES);
  if (/^UND_ERR_\w+_TIMEOUT$|^ETIMEDOUT$/.test(code)) return timedOut(context.timeoutMs);
  if (name === 'HTTPParserError') {
    const { data = '' } = error as { data?: string };
    const isHttp2 = data.startsWith('\0') && data.charCodeAt(3) === SETTINGS;
    return trouble('network', isHttp2 ? onlyHttp2 : `the answer is not HTTP: ${syntaxOf(message)}`);
  }
  // undici also reports this for a bad header after a Content-Length.
  if (code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH' && !hasHead)
    return trouble('network', 'the answer is not HTTP: its header cannot be parsed');
  const words =
    refusalOfProxy(message) ??
    (code === 'UND_ERR_SOCKET' ? (closedByUs.get(message) ?? alertWords(context, hasHead)) : undefined) ??
    (code === 'CERT_NOT_YET_VALID' ? notYetValid(context.now()) : undefined) ??
    knownErrors[syscall === 'getaddrinfo' ? 'ENOTFOUND' : code];
  // Only the proxy is connected to.
  const isOfProxy = context.proxied !== undefined && (syscall === 'connect' || syscall === 'getaddrinfo');
  const place = isOfProxy ? 'the proxy (HTTP_PROXY, HTTPS_PROXY): ' : '';
  // The message may contain text of the target.
  const shown = `${code} ${message}`.replace(/[^\u0020-\u007e]+/g, ' ').trim();
  return trouble('network', place + (words ?? shown.slice(0, 200)));
}

const notYetValid = (now: number) =>
  `its certificate is not valid yet: by the clock of this machine it is ${new Date(now).toISOString()}; check it and the clock of the authority`;

export const PROXY_PASSWORD =
  'the proxy (HTTP_PROXY, HTTPS_PROXY) answered 407: its URL needs a user name and a password';

function refusalOfProxy(message: string): string | undefined {
  const [, status] = /^Proxy response \((\d+)\)/.exec(message) ?? [];
  if (status === '407') return PROXY_PASSWORD;
  return (
    status &&
    `the proxy (HTTP_PROXY, HTTPS_PROXY) answered ${status} to CONNECT, so the target is not reached`
  );
}

const alertWords = ({ tlsAlert }: ErrorContext, hasHead: boolean) =>
  hasHead || tlsAlert === undefined ? undefined : knownErrors[tlsAlert];

function syntaxOf(message: string): string {
  const [, why = 'it cannot be parsed'] = /\(([^()]+)\)$/.exec(message) ?? [];
  return why.startsWith('Expected HTTP/') ? 'it does not begin with HTTP/' : why.toLowerCase();
}
