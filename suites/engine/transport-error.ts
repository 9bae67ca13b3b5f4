import { trouble, type Trouble } from '../answer.ts';

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
  ECONNRESET: 'the connection was reset before the answer was whole',
  EPIPE: 'the connection was closed before the answer',
  UND_ERR_SOCKET: 'the connection was closed before the answer was whole',
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
  ['bad response', 'the answer is a 100, which nobody asked for'],
  ['bad upgrade', 'the answer changes to another protocol, which nobody asked for'],
]);

/** A request that took longer than it may. */
export const timedOut = (timeoutMs: number) => trouble('timeout', `no whole answer within ${timeoutMs} ms`);

/**
 * What an error of the client means.
 *
 * @param hasHead whether the head of the answer had arrived
 */
export function transportErrorOf(error: Error, timeoutMs: number, hasHead: boolean): Trouble {
  const { code = '', name, message, syscall } = error as NodeJS.ErrnoException;
  if (/^UND_ERR_\w+_TIMEOUT$|^ETIMEDOUT$/.test(code)) return timedOut(timeoutMs);
  if (name === 'HTTPParserError') return trouble('network', `the answer is not HTTP: ${syntaxOf(message)}`);
  // That is what undici says of a head too, if a Content-Length stands before what is wrong with it.
  if (code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH' && !hasHead)
    return trouble('network', 'the answer is not HTTP: its head cannot be parsed');
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
