import assert from 'node:assert/strict';
import { test } from 'node:test';
import { logQueue } from './mock-log.ts';

test('an unread log stops growing, and says how much is missing when it is read again', async () => {
  const printed: string[] = [];
  let read = () => {};
  let reading = new Promise<void>((resolve) => (read = resolve));
  const lines = logQueue(
    (text) => {
      printed.push(text);
      return reading;
    },
    { event: (message) => message },
  );
  for (let count = 0; count < 10_007; count++) lines.write(() => `${count}`);
  assert.equal(printed.length, 10_000);
  assert.equal(await lines.flushed(0), false);
  read();
  assert.equal(await lines.flushed(60_000), true);
  reading = Promise.resolve();
  lines.write(() => 'next');
  assert.deepEqual(printed.slice(10_000), [
    '7 requests are missing here: the reader of the log was too slow',
    'next',
  ]);
});

test('a log that cannot be written is no error', async () => {
  const lines = logQueue(() => Promise.reject(new Error('EPIPE')), { event: () => '' });
  lines.write(() => 'a line');
  assert.equal(await lines.flushed(60_000), true);
});
