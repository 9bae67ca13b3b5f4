import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, request, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { recorded } from './recorded.ts';

/** What a server answers; a body goes with any method. */
async function answerTo(url: string, method: string, authorization: string, body: string): Promise<string> {
  const length = body === '' ? {} : { 'content-length': Buffer.byteLength(body) };
  const asked = request(url, { method, headers: { authorization, ...length } });
  asked.end(body);
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  return text(answer);
}

test('requests are kept as they were sent, and answered by the server', async () => {
  const server = createServer((incoming, response) => {
    void text(incoming).then((body) => response.end(`${incoming.headers.authorization} ${body}`));
  }).listen(0);
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const answers: string[] = [];
  const { headers, requests } = await recorded(origin, async (proxy) => {
    for (const [method, authorization, body] of [
      ['GET', 'Bearer a', ''],
      ['POST', 'Bearer b', 'text'],
      ['GET', 'Bearer a', 'täxt'],
      ['GET', 'Bearer a', ''],
    ] as const)
      answers.push(await answerTo(`${proxy}/x?y=%20`, method, authorization, body));
  });
  server.closeAllConnections();
  server.close();
  assert.deepEqual(answers, ['Bearer a ', 'Bearer b text', 'Bearer a täxt', 'Bearer a ']);
  assert.deepEqual(requests, [
    ['GET', '/x?y=%20', 0, null],
    ['POST', '/x?y=%20', 1, 'text'],
    ['GET', '/x?y=%20', 0, 'täxt'],
    ['GET', '/x?y=%20', 0, null],
  ]);
  assert.ok(headers[1]!.includes('Bearer b'));
  assert.ok(!headers.flat().some((name) => /^(?:host|connection|content-length)$/i.test(name)));
});
