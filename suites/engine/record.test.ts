import assert from 'node:assert/strict';
import { test } from 'node:test';
import validateRunRecord from '../../schemas/generated/run-record.cjs';
import { scenario } from '../scenario.ts';
import { sampleKnown as known } from '../sample-known.ts';
import { failed, held } from '../verdict.ts';
import { createDescriber, makeRecord, type Figures, type Result } from './record.ts';
import { createTraffic } from './traffic.ts';

/** The record of a run with one requirement that came to this. */
function recordOf(result: Result, figures: Partial<Figures> = {}) {
  const subject = { level: 'required', clause: '', title: '' } as const;
  const requirement = scenario({ ...subject, id: 'valid/user-status/x', run: assert.fail });
  const options = { target: 'http://here', known, seed: 1, cases: 100, version: 'test' };
  const list = [createDescriber(options)(requirement, result)];
  const all: Figures = {
    startedAt: 0,
    durationMs: 1,
    requests: 1,
    rateLimited: { answers: 0, waitedMs: 0 },
    keyWorks: true,
    interrupted: false,
    strength: 2,
    isCut: false,
    coverage: { pairs: [2, 2], triples: [1, 3], missing: [] },
    ...figures,
  };
  const record = makeRecord(options, list, all, createTraffic(0).figures());
  assert.ok(validateRunRecord(record), JSON.stringify(validateRunRecord.errors));
  return record;
}

test('a failure says under which conditions and how often it fails, and how to see it again', () => {
  const key = known.everyKey[0]!;
  const result: Result = {
    verdict: failed('status', '200', `404 ${key.key}`),
    cases: 9,
    path: 'user-status;situation=own@4',
    where: ['situation: own'],
    intermittent: { failed: 3, of: 11 },
  };
  const [row] = recordOf(result).requirements;
  assert.ok(row?.outcome === 'failed');
  assert.deepEqual(row.where, ['situation: own']);
  assert.deepEqual(row.intermittent, { failed: 3, of: 11 });
  assert.deepEqual(row.replay, { seed: 1, path: 'user-status;situation=own@4' });
  assert.equal(row.actual, `404 ${key.name}`);
});

test('a record says what was covered, and what was in the way', () => {
  const whole = recordOf({ verdict: held, cases: 1 });
  assert.deepEqual([whole.strength, whole.coverage?.triples, whole.notes], [2, [1, 3], []]);
  const learned = { endpoint: 'user-status', requests: 12, windowSeconds: 2 } as const;
  const notes: readonly (readonly [Partial<Figures>, RegExp])[] = [
    [{ keyWorks: false }, /^The target answers every request of <key northwind\/active> with 401/],
    [{ interrupted: true, interruptedBy: 'SIGINT' }, /^Interrupted by SIGINT\.$/],
    [{ rateLimited: { answers: 1, waitedMs: 1, learned: [learned] } }, /user-status about 12 in 2 s/],
  ];
  for (const [figures, note] of notes) {
    const record = recordOf({ verdict: held, cases: 1 }, figures);
    assert.equal(record.notes.length, 1);
    assert.match(record.notes[0]!, note);
  }
});
