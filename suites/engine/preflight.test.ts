import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerOf, sampleKnown as known } from '../testing/samples.ts';
import { virtualClock } from './clock.ts';
import { waitUntilItAnswers } from './preflight.ts';

/** Waits for a target that answers after `upMs`. Returns when the wait ended, in ms, and what was said. */
async function waited(waitMs: number, upMs: number) {
  const clock = virtualClock(0);
  const remarks: string[] = [];
  const send = async () =>
    clock.now() >= upMs
      ? answerOf(401, { error: 'Unauthorized' })
      : ({ kind: 'trouble', code: 'network', words: 'the connection was refused' } as const);
  await waitUntilItAnswers({
    target: new URL('http://target'),
    known,
    headers: {},
    tls: { insecure: false },
    timeoutMs: 1000,
    clock,
    signal: new AbortController().signal,
    connect: () => ({ send, close: async () => undefined }),
    onRemark: (words) => remarks.push(words),
    waitMs,
  });
  return { endedAt: clock.now(), remarks };
}

test('a target that starts is waited for, with a word at once and every 10 s', async () => {
  const { endedAt, remarks } = await waited(60_000, 25_000);
  assert.equal(endedAt, 25_000);
  assert.deepEqual(
    remarks.map((words) => words.replace(/.*; /, '')),
    ['--wait allows 60 s more', '--wait allows 50 s more', '--wait allows 40 s more'],
  );
  assert.match(remarks[0]!, /^the target does not answer yet \(the connection was refused\)/);
});

test('one that answers at once is not waited for, and none longer than allowed', async () => {
  assert.deepEqual(await waited(60_000, 0), { endedAt: 0, remarks: [] });
  assert.equal((await waited(3000, Infinity)).endedAt, 3000);
  assert.equal((await waited(0, Infinity)).endedAt, 0);
});
