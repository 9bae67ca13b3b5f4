import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer as createHttpServer, type IncomingMessage, type RequestListener } from 'node:http';
import { createServer, type Server, type Socket } from 'node:net';
import { describe, test } from 'node:test';
import { brotliCompressSync, constants, deflateSync, gzipSync } from 'node:zlib';
import { MAX_BODY_BYTES, type Answer, type Reply } from '../answer.ts';
import { formsOfRequests } from '../inputs/forms.ts';
import { userStatus } from '../request.ts';
import { withServer } from '../testing/against.ts';
import { createClient, type Client, type ClientOptions, type WireRequest } from './client.ts';

const request: WireRequest = { method: 'GET', target: '/api/ib/user-status?user_id=x', headers: {} };

type Options = Partial<ClientOptions> & { readonly path?: string };

/** Uses a client of this server. */
const using = <Result>(
  server: Server,
  use: (client: Client) => Promise<Result>,
  { path = '', ...options }: Options = {},
) =>
  withServer(server, async (port) => {
    const client = createClient({
      target: new URL(`http://127.0.0.1:${port}${path}`),
      timeoutMs: 5000,
      connections: 2,
      headers: {},
      insecure: false,
      signal: new AbortController().signal,
      now: () => 0,
      ...options,
    });
    try {
      return await use(client);
    } finally {
      await client.close();
    }
  });

/** The reply to a server that writes these bytes after the head of the request. */
function afterBytes(write: (socket: Socket) => void, options?: Options): Promise<Reply> {
  const server = createServer((socket) => socket.once('data', () => write(socket)));
  return using(server, (client) => client.send(request), options);
}

const afterHttp = (listener: RequestListener, options?: Options, wire = request) =>
  using(createHttpServer(listener), (client) => client.send(wire), options);

function answered(reply: Reply): Answer {
  assert.equal(reply.kind, 'answer', JSON.stringify(reply));
  return reply;
}

const head = (...fields: readonly string[]) =>
  `HTTP/1.1 200 OK\r\n${fields.map((field) => `${field}\r\n`).join('')}\r\n`;
const body = '{"error":"Unauthorized"}';

const brotli = (data: string | Buffer) =>
  brotliCompressSync(data, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } });

describe('a complete answer', () => {
  test('is read: status, headers, body, times', async () => {
    let time = 1000;
    const answer = answered(
      await afterHttp(
        (_, response) => response.writeHead(401, { 'X-One': 'a', 'Set-Cookie': ['b', 'c'] }).end(body),
        { now: () => time++ },
      ),
    );
    assert.equal(answer.status, 401);
    const { 'x-one': one, 'set-cookie': cookies, constructor: unsent } = answer.headers;
    assert.deepEqual([one, cookies, unsent], [['a'], ['b', 'c'], undefined]);
    assert.equal(answer.text, body);
    assert.deepEqual(answer.json, { ok: true, value: { error: 'Unauthorized' } });
    assert.ok(answer.sentAt >= 1000 && answer.receivedAt > answer.sentAt);
    assert.ok(answer.tookMs > 0);
  });

  /** Bytes on the wire, and the decoded body. */
  const whole: Readonly<Record<string, readonly [bytes: string, text: string]>> = {
    'with a Content-Length': [head(`Content-Length: ${body.length}`) + body, body],
    'in chunks': [
      `${head('Transfer-Encoding: chunked')}5\r\n${body.slice(0, 5)}\r\n13\r\n${body.slice(5)}\r\n0\r\n\r\n`,
      body,
    ],
    'until the connection closes': [head('Connection: close') + body, body],
    'of HTTP/1.0': [`HTTP/1.0 200 OK\r\n\r\n${body}`, body],
    'without a body': [head('Content-Length: 0'), ''],
    'of status 204': ['HTTP/1.1 204 No Content\r\n\r\n', ''],
    'without a reason phrase': [`HTTP/1.1 200 \r\nContent-Length: ${body.length}\r\n\r\n${body}`, body],
    'after a 102 and a 103': [
      `HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n${head(`Content-Length: ${body.length}`)}${body}`,
      body,
    ],
  };
  for (const [name, [bytes, text]] of Object.entries(whole))
    test(name, async () =>
      assert.equal(answered(await afterBytes((socket) => socket.end(bytes))).text, text),
    );

  for (const status of [301, 302, 303, 307, 308])
    test(`redirects are not followed: ${status}`, async () => {
      let asked = 0;
      const reply = await afterHttp((_, response) => {
        asked++;
        response.writeHead(status, { Location: '/elsewhere' }).end('moved');
      });
      assert.deepEqual([answered(reply).status, answered(reply).text, asked], [status, 'moved', 1]);
    });
});

describe('an invalid body', () => {
  const why = (reply: Reply) => {
    const { json } = answered(reply);
    return json.ok ? 'JSON' : json.why;
  };
  const sent = (bytes: Uint8Array, encoding?: string) =>
    afterHttp((_, response) =>
      response.writeHead(200, encoding === undefined ? {} : { 'Content-Encoding': encoding }).end(bytes),
    );

  test('invalid UTF-8 is shown and reported', async () => {
    const reply = await sent(Buffer.from([0x22, 0xff, 0x22]));
    assert.equal(answered(reply).text, '"\ufffd"');
    assert.equal(why(reply), 'the body is not UTF-8');
  });
  for (const [encoding, encode] of [
    ['gzip', gzipSync],
    ['x-gzip', gzipSync],
    ['GZip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotli],
  ] as const)
    test(`${encoding} is decoded, and a decompression bomb is not`, async () => {
      assert.equal(answered(await sent(encode(body), encoding)).text, body);
      assert.match(
        why(await sent(encode(body).subarray(0, 20), encoding)),
        /^the body is not .*, as Content-Encoding says/,
      );
      const bomb = await sent(encode(Buffer.alloc(16 * 1024 * 1024)), encoding);
      assert.equal(answered(bomb).text, '');
      assert.match(why(bomb), /more than 16384 bytes/);
    });
  for (const encoding of ['identity', 'unheard-of', 'constructor', '__proto__', ''])
    test(`the encoding ${JSON.stringify(encoding)} is not decoded`, async () => {
      assert.equal(answered(await sent(Buffer.from(body), encoding)).text, body);
    });
  test('the maximum is read; of one byte more, the start is shown', async () => {
    const most = Buffer.alloc(MAX_BODY_BYTES, 'x');
    assert.equal(answered(await sent(most)).text.length, most.length);
    const more = await sent(Buffer.concat([most, Buffer.from('x')]));
    assert.match(why(more), /more than/);
    assert.equal(answered(more).text, 'x'.repeat(2000));
  });
  for (const [levels, says] of [
    [500, 'JSON'],
    [501, 'the body is nested more than 500 levels deep'],
  ] as const)
    test(`nested ${levels} levels deep: ${says}`, async () => {
      const nested = '['.repeat(levels) + ' '.repeat(200) + ']'.repeat(levels);
      assert.equal(why(await sent(Buffer.from(nested))), says);
    });
});

describe('a request has', () => {
  async function seen(options: Options, wire = request) {
    const requests: (Pick<IncomingMessage, 'url' | 'method' | 'headers'> & { readonly text: string })[] = [];
    const look: RequestListener = (incoming, response) => {
      let text = '';
      incoming.on('data', (piece) => (text += piece));
      incoming.on('end', () => {
        const { url, method, headers } = incoming;
        requests.push({ url, method, headers, text });
        response.end();
      });
    };
    await afterHttp(look, options, wire);
    assert.equal(requests.length, 1);
    return requests[0]!;
  }

  for (const [path, expected] of [
    ['', ''],
    ['/', ''],
    ['/gateway', '/gateway'],
    ['/gateway/', '/gateway'],
    ['/gateway///', '/gateway'],
    ['/gate%20way/v2/', '/gate%20way/v2'],
  ] as const)
    test(`the base path ${JSON.stringify(path)}`, async () => {
      const { url, method } = await seen({ path });
      assert.deepEqual([method, url], ['GET', `${expected}/api/ib/user-status?user_id=x`]);
    });
  test('a target that is not normalized', async () => {
    for (const target of ['/a/../b', '/a//b', '/%2e%2E/%zz', "/x?a=%&b=%u0031&c='{}|\\^`", '/x?'])
      assert.equal((await seen({}, { ...request, target })).url, target);
  });
  test('no body, or a body even with GET', async () => {
    assert.equal((await seen({})).text, '');
    const withBody = await seen({}, { ...request, body: '{"k":1}' });
    assert.deepEqual([withBody.text, withBody.headers['content-length']], ['{"k":1}', '7']);
  });
});

// `bin/hostile-targets.test.ts` has many more servers with incomplete answers.
describe('connections', () => {
  test('survive a body longer than Content-Length: it is truncated and does not affect later answers', async () => {
    const server = createServer((socket) =>
      socket.on('data', () =>
        socket.write(`${head(`Content-Length: ${body.length}`)}${body}{"error":"more"}`),
      ),
    );
    const thrice = async (client: Client) => {
      for (let nth = 0; nth < 3; nth++) {
        const reply = await client.send(request);
        if (reply.kind === 'answer') assert.equal(reply.text, body);
        else assert.equal(reply.code, 'network');
      }
    };
    await using(server, thrice, { connections: 1 });
  });
  test('are reused, and reopened if the server closed them between requests', async () => {
    const opened: Socket[] = [];
    const server = createServer((socket) => {
      opened.push(socket);
      socket.on('data', () => socket.write(head('Content-Length: 0')));
    });
    const use = async (client: Client) => {
      for (let nth = 0; nth < 3; nth++) answered(await client.send(request));
      assert.equal(opened.length, 1, 'one connection for one request after the other');
      await once(opened[0]!.end(), 'close');
      answered(await client.send(request));
      assert.equal(opened.length, 2);
    };
    await using(server, use, { connections: 1 });
  });
  test('are limited in number, and each has one request at a time', async () => {
    let [under, most] = [0, 0];
    const waiting: (() => void)[] = [];
    const server = createHttpServer((_, response) => {
      most = Math.max(most, ++under);
      waiting.push(() => {
        under--;
        response.end();
      });
      // Answers once both connections have a request.
      if (waiting.length % 2 === 0) for (const go of waiting.splice(0)) go();
    });
    const eight = Array.from({ length: 8 }, () => request);
    await using(server, (client) => Promise.all(eight.map(client.send)), { connections: 2 });
    assert.equal(most, 2);
  });
  test('are hardly more than the requests in flight', async () => {
    let opened = 0;
    const server = createHttpServer((_, response) => response.end());
    server.on('connection', () => opened++);
    const use = async (client: Client) => {
      const worker = async () => {
        for (let nth = 0; nth < 10; nth++) answered(await client.send(request));
      };
      await Promise.all(Array.from({ length: 16 }, worker));
    };
    await using(server, use, { connections: 256 });
    // undici holds one in reserve.
    assert.ok(opened <= 17, `${opened}`);
  });
  test('are not kept alive for a server that serves one at a time, idle or not', async (t) => {
    t.mock.timers.enable({ apis: ['setInterval'] });
    const kept: boolean[] = [];
    const worker = createHttpServer((message, response) => {
      kept.push(message.headers.connection !== 'close');
      response.end();
    });
    const waiting: Socket[] = [];
    const serveNext = () => {
      if (waiting[0] !== undefined)
        worker.emit(
          'connection',
          waiting[0].once('close', () => (waiting.shift(), serveNext())),
        );
    };
    const server = createServer((socket) => {
      if (waiting.push(socket) === 1) serveNext();
    });
    const use = async (client: Client) => {
      const both = [client.send(request), client.send(request)];
      answered(await Promise.race(both));
      t.mock.timers.tick(5000);
      for (const reply of await Promise.all(both)) answered(reply);
      answered(await client.send(request));
    };
    await using(server, use);
    assert.deepEqual(kept, [true, true, false]);
  });
  test('end their requests when the client is closed', async () => {
    const server = createServer();
    const reply = await using(server, async (client) => {
      const connected = once(server, 'connection');
      const pending = client.send(request);
      await connected;
      await client.close();
      return pending;
    });
    assert.equal(reply.kind, 'trouble');
  });
});

test('a request aborted at the end of the run is not blamed on the target, with a new trouble each', async () => {
  const ending = { timeoutMs: 600_000, deadline: 1000, now: () => 1000 };
  const both = (client: Client) => Promise.all([client.send(request), client.send(request)]);
  const [one, other] = await using(createServer(), both, ending);
  const words = '--max-duration was reached before the answer came';
  assert.deepEqual(one, { kind: 'trouble', code: 'budget', words });
  assert.deepEqual(other, one);
  assert.notEqual(one, other);
});

/** The bytes of a request as a socket receives them. */
async function bytesOf(wire: WireRequest, options?: Options): Promise<string> {
  const heads: string[] = [];
  const server = createServer((socket) =>
    socket.once('data', (bytes) => {
      heads.push(bytes.toString('latin1'));
      socket.end(head('Content-Length: 0'));
    }),
  );
  await using(server, (client) => client.send(wire), options);
  return heads.join('');
}

for (const [what, wire] of Object.entries({
  'a raw NUL': { headers: { authorization: 'Bearer a\0b' } },
  'a line end': { headers: { 'x-a': 'b\r\nc: d' } },
  'a field of the connection': { headers: { 'transfer-encoding': 'chunked' } },
  'a space in the target': { target: '/a b' },
}))
  test(`a request with ${what} is no trouble of the network: it is our bug`, () =>
    assert.rejects(
      afterHttp(() => assert.fail('sent'), {}, { ...request, ...wire }),
      /the request cannot be sent/,
    ));

describe('a request is sent as it is', () => {
  const plain = userStatus('x');
  for (const { name, change } of formsOfRequests)
    test(name, async () => {
      const wire = { ...plain, ...change(plain) };
      const text = await bytesOf(wire);
      const [line = '', ...fields] = text.split('\r\n');
      const start = `${wire.method} ${wire.isAbsolute ? 'http://127.0.0.1:PORT' : ''}`;
      assert.equal(line.replace(/:\d+(?=\/api)/, ':PORT'), `${start}${wire.target} HTTP/1.1`);
      for (const [field, value] of Object.entries(wire.headers))
        assert.ok(fields.includes(`${field}: ${value}`));
    });
  test('a byte that is not ASCII, and two fields of the same name', async () => {
    const headers = { authorization: 'Bearer \u00e9x', Authorization: 'Bearer y' };
    const text = await bytesOf({ ...plain, headers });
    assert.match(text, /\r\nauthorization: Bearer \xe9x\r\nAuthorization: Bearer y\r\n/);
  });
  test('the letter case of field names, with an empty value', async () => {
    const text = await bytesOf({ ...request, headers: { Authorization: '', 'X-REAL-IP': '::1' } });
    assert.match(text, /\r\nAuthorization: \r\n/);
    assert.match(text, /\r\nX-REAL-IP: ::1\r\n/);
    assert.doesNotMatch(text, /\r\naccept:/i);
  });
  test('a field of the request replaces one of the user in any letter case', async () => {
    const text = await bytesOf(
      { ...request, headers: { ACCEPT: '*/*' } },
      { headers: { accept: 'a/b', via: 'x' } },
    );
    assert.match(text, /\r\nACCEPT: \*\/\*\r\n/);
    assert.match(text, /\r\nvia: x\r\n/);
    // No compression unless asked for.
    assert.doesNotMatch(text, /a\/b|accept-encoding/i);
  });
});
