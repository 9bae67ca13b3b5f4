import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, before, after, describe, test } from 'node:test';
import * as fc from 'fast-check';
import { startMock, type Mock } from '../index.ts';
import { FOUND, builtIn, ids, START, userPath } from '../testing/session.ts';
import { nextTurns, connectTo, listenFor, sendRaw, delayedAnswers } from '../testing/sockets.ts';

describe('over sockets', () => {
  let mock: Mock;
  before(async () => {
    const { limits: _, ...unlimited } = builtIn;
    mock = await startMock({ fixture: unlimited, clock: { now: () => START }, keepsProcess: true });
  });
  after(() => mock.close({ force: true }));

  const key = 'Authorization: Bearer northwind-key\r\n';
  const message = (line: string, fields = '', body = '') =>
    `${line} HTTP/1.1\r\nHost: localhost\r\n${fields}\r\n${body}`;
  const get = (target: string, fields = '') => message(`GET ${target}`, fields);
  const member = get(userPath(ids.member), key);
  const error = (text: string) => JSON.stringify({ error: text });
  const BAD_REQUEST = error('Bad Request');
  const TOO_LARGE_FIELDS = error('Request Header Fields Too Large');

  /** Resolves when this process has no open connection. */
  async function noSocketsOpen(): Promise<void> {
    for (let turns = 0; sockets() > 0; turns += 1) {
      assert.ok(turns < 4000, `${sockets()} connections are open`);
      for (let done = 0; done < 50; done += 1) await turn();
    }
  }

  const sockets = () =>
    process.getActiveResourcesInfo().filter((resource) => resource === 'TCPSocketWrap').length;

  const HEAD = /^HTTP\/1\.1 ([1-5]\d\d) [ -~]*\r\n((?:[\w-]+: [ -~]*\r\n)+)\r\n/;

  /**
   * Parses a sequence of responses strictly: each has a date and one length, is JSON, has only `error` from
   * status 400 on (Errors), and is not a server error.
   *
   * @param bytes all received bytes, in latin1
   * @throws AssertionError
   */
  function readAnswers(bytes: string) {
    const answers: (readonly [status: number, body: string])[] = [];
    for (let rest = bytes; rest !== '';) {
      // 100 (Continue) is not a response.
      rest = rest.replace(/^HTTP\/1\.1 100 Continue\r\n\r\n/, '');
      const [head, code, fields = ''] = HEAD.exec(rest) ?? assert.fail(`no answer: ${rest.slice(0, 200)}`);
      const status = Number(code);
      const names = Array.from(fields.matchAll(/^([\w-]+):/gm), ([, name]) => name!.toLowerCase());
      assert.equal(new Set(names).size, names.length, `a field stands twice: ${fields}`);
      assert.ok(status < 500 && names.includes('date'), head);
      const afterHead = rest.slice(head.length);
      const [, declared] = /^content-length: (\d+)\r$/im.exec(fields) ?? [];
      assert.ok(afterHead.length >= Number(declared), `${afterHead.length} bytes: ${fields}`);
      const body = afterHead.slice(0, Number(declared));
      if (body !== '') {
        assert.match(fields, /^content-type: application\/json\b/im);
        const value = JSON.parse(body) as object;
        if (status >= 400) assert.deepEqual(Object.keys(value), ['error'], body);
      }
      answers.push([status, body]);
      rest = afterHead.slice(body.length);
    }
    return answers;
  }

  const bodiesOf = (bytes: string) => readAnswers(bytes).map(([, body]) => body);

  /** Sends bytes, closes our side and returns the first response. */
  async function first(...segments: readonly string[]) {
    return readAnswers((await sendRaw(mock.port, segments, { half: true })).bytes)[0];
  }

  /** Checks that others still get responses and that no connection stays open. */
  afterEach(async () => {
    assert.deepEqual(await first(member), [200, FOUND]);
    await noSocketsOpen();
  });

  const TOO_LARGE = error('Payload Too Large');
  const TOO_LONG = error('The body is larger than 65536 bytes');
  const badUser = error('Invalid user_id format');
  const post = (fields: string, body: string) => message('POST /', key + fields, body);
  const withKey = (value: string) => get('/api/ib/user-status', `Authorization: Bearer ${value}\r\n`);
  const chunked = 'Transfer-Encoding: chunked\r\n';
  const filled = (bytes: number) => get(userPath(ids.member), `${key}X: ${'a'.repeat(bytes)}\r\n`);

  const cases: Readonly<Record<string, readonly [bytes: string, status: number, body: string]>> = {
    'a malformed request line': ['NONSENSE\r\n\r\n', 400, BAD_REQUEST],
    'a TLS handshake': ['\x16\x03\x01\x02\x00\x01\x00', 400, BAD_REQUEST],
    'a control character in a header': [get('/', 'X: a\x00b\r\n'), 400, BAD_REQUEST],
    'header fields below 64 KiB': [filled(65_000), 200, FOUND],
    'header fields above 64 KiB': [filled(65_536), 431, TOO_LARGE_FIELDS],
    'nine thousand fields': [get(userPath(ids.member), 'X: \r\n'.repeat(9000) + key), 200, FOUND],
    'a target above 64 KiB': [get(`/${'a'.repeat(70_000)}`), 431, TOO_LARGE_FIELDS],
    'a value of broken percent-encoding': [get(userPath('%E0%A4%A'), key), 400, badUser],
    'a value of 48 KiB': [get(userPath('%00'.repeat(16_384)), key), 400, badUser],
    'five thousand parameters': [get(`/api/ib/user-status?${'a&'.repeat(5000)}user_id=x`, key), 400, badUser],
    'an array parameter': [get('/api/ib/user-status?user_id[]=x', key), 400, badUser],
    'an absolute-form target': [get(`http://elsewhere${userPath(ids.member)}`, key), 200, FOUND],
    'no Host': ['GET /api/ib/user-status HTTP/1.1\r\n\r\n', 401, error('Unauthorized')],
    'an upgrade': [get('/', 'Connection: Upgrade\r\nUpgrade: websocket\r\n'), 404, error('Not found')],
    'an unknown expectation': [get(userPath(ids.member), `${key}Expect: nonsense\r\n`), 200, FOUND],
    'a key of other bytes': [withKey('\xff\xfe'), 401, error('Unauthorized')],
    'a key of 60 KiB': [withKey('~a'.repeat(30_000)), 401, error('Unauthorized')],
    'a body of 64 KiB': [post('Content-Length: 65536\r\n', 'x'.repeat(65_536)), 404, error('Not found')],
    'a longer body': [post('Content-Length: 65537\r\n', 'x'.repeat(65_537)), 413, TOO_LONG],
    'longer chunks': [post(chunked, `10001\r\n${'x'.repeat(65_537)}\r\n0\r\n\r\n`), 413, TOO_LONG],
    'endless chunk extensions': [post(chunked, `1;${'a'.repeat(20_000)}\r\na\r\n0\r\n\r\n`), 413, TOO_LARGE],
    'a body that breaks off': [post('Content-Length: 9\r\n', '12'), 400, BAD_REQUEST],
    'two lengths': [post('Content-Length: 1\r\nContent-Length: 2\r\n', 'ab'), 400, BAD_REQUEST],
    'a length and chunks': [post(`Content-Length: 5\r\n${chunked}`, '0\r\n\r\n'), 400, BAD_REQUEST],
    'another coding': [post('Transfer-Encoding: gzip\r\n', 'a'), 400, BAD_REQUEST],
    'a chunk without a size': [post(chunked, 'zz\r\n'), 400, BAD_REQUEST],
  };

  for (const [name, [bytes, status, body]] of Object.entries(cases))
    test(`${name}: ${status}`, async () => assert.deepEqual(await first(bytes), [status, body]));

  test('pipelined requests get responses in order, in any segments, also if the client closes its side', async () => {
    const known = [
      [member, [200, FOUND]],
      [get('/elsewhere'), [404, error('Not found')]],
      [get(userPath('x'), key), [400, badUser]],
      [post('Content-Length: 3\r\n', 'abc'), [404, error('Not found')]],
      [message(`GET ${userPath(ids.member)}`, key + chunked, '3;a=b\r\nabc\r\n0\r\n\r\n'), [200, FOUND]],
    ] as const;
    const requests = fc.array(fc.constantFrom(...known), { minLength: 1, maxLength: 40 });
    const cuts = fc.array(fc.nat({ max: 5000 }), { maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(requests, cuts, async (asked, places) => {
        const sent = asked.map(([request]) => request).join('');
        const ends = [...places.toSorted((one, other) => one - other), sent.length];
        const parts = ends.map((end, index) => sent.slice(ends[index - 1] ?? 0, end));
        const { bytes, code } = await sendRaw(mock.port, parts, { half: true });
        assert.equal(code, undefined);
        const expected = asked.map(([, answer]) => answer);
        assert.deepEqual(readAnswers(bytes), expected);
      }),
      { numRuns: 50 },
    );
  });

  test('any bytes in any segments get valid responses, no server error', async () => {
    const signs = ['/', userPath(ids.member), '*', ' ', ':', '%', '~', '\0', '\r\n', '\r\n\r\n', '\n\n'];
    const lines = ['GET ', 'POST ', 'CONNECT ', ' HTTP/1.1', ' HTTP/1.0', 'Host: x\r\n', key, chunked];
    const fields = [
      'Content-Length: 3\r\n',
      'Upgrade: x\r\nConnection: upgrade\r\n',
      'Expect: 100-continue\r\n',
    ];
    const words = fc.constantFrom(...signs, ...lines, ...fields, '0\r\n\r\n');
    const bytes = fc.uint8Array({ maxLength: 30 }).map((part) => Buffer.from(part).toString('latin1'));
    const piece = fc.oneof({ arbitrary: words, weight: 4 }, bytes);
    const segment = fc.array(piece, { minLength: 1, maxLength: 12 });
    const segments = fc.array(fc.oneof(segment, fc.constant([member])), { minLength: 1, maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(segments, async (parts) => {
        const sent = parts.map((part) => part.join(''));
        readAnswers((await sendRaw(mock.port, sent, { half: true })).bytes);
      }),
      { numRuns: 200 },
    );
  });

  test('survives clients that disconnect anywhere in a request or response', async () => {
    const request = `${member}POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n12345${member}`;
    for (let length = 0; length <= request.length; length += 3) {
      const [ended, reset] = await Promise.all([connectTo(mock.port), connectTo(mock.port)]);
      for (const socket of [ended, reset]) if (length > 0) socket.write(request.slice(0, length));
      if (length % 2 === 0) await nextTurns();
      ended.destroy();
      reset.resetAndDestroy();
    }
  });

  describe('a client that closes its side', () => {
    const answeredBy = async (...requests: readonly string[]) => {
      const { bytes, code } = await sendRaw(mock.port, [requests.join('')], { half: true });
      assert.equal(code, undefined);
      await noSocketsOpen();
      return bodiesOf(bytes);
    };

    test('within a request gets an error', async () => {
      for (const part of [member.slice(0, 1), member.slice(0, -2), member.slice(0, -1)])
        assert.deepEqual(await answeredBy(part), [BAD_REQUEST]);
      assert.deepEqual(await answeredBy(member, 'GET /'), [FOUND, BAD_REQUEST]);
      const cutOff = member.replace('\r\n\r\n', '\r\nContent-Length: 2\r\n\r\n1');
      assert.deepEqual(await answeredBy(cutOff), [BAD_REQUEST]);
    });
    test('without a request is disconnected', async () => assert.deepEqual(await answeredBy(''), []));
    test('is disconnected instead of waiting for a delayed answer', async () => {
      mock.next({ delay: '10m', count: 2 });
      assert.deepEqual(await answeredBy(member, member), []);
      assert.equal(Math.trunc(mock.requests().at(-1)!.durationMs), 600_000);
    });
  });

  describe('on one connection', () => {
    test('responses are in the order of the requests, in whatever order they are ready', async (t) => {
      const { port } = await delayedAnswers(t, 10, 20, 0);
      const last = member.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n');
      const { bytes } = await sendRaw(port, [member.repeat(2) + last]);
      assert.deepEqual(bodiesOf(bytes), ['0', '1', '2']);
    });
    test('the error for an invalid request comes after earlier responses', async (t) => {
      const { port } = await delayedAnswers(t, 20, 10);
      const { bytes } = await sendRaw(port, [`${member.repeat(2)}\0`, '\0', 'GET']);
      assert.deepEqual(bodiesOf(bytes), ['0', '1', BAD_REQUEST]);
    });
  });

  describe('a request that arrives too slowly', () => {
    const timeouts = { headersTimeout: 20, requestTimeout: 40, connectionsCheckingInterval: 5 };
    const TOO_LATE = '{"error":"Request Timeout"}';
    const slow = {
      'nothing at all': '',
      'a part of its header fields': 'GET / HTTP/1.1\r\nHost:',
      'a part of its body': 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n1',
      'a part of a chunk': 'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n1',
    };
    for (const [what, part] of Object.entries(slow))
      test(`gets 408, and its connection ends: ${what}`, async (t) => {
        const listener = await listenFor(t, { answer: () => assert.fail('it has arrived'), timeouts });
        const { bytes } = await sendRaw(listener.port, [part]);
        assert.deepEqual(readAnswers(bytes), [[408, TOO_LATE]]);
        await noSocketsOpen();
      });
  });
});
