import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, request, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, test } from 'node:test';
import { START } from './testing/session.ts';
import { readAnswer, ask, fine, listenFor, withheldAnswers } from './testing/sockets.ts';

const DATE = new Date(START).toUTCString();

describe('close', () => {
  test('waits only for answers in progress', async (t) => {
    const { listener, releases, asked } = await withheldAnswers(t, 1);
    const agent = new Agent({ keepAlive: true });
    t.after(() => agent.destroy());
    const outgoing = readAnswer(request({ port: listener.port, agent }).end());
    const idle = connect(listener.port, '127.0.0.1');
    const gone = once(idle, 'close');
    await asked;
    let isClosed = false;
    const closed = listener.close().then(() => (isClosed = true));
    await gone;
    assert.equal(isClosed, false);
    await assert.rejects(ask(listener.port, '/'), { code: 'ECONNREFUSED' });
    releases[0]!('fine');
    const { headers, body } = await outgoing;
    assert.deepEqual([headers.connection, body], ['close', 'fine']);
    await closed;
  });
  test('does not wait with force', async (t) => {
    const { listener, asked } = await withheldAnswers(t, 1);
    const outgoing = assert.rejects(ask(listener.port, '/'), { code: 'ECONNRESET' });
    await asked;
    const gentle = listener.close();
    await listener.close({ force: true });
    await Promise.all([gentle, outgoing]);
  });
  test('sends the answer to a client that has started another request', async (t) => {
    const whole = 'x'.repeat(2 ** 24);
    const listener = await listenFor(t, { answer: () => ({ status: 200, headers: {}, body: whole }) });
    const socket = connect(listener.port, '127.0.0.1');
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\nGET / HTT');
    await once(socket, 'readable');
    const closed = listener.close();
    assert.ok((await text(socket)).endsWith(`${whole}\r\n0\r\n\r\n`));
    await closed;
  });
  test('answers one more request of a connection, even if more wait', async (t) => {
    const received: string[] = [];
    const listener = await listenFor(t, { answer: ({ target }) => (received.push(target), fine) });
    const sockets = Array.from({ length: 10 }, () => connect(listener.port, '127.0.0.1').resume());
    for (const socket of sockets)
      socket.on('error', () => undefined).write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(2000));
    while (received.length < 500) await turn();
    const before = received.length;
    await listener.close();
    assert.ok(received.length <= before + sockets.length, `${received.length - before} more`);
  });
  test('sends the response to the request that calls it', async (t) => {
    let closed: Promise<void> | undefined;
    const listener = await listenFor(t, {
      answer: () => {
        closed ??= listener.close();
        return fine;
      },
    });
    const socket = connect(listener.port, '127.0.0.1');
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    assert.match(await text(socket), /\r\nfine\r\n/);
    await closed;
  });
});

test("the transport's own responses have the date of the clock", async (t) => {
  const listener = await listenFor(t);
  const tooLarge = request({ port: listener.port, method: 'POST', agent: false });
  tooLarge.write('x'.repeat(65_537));
  assert.equal((await readAnswer(tooLarge.end())).headers.date, DATE);
  const socket = connect(listener.port, '127.0.0.1');
  socket.write('NONSENSE\r\n\r\n');
  assert.match(await text(socket), new RegExp(`\\r\\nDate: ${DATE}\\r\\n`));
});

test('a slow reader of a stream is disconnected', async (t) => {
  let send: (text: string) => void = () => undefined;
  let stopped: () => void = () => undefined;
  const stop = new Promise<void>((resolve) => (stopped = resolve));
  const subscribe = (given: typeof send) => {
    send = given;
    return stopped;
  };
  const listener = await listenFor(t, { answer: () => ({ status: 200, headers: {}, subscribe }) });
  const outgoing = request({ port: listener.port, agent: false }).end();
  const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage];
  incoming.on('error', () => undefined).pause();
  for (let count = 0; count < 64; count++) send('x'.repeat(262_144));
  await stop;
});
