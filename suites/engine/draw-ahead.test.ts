import assert from 'node:assert/strict';
import { test } from 'node:test';
import { property } from '../property.ts';
import { userStatus } from '../request.ts';
import { sampleKnown as known } from '../sample-known.ts';
import { held } from '../verdict.ts';
import { drawAhead } from './draw-ahead.ts';

/** A requirement with one input, which says when it is drawn. */
const noting = (name: string, drawing: (name: string) => void) =>
  property<number>({
    level: 'required',
    clause: '',
    title: '',
    id: `valid/user-status/${name}`,
    every: () => [0],
    ask: () => {
      drawing(name);
      return [userStatus('x')];
    },
    holds: () => held,
  });

test('who wants an end is heard between two requirements, and nothing is drawn for what is skipped', async () => {
  const drawnFor: string[] = [];
  const ending = new AbortController();
  const requirements = ['skipped', 'one', 'two', 'three'].map((name) =>
    noting(name, () => {
      drawnFor.push(name);
      // Heard once the loop turns, as a signal is.
      if (name === 'one') setImmediate(() => ending.abort());
    }),
  );
  const skip = new Set(['valid/user-status/skipped']);
  await drawAhead({ known, requirements, skip, seed: 1, cases: 1 }, ending.signal);
  assert.deepEqual(drawnFor, ['one']);
});
