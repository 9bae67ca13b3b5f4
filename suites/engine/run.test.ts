import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readBody, type Answer } from '../answer.ts';
import { depositCheck, userStatus } from '../request.ts';
import { scenario } from '../scenario.ts';
import { sampleKnown as known } from '../sample-known.ts';
import { held } from '../verdict.ts';
import type { Client } from './client.ts';
import { virtualClock } from './clock.ts';
import { run } from './run.ts';

const id = '00000000-0000-4000-8000-000000000000';
const clock = virtualClock(0);
type Sent = Awaited<ReturnType<Client['send']>>;
const answer = (status: number): Answer => ({
  kind: 'answer',
  status,
  headers: {},
  ...readBody(new Uint8Array()),
  sentAt: clock.now(),
  receivedAt: clock.now(),
  tookMs: 1,
});
const gone: Sent = { kind: 'trouble', code: 'timeout', words: 'no answer', unreachable: false };

test('every request of a run is in its traffic', async () => {
  const replies: Sent[] = [];
  const { traffic, requests } = await run({
    target: new URL('http://target'),
    known,
    requirements: [
      scenario({
        id: 'valid/service/talk',
        level: 'required',
        clause: '',
        title: '',
        play: async (doors) => {
          replies.push(answer(200), answer(429), gone);
          await doors.burst(userStatus(id), depositCheck(id), depositCheck(id));
          await doors.wait(25);
          replies.push(answer(404));
          await doors.burst(depositCheck(id));
          return { finding: held };
        },
      }),
    ],
    skip: new Set(),
    seed: 1,
    cases: 1,
    concurrency: 1,
    timeoutMs: 1000,
    maxDurationMs: 60_000,
    maxRequests: 100,
    headers: {},
    tls: { insecure: false },
    clock,
    // The first request asks whether anybody is there.
    connect: () => ({ send: async () => replies.shift() ?? answer(200), close: async () => {} }),
    random: () => 0.5,
    signal: new AbortController().signal,
    version: 'test',
  });
  assert.equal(requests, 5);
  assert.deepEqual(
    traffic?.endpoints.map(({ endpoint, answers }) => [endpoint, answers]),
    [
      ['user-status', 2],
      ['deposit-check', 2],
    ],
  );
  assert.deepEqual(traffic?.timeline.steps, [
    { answers: 3, limited: 1, troubles: 1 },
    { answers: 0, limited: 0, troubles: 0 },
    { answers: 1, limited: 0, troubles: 0 },
  ]);
});
