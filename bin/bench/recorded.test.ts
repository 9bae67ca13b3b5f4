import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { recorded } from './recorded.ts';

test('requests are kept as they were sent, and answered by the server', async () => {
  const server = createServer((request, response) => response.end(request.headers.authorization)).listen(0);
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const answers: string[] = [];
  const { headers, requests } = await recorded(origin, async (proxy) => {
    for (const [method, authorization] of [
      ['GET', 'Bearer a'],
      ['POST', 'Bearer b'],
      ['GET', 'Bearer a'],
    ] as const) {
      const body = method === 'POST' ? { body: 'text' } : {};
      const answer = await fetch(`${proxy}/x?y=%20`, { method, headers: { authorization }, ...body });
      answers.push(await answer.text());
    }
  });
  server.close();
  assert.deepEqual(answers, ['Bearer a', 'Bearer b', 'Bearer a']);
  assert.deepEqual(requests, [
    ['GET', '/x?y=%20', 0, null],
    ['POST', '/x?y=%20', 1, 'text'],
    ['GET', '/x?y=%20', 0, null],
  ]);
  assert.ok(headers[1]!.includes('Bearer b'));
  assert.ok(!headers.flat().some((name) => /^(?:host|connection|content-length)$/i.test(name)));
});
