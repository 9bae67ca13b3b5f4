import type { Trouble } from '../answer.ts';

/** A request that got no whole answer. */
export interface TransportError extends Trouble {
  readonly code: 'timeout' | 'network' | 'budget';
  /** Whether not even a connection came about. */
  readonly unreachable: boolean;
}

const noName = 'the name does not resolve';
const noTls = 'TLS failed: the port may speak plain HTTP';
const unknownAuthority = 'its certificate is signed by an unknown authority: give --ca or --insecure';

/** What went wrong, by the code of the error: words, and whether a connection ever came about. */
const knownErrors: Readonly<Record<string, readonly [words: string, unreachable: boolean]>> = {
  ECONNREFUSED: ['the connection was refused: nothing listens there', true],
  ENOTFOUND: [noName, true],
  EAI_AGAIN: [noName, true],
  EHOSTUNREACH: ['there is no route to the host', true],
  ENETUNREACH: ['there is no route to the network', true],
  EADDRNOTAVAIL: ['the address cannot be reached from here', true],
  ECONNRESET: ['the connection was reset before the answer was whole', false],
  EPIPE: ['the connection was closed before the answer', false],
  UND_ERR_SOCKET: ['the connection was closed before the answer was whole', false],
  // undici takes no status for possible that is below 100.
  ERR_ASSERTION: ['the answer is not HTTP: it has a status below 100', false],
  UND_ERR_HEADERS_OVERFLOW: ["the answer's headers are too long", false],
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: ['the body is not as long as Content-Length says', false],
  EPROTO: [noTls, true],
  ERR_SSL_WRONG_VERSION_NUMBER: [noTls, true],
  DEPTH_ZERO_SELF_SIGNED_CERT: ['its certificate is self-signed: give --ca or --insecure', true],
  SELF_SIGNED_CERT_IN_CHAIN: [unknownAuthority, true],
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: [unknownAuthority, true],
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: [unknownAuthority, true],
  CERT_HAS_EXPIRED: ['its certificate has expired', true],
  ERR_TLS_CERT_ALTNAME_INVALID: ['its certificate is for another name', true],
};

/** Why the client closed a connection itself, by its words for it: the target had no part in that. */
const closedByUs = new Map([
  ['bad response', 'the answer is a 100, which nobody asked for'],
  ['bad upgrade', 'the answer changes to another protocol, which nobody asked for'],
]);

const transportError = (
  code: TransportError['code'],
  words: string,
  unreachable = false,
): TransportError => ({
  kind: 'trouble',
  code,
  words,
  unreachable,
});

/** A request that outlived the run. Each has a trouble of its own, by which a transcript tells them apart. */
export const late = () =>
  transportError('budget', 'the time of --max-duration was used up before the answer came');

/** A request that took longer than it may. */
export const timedOut = (timeoutMs: number, unreachable = false) =>
  transportError('timeout', `no whole answer within ${timeoutMs} ms`, unreachable);

/** An answer that nobody could keep a thousand of. */
export const tooManyFields = (most: number) =>
  transportError('network', `the answer has more than ${most} header fields`);

/**
 * What an error of the client means.
 *
 * @param hasHead whether the head of the answer had arrived
 */
export function transportErrorOf(error: Error, timeoutMs: number, hasHead: boolean): TransportError {
  const { code = '', name, message, syscall } = error as NodeJS.ErrnoException;
  if (/^UND_ERR_\w+_TIMEOUT$|^ETIMEDOUT$/.test(code))
    return timedOut(timeoutMs, code === 'UND_ERR_CONNECT_TIMEOUT');
  if (name === 'HTTPParserError')
    return transportError('network', `the answer is not HTTP: ${syntaxOf(message)}`);
  // That is what undici says of a head too, if a Content-Length stands before what is wrong with it.
  if (code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH' && !hasHead)
    return transportError('network', 'the answer is not HTTP: its head cannot be parsed');
  const ours = code === 'UND_ERR_SOCKET' ? closedByUs.get(message) : undefined;
  if (ours !== undefined) return transportError('network', ours);
  // Nobody knows who wrote another message.
  const [words, unreachable] = knownErrors[syscall === 'getaddrinfo' ? 'ENOTFOUND' : code] ?? [
    message.replace(/[^\u0020-\u007e]+/g, ' ').slice(0, 200),
  ];
  return transportError('network', words, unreachable);
}

/** What is wrong with an answer that is not HTTP, of the parser's words for it. */
function syntaxOf(message: string): string {
  const [, why = 'it cannot be parsed'] = /\(([^()]+)\)$/.exec(message) ?? [];
  return why.startsWith('Expected HTTP/') ? 'it does not begin with HTTP/' : why.toLowerCase();
}
