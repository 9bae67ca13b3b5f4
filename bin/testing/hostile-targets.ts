import { createServer, type Server } from 'node:net';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { suites } from '../../suites/index.ts';
import { always, dripping, endlessly, head, json, says } from './hostile-servers.ts';

/** What a target does, the exit code of the run, the cause that one line of its output names, and flags of the run. */
export type HostileTarget = readonly [
  serve: () => Server,
  code: number,
  cause: RegExp,
  ...flags: readonly string[],
];

/** What a terminal would interpret: escape sequences, their one-byte form, a change of direction. */
const ESCAPE = '\u001b]0;owned\u0007\u001b[2J\u009b31m\u202e\u2028\r\u0008\u0000';

/** Heavy answers are sent to one suite only. */
const brief = ['--suite', 'valid'];

/** A target without a limiter gets 3,500 of 4,660 requests from the suite on limiters: two targets get them all. */
const unhurried = Object.keys(suites).flatMap((suite) => (suite === 'rate-limit' ? [] : ['--suite', suite]));

const TOO_LONG = /the body is longer than 16384 bytes/;
const chunked = head('200 OK', json, 'Transfer-Encoding: chunked');
const brotli = (bytes: Buffer) =>
  brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } });

/** Targets that never complete an answer. */
export const silent: Readonly<Record<string, () => Server>> = {
  'accepts and says nothing': () => createServer(() => undefined),
  'hangs in the status line': () => always((socket) => socket.write('HTTP/1.1 2')),
  'hangs in its headers': () => always((socket) => socket.write('HTTP/1.1 200 OK\r\nA: b')),
  'hangs behind its head': () => always((socket) => socket.write(head('200 OK', json, 'Content-Length: 99'))),
  'hangs in a body': () =>
    always((socket) => socket.write(`${head('200 OK', json, 'Content-Length: 99')}{"is_`)),
  'hangs in a chunk': () => always((socket) => socket.write(`${chunked}99\r\n{"is_`)),
  'drips its status line': () => dripping('', 'HTTP/1.1 200 OK'),
  'drips its headers': () => dripping('HTTP/1.1 200 OK\r\nX: ', 'y'),
  'drips a body': () => dripping(head('200 OK', json, 'Content-Length: 9999999'), ' '),
  'says 102 for ever': () => endlessly('', 'HTTP/1.1 102 Processing\r\n\r\n'),
};

/** Targets that close the connection, or speak something else than HTTP. */
const broken: Readonly<Record<string, HostileTarget>> = {
  resets: [() => always((socket) => socket.resetAndDestroy()), 4, /connection was (?:reset|closed)/],
  'closes at once': [() => createServer((socket) => socket.end()), 4, /connection was (?:reset|closed)/],
  'closes in its headers': [
    () => always((socket) => socket.end('HTTP/1.1 200 OK\r\nA: b')),
    4,
    /connection was closed before the answer was whole|is not HTTP/,
  ],
  'talks garbage': [
    () => always((socket) => socket.write(`${ESCAPE}garbage\r\n\r\n`)),
    4,
    /is not HTTP: it does not begin with HTTP\//,
  ],
  'speaks to the terminal in the name of a header': [
    () => says('200 OK', '{}', `${ESCAPE}: x`),
    4,
    /is not HTTP: its head cannot be parsed/,
  ],
  'splits a header in two': [() => says('200 OK', '{}', `X: a\rSet-Cookie: b${ESCAPE}`), 4, /is not HTTP/],
  'has the status 099': [() => says('099 Low', '{}', json), 4, /is not HTTP: it has a status below 100/],
  'has the status -20': [() => says('-20 Low', '{}', json), 4, /is not HTTP: invalid status code/],
  'has the status 1000': [() => says('1000 High', '{}', json), 4, /is not HTTP: invalid response status/],
  'has the status 999': [() => says('999 High', '{}', json), 1, /status +999|999 \{\}/, ...unhurried],
  'never ends its headers': [
    () => endlessly('HTTP/1.1 200 OK\r\n', `X: ${'x'.repeat(1000)}\r\n`),
    4,
    /headers are too long/,
  ],
  'has a thousand header fields': [
    () => says('200 OK', '{}', ...Array.from({ length: 1000 }, (_, at) => `X${at}: y`)),
    4,
    /the answer has more than 100 header fields/,
  ],
  'sends less than it says': [
    () => always((socket) => socket.end(`${head('200 OK', json, 'Content-Length: 50')}{}`)),
    4,
    /closed before the answer was whole|not as long as/,
  ],
  'says two lengths': [
    () => says('200 OK', '{}', json, 'Content-Length: 3'),
    4,
    /the body is not as long as Content-Length says|is not HTTP/,
  ],
  'says a length below nothing': [
    () => always((socket) => socket.write(`${head('200 OK', json, 'Content-Length: -1')}{}`)),
    4,
    /is not HTTP: invalid character in content-length/,
  ],
  'sends a chunk of no size': [
    () => always((socket) => socket.write(`${chunked}zz\r\n`)),
    4,
    /is not HTTP: invalid character in chunk size/,
  ],
  'says 100 for ever': [
    () => always((socket) => socket.write('HTTP/1.1 100 Continue\r\n\r\n'.repeat(1000))),
    4,
    /the answer is a 100, which nobody asked for/,
  ],
  'changes the protocol': [
    () => says('101 Switching Protocols', '', 'Connection: upgrade', 'Upgrade: x'),
    4,
    /the answer changes to another protocol/,
  ],
};

/** Targets that are another service. */
const others: Readonly<Record<string, HostileTarget>> = {
  'redirects for ever': [
    () => says('302 Found', '', 'Location: /'),
    4,
    /not this interface: 302, a redirect/,
  ],
  'is a web page': [
    () => says('200 OK', `<!DOCTYPE html><title>${ESCAPE}Log in</title>`, 'Content-Type: text/html'),
    4,
    /not this interface: 200 with a web page/,
  ],
  'is a long web page': [
    () => says('200 OK', `<!doctype html>${'<p>wait</p>'.repeat(10_000)}`, 'Content-Type: text/html'),
    4,
    /not this interface: 200 with a web page/,
  ],
  'is a portal that wants a login first': [
    () => says('511 Network Authentication Required', `<html>${ESCAPE}`, 'Content-Type: text/html'),
    1,
    /511 <html>/,
    ...unhurried,
  ],
  'knows no such path': [
    () => says('404 Not Found', 'nope', 'Content-Type: text/plain'),
    4,
    /404 without JSON.*base_url/,
  ],
  'knows no such path, and says so in JSON': [
    () => says('404 Not Found', '{"message":"Cannot GET"}', 'Content-Type: application/json'),
    4,
    /404 in words of its own.*base_url/,
  ],
  'finds no deposit, and knows no user-status': [
    () => says('404 Not Found', '{"error":"Deposit not found"}', 'Content-Type: application/json'),
    1,
    /✗ valid\/user-status\/member .*status/,
    ...unhurried,
  ],
};

/** Targets whose bodies are too large. */
const large: Readonly<Record<string, HostileTarget>> = {
  'never ends a body': [() => endlessly(chunked, `400\r\n${'x'.repeat(1024)}\r\n`), 1, TOO_LONG, ...brief],
  'never ends a body in pieces of a byte': [
    () => endlessly(chunked, '1\r\nx\r\n'.repeat(1000)),
    1,
    TOO_LONG,
    '--only',
    'valid/user-status/member',
  ],
  'sends a gzip bomb': [
    () => says('200 OK', gzipSync(Buffer.alloc(10_000_000)), json, 'Content-Encoding: gzip'),
    1,
    TOO_LONG,
    ...brief,
  ],
  'sends a Brotli bomb': [
    () => says('200 OK', brotli(Buffer.alloc(50_000_000)), json, 'Content-Encoding: br'),
    1,
    TOO_LONG,
    ...brief,
  ],
  'says gzip and sends none': [
    () => says('200 OK', '{}', json, 'Content-Encoding: gzip'),
    1,
    /the body is not gzip, as Content-Encoding says/,
    ...brief,
  ],
  'answers with 20 MB of JSON': [
    () => says('200 OK', `{"a":"${'x'.repeat(20_000_000)}"}`, json),
    1,
    TOO_LONG,
    ...brief,
  ],
  'nests for ever': [() => says('200 OK', '['.repeat(500_000), json), 1, TOO_LONG, ...brief],
  'nests deep': [() => says('200 OK', '['.repeat(9000), json), 1, /the body is not JSON/, ...brief],
  'nests deep, and closes it all': [
    () => says('200 OK', `{"status":"EXECUTED","amountInUsd":${'['.repeat(8000)}${']'.repeat(8000)}}`, json),
    1,
    /the body is nested more than 500 levels deep/,
    ...brief,
  ],
};

/** Targets whose answers are strange. */
const strange: Readonly<Record<string, HostileTarget>> = {
  'answers with infinity': [
    () => says('200 OK', '{"status":"EXECUTED","amountInUsd":1e400,"executedAt":1e400}', json),
    1,
    /amountInUsd/,
    ...unhurried,
  ],
  'names its fields twice, and a prototype': [
    () => says('200 OK', '{"__proto__":{"is_under_ib":true},"is_under_ib":false,"is_under_ib":true}', json),
    1,
    /valid\/user-status/,
    ...unhurried,
  ],
  'has fields of a prototype only': [
    () => says('200 OK', '{"__proto__":{"is_under_ib":true,"status":"EXECUTED"},"constructor":1}', json),
    1,
    /__proto__/,
    ...unhurried,
  ],
  'is not UTF-8': [
    () => says('200 OK', Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d]), json),
    1,
    /the body is not UTF-8/,
    ...unhurried,
  ],
  'sends more than it says': [
    () => always((socket) => socket.write(`${head('200 OK', json, 'Content-Length: 2')}{}${ESCAPE}`)),
    1,
    /nonconformant/,
    ...brief,
  ],
  'says 200 {} to everything': [() => says('200 OK', '{}', json), 1, /nonconformant/],
  'speaks to the terminal in its reason phrase': [
    () => says('200 \u001b]0;owned\u0007', '{}', json),
    1,
    /nonconformant/,
    ...unhurried,
  ],
  'speaks to the terminal in its messages': [
    () => says('200 OK', JSON.stringify({ error: ESCAPE }), json),
    1,
    /nonconformant/,
    ...unhurried,
  ],
  'speaks to the terminal in its body': [
    () => says('200 OK', `{"error":"${ESCAPE}"}`, json),
    1,
    /\\u\{1b\}/,
    ...unhurried,
  ],
  'speaks to the terminal in its headers': [
    () => says('200 OK', '{}', json, 'X: \u009b31m\u0085', 'Content-Language: \u009b2J'),
    1,
    /nonconformant/,
    ...unhurried,
  ],
  'refuses every key': [
    () => says('401 Unauthorized', '{"error":"Unauthorized"}', json),
    1,
    /answers every request .* with 401/,
  ],
  'limits for ever': [
    () => says('429 Too Many Requests', '{"error":"Too many requests"}', json, 'Retry-After: 86400'),
    1,
    /429 with Retry-After of 86400 s, longer than is waited for/,
  ],
};

/** Targets that end a run by something else than a timeout. */
export const loud = { ...broken, ...others, ...large, ...strange };
