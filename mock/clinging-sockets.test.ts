import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { describe, test, type TestContext } from 'node:test';
import type { Answer } from './exchange.ts';
import { listen, type ListenerOptions } from './listener.ts';
import { readAnswers } from './raw-answers.ts';
import { arrived, connected, heard, openSockets, say } from './raw-socket.ts';
import { builtIn, START } from './testing/probes.ts';
import { depositPath, ids, userPath } from './run-session.ts';
import { startMock, type Mock } from './server.ts';

const key = 'Authorization: Bearer northwind-key\r\n';
const get = (path: string, fields = '') => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${key}${fields}\r\n`;
const member = get(userPath(ids.member));
const MEMBER = '{"is_under_ib":true,"date_joined":"2024-02-29T23:59:59.999Z"}';
const BAD_REQUEST = '{"error":"Bad Request"}';

const bodiesOf = (bytes: string) => readAnswers(bytes).map(({ body }) => body);

/** Asks over a connection of its own, and is answered. */
async function isServed(mock: Mock): Promise<void> {
  const { bytes } = await say(mock.port, [get(userPath(ids.member), 'Connection: close\r\n')]);
  assert.deepEqual(bodiesOf(bytes), [MEMBER]);
}

async function startFor(t: TestContext): Promise<Mock> {
  const mock = await startMock({ fixture: builtIn, clock: { now: () => START } });
  t.after(() => mock.close({ force: true }));
  return mock;
}

async function listenFor(t: TestContext, options: Pick<ListenerOptions, 'answer' | 'patience'>) {
  const listener = await listen({ port: 0, host: '127.0.0.1', date: () => 'x', ...options });
  t.after(() => listener.close({ force: true }));
  return listener;
}

describe('a mock', () => {
  /** Not by its end: those who left are let go while it serves. */
  const servesOn = async (mock: Mock) => {
    await isServed(mock);
    await openSockets(0);
  };

  for (const request of ['CONNECT x:1 HTTP/1.1\r\n\r\n', 'rubbish\r\n\r\n'])
    test(`lets go of ${request.trim()} when its client ends its side, whatever came behind it`, async (t) => {
      const mock = await startFor(t);
      await say(mock.port, [request, 'more', 'and more'], { half: true });
      await openSockets(0, 3000);
    });

  test('serves others while many send a byte now and then, and lets them go', async (t) => {
    const mock = await startFor(t);
    const request = `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n123456789`;
    const slow = await Promise.all(Array.from({ length: 300 }, () => connected(mock.port)));
    for (const byte of request.slice(0, -1)) {
      for (const socket of slow) socket.write(byte);
      await isServed(mock);
    }
    await openSockets(300);
    // They get their answer, too, should they come to an end.
    const [first, ...others] = slow;
    first!.write('9');
    assert.match(String(await once(first!, 'data')), /^HTTP\/1\.1 404 /);
    for (const socket of [first!, ...others]) socket.destroy();
    await servesOn(mock);
  });

  test('takes two thousand connections at once, and answers each that asks with its own', async (t) => {
    const mock = await startFor(t);
    const asks = [
      [userPath(ids.member), MEMBER],
      [userPath(ids.foreignUser), '{"is_under_ib":false,"date_joined":null}'],
      [depositPath(ids.pending), '{"error":"Deposit not found"}'],
      ['/elsewhere', '{"error":"Not found"}'],
    ] as const;
    // A few requests for each key and world, so that no limiter is met.
    const requestOf = (path: string, index: number) =>
      get(path, 'Connection: close\r\n').replace('-key\r', `-key~${index % 50}\r`);
    const all = await Promise.all(Array.from({ length: 2000 }, () => connected(mock.port)));
    // Those that have no room to wait are offered again a second later, or never.
    await openSockets(2000, 10_000);
    const clients = all.splice(0, 500);
    for (const silent of all) silent.destroy();
    const answers = clients.map((client) => heard(client));
    for (const [index, client] of clients.entries())
      client.write(requestOf(asks[index % asks.length]![0], index));
    for (const [index, { bytes, code }] of (await Promise.all(answers)).entries())
      assert.deepEqual([code, bodiesOf(bytes)], [undefined, [asks[index % asks.length]![1]]]);
    await servesOn(mock);
  });

  test('survives clients that vanish at any place of a request, or of its answer', async (t) => {
    const mock = await startFor(t);
    const request = `${member}POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n12345${member}`;
    for (let length = 0; length <= request.length; length += 1) {
      const [ended, reset] = await Promise.all([connected(mock.port), connected(mock.port)]);
      for (const socket of [ended, reset]) if (length > 0) socket.write(request.slice(0, length));
      if (length % 2 === 0) await arrived();
      ended.destroy();
      reset.resetAndDestroy();
    }
    await servesOn(mock);
  });
});

describe('a client that has ended its side', () => {
  const answeredBy = async (mock: Mock, ...requests: readonly string[]) => {
    const { bytes, code } = await say(mock.port, [requests.join('')], { half: true });
    assert.equal(code, undefined);
    await openSockets(0);
    return bodiesOf(bytes);
  };

  test('behind its request gets the answer, and behind several all of them', async (t) => {
    const mock = await startFor(t);
    assert.deepEqual(await answeredBy(mock, member), [MEMBER]);
    assert.deepEqual(await answeredBy(mock, member, member, member), [MEMBER, MEMBER, MEMBER]);
    const post = `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n12345`;
    assert.deepEqual(await answeredBy(mock, post, member), ['{"error":"Not found"}', MEMBER]);
  });
  test('gets answers that take a turn more, as those of the admin API', async (t) => {
    const mock = await startFor(t);
    const health = get('/__admin/health');
    assert.deepEqual(await answeredBy(mock, health, member, health), [
      '{"status":"healthy"}',
      MEMBER,
      '{"status":"healthy"}',
    ]);
  });
  test('in the middle of a request is told so', async (t) => {
    const mock = await startFor(t);
    for (const part of [member.slice(0, 1), member.slice(0, -2), member.slice(0, -1)])
      assert.deepEqual(await answeredBy(mock, part), [BAD_REQUEST]);
    assert.deepEqual(await answeredBy(mock, member, 'GET /'), [MEMBER, BAD_REQUEST]);
    assert.deepEqual(await answeredBy(mock, member.replace('\r\n\r\n', '\r\nContent-Length: 2\r\n\r\n1')), [
      BAD_REQUEST,
    ]);
  });
  test('without a request is just let go', async (t) => {
    assert.deepEqual(await answeredBy(await startFor(t), ''), []);
  });
  for (const chaos of ['timeout', 'slow:10m'])
    test(`waits no longer for an answer that chaos holds back: ${chaos}`, async (t) => {
      const mock = await startFor(t);
      mock.chaos.set([chaos]);
      assert.deepEqual(await answeredBy(mock, member), []);
      assert.deepEqual(await answeredBy(mock, member, member), []);
      assert.equal(mock.requests().at(-1)?.chaos, chaos.replace('10m', '600000ms'));
    });
  test('watches events no longer', async (t) => {
    const mock = await startFor(t);
    const { bytes } = await say(mock.port, [get('/__admin/events')], { half: true });
    assert.doesNotMatch(bytes, /HTTP\/1\.1 [^2]/);
  });
});

describe('on one connection', () => {
  /** A listener whose answers are given by the test, each for the place of its request. */
  async function withAnswers(t: TestContext, count: number) {
    const gives: ((body: string) => void)[] = [];
    let all: () => void = () => undefined;
    const asked = new Promise<void>((resolve) => (all = resolve));
    const headers = { 'Content-Type': 'application/json' };
    const answer = () =>
      new Promise<Answer>((resolve) => {
        gives.push((body) =>
          resolve({ status: 200, headers: { ...headers, 'Content-Length': `${body.length}` }, body }),
        );
        if (gives.length === count) all();
      });
    const listener = await listenFor(t, { answer });
    return { listener, gives, asked };
  }

  test('answers come in the order of the requests, in whatever order they are ready', async (t) => {
    const { listener, gives, asked } = await withAnswers(t, 3);
    const heardAll = say(listener.port, [member.repeat(3)], { half: true });
    await asked;
    for (const at of [2, 0, 1]) gives[at]!(`${at}`);
    assert.deepEqual(bodiesOf((await heardAll).bytes), ['0', '1', '2']);
  });
  test('what is no request is told behind the answers that were asked for before it', async (t) => {
    const { listener, gives, asked } = await withAnswers(t, 2);
    const heardAll = say(listener.port, [`${member.repeat(2)}\0`, '\0', 'GET'], { half: true });
    await asked;
    await arrived();
    for (const at of [1, 0]) gives[at]!(`${at}`);
    assert.deepEqual(bodiesOf((await heardAll).bytes), ['0', '1', BAD_REQUEST]);
  });
  test('so it is where the last of them has only just arrived', async (t) => {
    const { listener, gives, asked } = await withAnswers(t, 2);
    const heardAll = say(listener.port, [member, `${member}\0`]);
    await asked;
    await arrived();
    gives[0]!('0');
    await arrived();
    gives[1]!('1');
    assert.deepEqual(bodiesOf((await heardAll).bytes), ['0', '1', BAD_REQUEST]);
  });
  test('CONNECT is answered behind what was asked before it', async (t) => {
    const { listener, gives, asked } = await withAnswers(t, 3);
    const tunnel = 'CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n';
    const heardAll = say(listener.port, [member, `${member}${tunnel}`]);
    await asked;
    for (const at of [2, 1, 0]) gives[at]!(`"${at}"`);
    assert.equal(bodiesOf((await heardAll).bytes).length, 3);
  });
});

describe('a request that takes too long to arrive', () => {
  const patience = { headersTimeout: 20, requestTimeout: 40, connectionsCheckingInterval: 5 };
  const TOO_LATE = '{"error":"Request Timeout"}';
  const slow = {
    'nothing at all': '',
    'a part of its header fields': 'GET / HTTP/1.1\r\nHost:',
    'a part of its body': 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n1',
    'a part of a chunk': 'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n1',
  };
  for (const [what, part] of Object.entries(slow))
    test(`is answered 408, and its connection ends: ${what}`, async (t) => {
      const listener = await listenFor(t, { answer: () => assert.fail('it has arrived'), patience });
      const { bytes } = await say(listener.port, [part]);
      const [late, ...more] = readAnswers(bytes);
      assert.deepEqual([late?.status, late?.body, more], [408, TOO_LATE, []]);
      await openSockets(0);
    });
  test('is ended however many there are, also where they go on to send', async (t) => {
    const answer = () => assert.fail('none of them has arrived');
    const listener = await listenFor(t, { answer, patience });
    const clients = await Promise.all(Array.from({ length: 100 }, () => connected(listener.port)));
    const ended = new Set<Socket>();
    const all = clients.map(async (client) => {
      client.write('GET / HTTP/1.1\r\nX: ');
      const { bytes } = await heard(client);
      ended.add(client);
      return readAnswers(bytes)[0]?.status;
    });
    while (ended.size < clients.length) {
      for (const client of clients) if (client.writable) client.write('a');
      await arrived();
    }
    assert.deepEqual(new Set(await Promise.all(all)), new Set([408]));
    await openSockets(0);
  });
});
