import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { oneAtATime, stampOf, watchFile } from './watch-file.ts';

test('what changed since the file was read is a change, and what stayed is none', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'ib-conformance-watch-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'watched');
  writeFileSync(file, 'one');
  const stop = new AbortController();
  let calls = 0;
  watchFile(file, stampOf(file), stop.signal, async () => void (calls += 1));
  // It looks behind the first, and is told at once.
  await new Promise<void>((resolve) =>
    watchFile(file, 'of another time', stop.signal, async () => resolve()),
  );
  stop.abort();
  assert.equal(calls, 0);
});

test('calls while it runs cause one more run, which makes the first result out of date', async () => {
  const ends: (() => void)[] = [];
  const outOfDate: boolean[] = [];
  const call = oneAtATime(async (isOutOfDate) => {
    await new Promise<void>((resolve) => ends.push(resolve));
    outOfDate.push(isOutOfDate());
  });
  const all = call();
  await call();
  await call();
  assert.equal(ends.length, 1);
  ends[0]!();
  while (ends.length < 2) await Promise.resolve();
  ends[1]!();
  await all;
  assert.deepEqual(outOfDate, [true, false]);
});
