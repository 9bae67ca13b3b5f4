import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Problem } from '../../schemas/problem.ts';
import type { Answer } from '../answer.ts';
import { answerOf, sampleKnown as known } from '../testing/samples.ts';
import { virtualClock } from './clock.ts';
import type { Request } from '../request.ts';
import { preflight, REFUSES_TRACE, waitUntilItAnswers } from './preflight.ts';

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
  const said = remarks.map((words) => words.replace(/.*; /, ''));
  assert.deepEqual(said, ['--wait allows 60 s more', '--wait allows 50 s more', '--wait allows 40 s more']);
  assert.match(remarks[0]!, /^the target does not answer yet \(the connection was refused\)/);
});

test('one that answers at once is not waited for, and none longer than allowed', async () => {
  assert.deepEqual(await waited(60_000, 0), { endedAt: 0, remarks: [] });
  assert.equal((await waited(3000, Infinity)).endedAt, 3000);
  assert.equal((await waited(0, Infinity)).endedAt, 0);
});

/** Tries a target whose answers are these, by time in ms. Returns when it was judged, or what was said of it. */
async function tried(answerAt: (now: number, request: Request, isTracing: boolean) => Answer) {
  const clock = virtualClock(0);
  const remarks: string[] = [];
  let sent = 0;
  let isTracing = true;
  const send = async (request: Request) => {
    sent++;
    return { request, reply: answerAt(clock.now(), request, isTracing) };
  };
  const target = new URL('http://target');
  const onRemark = (words: string) => remarks.push(words);
  const options = { known, clock, target, signal: new AbortController().signal, onRemark };
  const trace = (isOn: boolean) => void (isTracing = isOn);
  const sender = { send, sendOnce: send, isTracing: () => isTracing, trace };
  const said = await preflight(sender, options).then(
    (stop) => stop?.words,
    ({ code, message }: Problem) => `${code}: ${message}`,
  );
  return { ended: { said, at: clock.now(), sent }, remarks, isTracing };
}

test('a target that refuses a traceparent is asked without it, and told; one that refuses everything is not', async () => {
  const refused = answerOf(400, { error: 'unknown header field' });
  const good = answerOf(200, { is_under_ib: false, date_joined: null });
  const choosy = await tried((_now, _request, isTracing) => (isTracing ? refused : good));
  assert.deepEqual([choosy.isTracing, choosy.remarks], [false, [REFUSES_TRACE]]);
  const all = await tried(() => refused);
  assert.deepEqual([all.isTracing, all.remarks], [true, []]);
});

const page = {
  ...answerOf(502, {}),
  text: '<html><head><title>502</title></head><h1>Bad\nGateway</h1></html>',
};
const blocked = answerOf(403, { error: 'Forbidden' });

test('a front end alone is asked for 5 s, and is no service', async () => {
  for (const [answer, words] of [
    [page, '502 (502 Bad Gateway)'],
    [blocked, '403 ({"error":"Forbidden"})'],
    [answerOf(500, {}), '500 ({})'],
  ] as const) {
    const { said, at, sent } = (await tried(() => answer)).ended;
    assert.match(said ?? '', /^unreachable: http:\/\/target\/: the target answers everything with .*--wait/);
    assert.ok(said?.includes(words), said);
    assert.deepEqual([at, sent], [5000, 31]);
  }
});

test('a service that comes within 5 s, or that answers some lookup, is judged', async () => {
  const right = answerOf(401, { error: 'Unauthorized' });
  assert.deepEqual((await tried((now) => (now < 3000 ? page : right))).ended, {
    said: undefined,
    at: 3000,
    sent: 18,
  });
  const { ended } = await tried((_, { target }) => (target.endsWith('=x') ? answerOf(400, {}) : blocked));
  assert.deepEqual([ended.said, ended.at], [undefined, 0]);
});
