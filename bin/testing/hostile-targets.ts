import { createServer, type Server } from 'node:net';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { always, dripping, endlessly, head, json, says } from './hostile-servers.ts';

type Serve = () => Server;

/** A target, and the cause that one line of the run's output names. */
type Targets = Readonly<Record<string, readonly [serve: Serve, cause: RegExp]>>;

/** What a terminal would interpret: escape sequences, their one-byte form, a change of direction. */
const ESCAPE = '\u001b]0;owned\u0007\u001b[2J\u009b31m\u202e\u2028\r\u0008\u0000';

const chunked = head('200 OK', json, 'Transfer-Encoding: chunked');

/** Writes the same text for every request. */
const writes =
  (text: string): Serve =>
  () =>
    always((socket) => socket.write(text));

/** Answers everything with this status and body. */
const answers =
  (status: string, body: string | Uint8Array, ...fields: readonly string[]): Serve =>
  () =>
    says(status, body, ...fields);

/** Answers everything with 200 and this JSON. */
const ok = (body: string | Uint8Array, ...fields: readonly string[]) =>
  answers('200 OK', body, json, ...fields);

/** Targets that never complete an answer. */
export const silent: Readonly<Record<string, Serve>> = {
  'accepts and says nothing': () => createServer(() => undefined),
  'hangs in the status line': writes('HTTP/1.1 2'),
  'hangs in its headers': writes('HTTP/1.1 200 OK\r\nA: b'),
  'hangs behind its head': writes(head('200 OK', json, 'Content-Length: 99')),
  'hangs in a body': writes(`${head('200 OK', json, 'Content-Length: 99')}{"is_`),
  'hangs in a chunk': writes(`${chunked}99\r\n{"is_`),
  'drips its status line': () => dripping('', 'HTTP/1.1 200 OK'),
  'drips its headers': () => dripping('HTTP/1.1 200 OK\r\nX: ', 'y'),
  'drips a body': () => dripping(head('200 OK', json, 'Content-Length: 9999999'), ' '),
  'says 102 for ever': () => endlessly('', 'HTTP/1.1 102 Processing\r\n\r\n'),
};

/** Targets that close the connection, or speak something else than HTTP. */
const broken: Targets = {
  resets: [() => always((socket) => socket.resetAndDestroy()), /connection was (?:reset|closed)/],
  'closes at once': [() => createServer((socket) => socket.end()), /connection was (?:reset|closed)/],
  'closes in its headers': [
    () => always((socket) => socket.end('HTTP/1.1 200 OK\r\nA: b')),
    /connection was closed before the answer was whole|is not HTTP/,
  ],
  'talks garbage': [writes(`${ESCAPE}garbage\r\n\r\n`), /is not HTTP: it does not begin with HTTP\//],
  'speaks to the terminal in the name of a header': [
    answers('200 OK', '{}', `${ESCAPE}: x`),
    /is not HTTP: its head cannot be parsed/,
  ],
  'splits a header in two': [answers('200 OK', '{}', `X: a\rSet-Cookie: b${ESCAPE}`), /is not HTTP/],
  'has the status 099': [answers('099 Low', '{}', json), /is not HTTP: it has a status below 100/],
  'has the status -20': [answers('-20 Low', '{}', json), /is not HTTP: invalid status code/],
  'has the status 1000': [answers('1000 High', '{}', json), /is not HTTP: invalid response status/],
  'never ends its headers': [
    () => endlessly('HTTP/1.1 200 OK\r\n', `X: ${'x'.repeat(1000)}\r\n`),
    /headers are too long/,
  ],
  'has a thousand header fields': [
    answers('200 OK', '{}', ...Array.from({ length: 1000 }, (_, at) => `X${at}: y`)),
    /the answer has more than 100 header fields/,
  ],
  'sends less than it says': [
    () => always((socket) => socket.end(`${head('200 OK', json, 'Content-Length: 50')}{}`)),
    /closed before the answer was whole|not as long as/,
  ],
  'says two lengths': [
    ok('{}', 'Content-Length: 3'),
    /the body is not as long as Content-Length says|is not HTTP/,
  ],
  'says a length below nothing': [
    writes(`${head('200 OK', json, 'Content-Length: -1')}{}`),
    /is not HTTP: invalid character in content-length/,
  ],
  'sends a chunk of no size': [writes(`${chunked}zz\r\n`), /is not HTTP: invalid character in chunk size/],
  'says 100 for ever': [
    writes('HTTP/1.1 100 Continue\r\n\r\n'.repeat(1000)),
    /the answer is a 100, which nobody asked for/,
  ],
  'changes the protocol': [
    answers('101 Switching Protocols', '', 'Connection: upgrade', 'Upgrade: x'),
    /the answer changes to another protocol/,
  ],
};

const html = 'Content-Type: text/html';
const webPage = /not this interface: 200 with a web page/;

/** Targets that are another service. */
const others: Targets = {
  'redirects for ever': [answers('302 Found', '', 'Location: /'), /not this interface: 302, a redirect/],
  'is a web page': [answers('200 OK', `<!DOCTYPE html><title>${ESCAPE}Log in</title>`, html), webPage],
  'is a long web page': [answers('200 OK', `<!doctype html>${'<p>wait</p>'.repeat(10_000)}`, html), webPage],
  'knows no such path': [
    answers('404 Not Found', 'nope', 'Content-Type: text/plain'),
    /404 without JSON.*base_url/,
  ],
  'knows no such path, and says so in JSON': [
    answers('404 Not Found', '{"message":"Cannot GET"}', json),
    /404 in words of its own.*base_url/,
  ],
};

const TOO_LONG = /the body is longer than 16384 bytes/;
const brotli = (bytes: Buffer) =>
  brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } });

/** Targets whose bodies are too large. */
const large: Targets = {
  'never ends a body': [() => endlessly(chunked, `400\r\n${'x'.repeat(1024)}\r\n`), TOO_LONG],
  'sends a gzip bomb': [
    () => says('200 OK', gzipSync(Buffer.alloc(10_000_000)), json, 'Content-Encoding: gzip'),
    TOO_LONG,
  ],
  'sends a Brotli bomb': [
    () => says('200 OK', brotli(Buffer.alloc(50_000_000)), json, 'Content-Encoding: br'),
    TOO_LONG,
  ],
  'says gzip and sends none': [
    ok('{}', 'Content-Encoding: gzip'),
    /the body is not gzip, as Content-Encoding says/,
  ],
  'answers with 20 MB of JSON': [() => says('200 OK', `{"a":"${'x'.repeat(20_000_000)}"}`, json), TOO_LONG],
  'nests for ever': [ok('['.repeat(500_000)), TOO_LONG],
  'nests deep': [ok('['.repeat(9000)), /the body is not JSON/],
  'nests deep, and closes it all': [
    ok(`{"status":"EXECUTED","amountInUsd":${'['.repeat(8000)}${']'.repeat(8000)}}`),
    /the body is nested more than 500 levels deep/,
  ],
  'sends more than it says': [
    writes(`${head('200 OK', json, 'Content-Length: 2')}{}${ESCAPE}`),
    /nonconformant/,
  ],
};

/** Targets whose answers are strange. */
const strange: Targets = {
  'has the status 999': [answers('999 High', '{}', json), /status +999|999 \{\}/],
  'is a portal that wants a login first': [
    answers('511 Network Authentication Required', `<html>${ESCAPE}`, html),
    /511 <html>/,
  ],
  'finds no deposit, and knows no user-status': [
    answers('404 Not Found', '{"error":"Deposit not found"}', json),
    /✗ valid\/user-status\/member .*status/,
  ],
  'answers with infinity': [
    ok('{"status":"EXECUTED","amountInUsd":1e400,"executedAt":1e400}'),
    /amountInUsd/,
  ],
  'names its fields twice, and a prototype': [
    ok('{"__proto__":{"is_under_ib":true},"is_under_ib":false,"is_under_ib":true}'),
    /valid\/user-status/,
  ],
  'has fields of a prototype only': [
    ok('{"__proto__":{"is_under_ib":true,"status":"EXECUTED"},"constructor":1}'),
    /__proto__/,
  ],
  'is not UTF-8': [ok(Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d])), /the body is not UTF-8/],
  'speaks to the terminal in its reason phrase': [
    answers('200 \u001b]0;owned\u0007', '{}', json),
    /nonconformant/,
  ],
  'speaks to the terminal in its messages': [ok(JSON.stringify({ error: ESCAPE })), /nonconformant/],
  'speaks to the terminal in its body': [ok(`{"error":"${ESCAPE}"}`), /\\u\{1b\}/],
  'speaks to the terminal in its headers': [
    ok('{}', 'X: \u009b31m\u0085', 'Content-Language: \u009b2J'),
    /nonconformant/,
  ],
  'says 200 {} to everything': [ok('{}'), /nonconformant/],
  'refuses every key': [
    answers('401 Unauthorized', '{"error":"Unauthorized"}', json),
    /answers every request .* with 401/,
  ],
  'limits for ever': [
    answers('429 Too Many Requests', '{"error":"Too many requests"}', json, 'Retry-After: 86400'),
    /429 with Retry-After of 86400 s, longer than is waited for/,
  ],
};

/** Sends a million chunks a second, so it gets one requirement only. */
const inPieces: Targets = {
  'never ends a body in pieces of a byte': [() => endlessly(chunked, '1\r\nx\r\n'.repeat(1000)), TOO_LONG],
};

/** Targets that end a run by something else than a timeout: the exit code, and flags of the run. */
export const loud: readonly (readonly [Targets, code: number, ...flags: readonly string[]])[] = [
  [broken, 4],
  [others, 4],
  [large, 1, '--suite', 'valid'],
  [inPieces, 1, '--only', 'valid/user-status/member'],
  [strange, 1],
];
