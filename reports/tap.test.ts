import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { Parser } from 'tap-parser';
import { isKnownFailure } from '../schemas/known-failure.ts';
import { anyRecord, hostileText } from './any-record.ts';
import { matchesGolden } from './golden.ts';
import { printable } from './printable.ts';
import { sampleRecord } from './sample-record.ts';
import { renderTap } from './tap.ts';
import type { RunRecord } from '../schemas/generated/types.ts';

interface Point {
  readonly ok: boolean;
  readonly name: string;
  readonly skip: string | boolean;
  readonly todo: string | boolean;
  readonly diag?: Readonly<Record<string, unknown>>;
}

/** The test points that a reader finds, and what it took for no TAP. */
function read(record: RunRecord) {
  const events = Parser.parse(renderTap(record), { strict: true });
  const points = events.flatMap((event) => (event[0] === 'assert' ? [event[1] as Point] : []));
  const strange = events.filter(([kind]) => kind === 'extra' || kind === 'bailout' || kind === 'child');
  const complete = events.find(([kind]) => kind === 'complete')?.[1];
  return { points, strange, complete };
}

test('the report of the sample is as it was written down', () => {
  matchesGolden('tap.golden.txt', renderTap(sampleRecord));
});

test('a reader finds every requirement with its outcome, and nothing else', () => {
  fc.assert(
    fc.property(anyRecord(hostileText), (record) => {
      const { points, strange } = read(record);
      assert.deepEqual(strange, []);
      const wrong = record.baseline?.wrong ?? [];
      if (record.requirements.length + wrong.length === 0)
        return assert.deepEqual(
          points.map(({ ok }) => ok),
          [false],
        );
      assert.equal(points.length, record.requirements.length + wrong.length);
      const failing = points.slice(record.requirements.length);
      assert.ok(failing.every(({ ok, diag }) => !ok && typeof diag?.['wrong'] === 'string'));
      for (const [at, result] of record.requirements.entries()) {
        const { id, outcome, level } = result;
        const isSkipped = outcome === 'excluded' || outcome === 'observed' || isKnownFailure(result);
        const { ok, name, skip, todo, diag } = points[at]!;
        assert.equal(name, printable(id, 600).trim());
        assert.equal(todo, false);
        assert.equal(ok, outcome === 'passed' || isSkipped);
        assert.equal(skip !== false, isSkipped);
        if (!ok) assert.deepEqual([diag?.['outcome'], diag?.['level']], [outcome, level]);
      }
    }),
  );
});

test('a reader has the texts as they are', () => {
  const { points, complete } = read(sampleRecord);
  assert.equal((complete as { ok: boolean }).ok, false);
  const at = sampleRecord.requirements.findIndex(({ id }) => id === 'auth/user-status/missing');
  assert.equal(points[at]?.diag?.['actual'], '{"error":"Un\u0430uthorized"}');
  assert.match(String(points[at]?.diag?.['replay']), /--seed 7 --replay '3:0:1'$/);
});

test('no directive comes of a text', () => {
  const subject = { level: 'required', clause: '', title: '', cases: 1 } as const;
  const { points } = read({
    ...sampleRecord,
    requirements: [
      { ...subject, id: 'a # SKIP b', outcome: 'passed' },
      { ...subject, id: String.raw`a \# TODO b\\`, outcome: 'passed' },
    ],
  });
  assert.deepEqual(
    points.map(({ name, skip, todo }) => ({ name, skip, todo })),
    [
      { name: 'a # SKIP b', skip: false, todo: false },
      { name: String.raw`a \# TODO b\\`, skip: false, todo: false },
    ],
  );
});
