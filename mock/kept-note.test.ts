import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { answerRequest } from './answer-request.ts';
import { entryOf, notesOf } from './journal.ts';
import { testSession, userPath } from './run-session.ts';

const MOST = 2048;

/** The entry of a request at the moment of its answer, and later, out of the journal. */
function entriesOf(target: string, authorization: string) {
  const { session, entries } = testSession();
  const { note } = answerRequest(session, { method: 'GET', target, headers: { authorization } });
  return { at: entryOf(note, session.redact), later: entries()[0]! };
}

const start = userPath('');
const long = (end: string) => start + 'x'.repeat(MOST) + end;

test('a request of ordinary length is kept as it is', () => {
  const authorization = 'Bearer northwind-key';
  const { at, later } = entriesOf(start.padEnd(MOST - authorization.length, 'x'), authorization);
  assert.deepEqual(later, at);
});

test('of a long one the journal shows the beginning, and all else', () => {
  const { at, later } = entriesOf(long(''), 'Bearer northwind-key');
  assert.deepEqual(later, {
    ...at,
    target: `${at.target.slice(0, MOST)}… (${start.length + MOST} characters)`,
  });
  assert.equal(later.reason, '400: user_id is not a valid UUID');
});

test('a key across the place of the cut is out of it, and is told of behind it', () => {
  for (const [end, keyInTarget] of [
    ['&key=northwind-key', true],
    ['&y=northwind-key', true],
    ['&y=northwind', false],
  ] as const) {
    assert.equal(entriesOf(long(end), 'Bearer northwind-key').later.keyInTarget, keyInTarget, end);
    const across = start.padEnd(MOST - 5, 'x') + end.repeat(9);
    assert.doesNotMatch(entriesOf(across, 'Bearer northwind-key').later.target, /northwind-k/);
  }
});

test('a long credential that nobody knows has its digest, and is in the target no more', () => {
  const unknown = 'a1b2'.repeat(MOST);
  const { at, later } = entriesOf(`${start}&k=${unknown}`, `Bearer ${unknown}`);
  assert.deepEqual(later, at);
  assert.match(later.credentialDigest ?? '', /^[\da-f]{12}$/);
  assert.equal(later.target, `${start}&k=<unknown key>`);
});

test('a journal of the longest requests is small', () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const { session } = testSession();
  const held = () => {
    collect();
    return process.memoryUsage().heapUsed;
  };
  const before = held();
  for (let count = 0; count < 200; count += 1) {
    // Not a text that others have a part of.
    const target = Buffer.from(`${start}${count}${'x'.repeat(60_000)}`).toString();
    const authorization = `Bearer ${count % 2 === 0 ? 'northwind-key' : 'no'.repeat(2000)}`;
    answerRequest(session, { method: 'GET', target, headers: { authorization } });
  }
  assert.equal(notesOf(session.main.journal).length, 200);
  assert.ok(held() - before < 200 * 8000, `${held() - before} bytes`);
});
