import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { CLEAR_LINE, createDisplay, renderProgress, renderWaiting } from './display.ts';
import type { Progress } from '../schemas/progress.ts';
import { hostileText } from '../reports/testing/records.ts';
import { columns } from '../reports/text.ts';
import { faults } from '../mock/deviations/faults.ts';
import { reference } from '../mock/server/handler.ts';
import { builtIn } from './dev/testing/fixtures.ts';
import { verifyMock } from './dev/testing/verify-mock.ts';

const terminal = { color: false, width: 80 };

/** A display, what it wrote, and a clock that calls its timer each second. */
function displayed(isTerminal: boolean) {
  let now = 0;
  let tick: (() => void) | undefined;
  const written: string[] = [];
  const every = (work: () => void) => {
    tick = work;
    return { unref: () => undefined };
  };
  const context = { isTerminal, terminal, writeError: (text: string) => void written.push(text) };
  const display = createDisplay(context, every, () => now);
  const pass = (seconds: number) => {
    for (let nth = 0; nth < seconds; nth++) {
      now += 1000;
      tick?.();
    }
  };
  return { display, written, pass };
}

const progress: Progress = {
  done: 12,
  total: 68,
  doing: 'invalid-uuid/user-status/malformed',
  requests: 1234,
  elapsedMs: 4210,
  expectedMs: 12_210,
  maxRequests: Infinity,
  maxDurationMs: 300_000,
  failing: [],
};

const wait = { endpoint: 'user-status', why: 'Retry-After 70 s' } as const;

test('a log has a line at the start of a wait, but at most one in 10 s, and none of a short one', () => {
  const { display, written, pass } = displayed(false);
  display.onWait({ ...wait, waitMs: 1900 }, []);
  pass(5);
  display.onWait({ ...wait, waitMs: 70_000 }, []);
  // Another request waits for the same limiter.
  display.onWait({ ...wait, waitMs: 70_000 }, []);
  pass(75);
  display.onWait({ ...wait, waitMs: 8000 }, []);
  pass(9);
  // The next wait begins 9 s after the last line.
  display.onWait({ ...wait, waitMs: 8000 }, []);
  pass(9);
  assert.deepEqual(
    written,
    ['1:10', '1:00', '0:50', '0:40', '0:30', '0:20', '0:10', '0:08', '0:07'].map(
      (time) => `waiting ${time} for user-status (Retry-After 70 s)\n`,
    ),
  );
});

for (const isTerminal of [true, false])
  test(`what failed is named at once, and only once, ${isTerminal ? 'on a terminal' : 'in a log'}`, () => {
    const { display, written } = displayed(isTerminal);
    for (const failing of [[], ['a'], ['a'], ['a', 'b']]) display.onWait({ ...wait, waitMs: 6000 }, failing);
    display.onProgress({ ...progress, failing: ['a', 'b', 'c'] });
    assert.deepEqual(
      written.filter((text) => text.includes('✗')),
      ['a', 'b', 'c'].map((id) => `${isTerminal ? CLEAR_LINE : ''}✗ ${id}\n`),
    );
  });

test('a log has a line of progress every 10 s, and none during a wait', () => {
  const { display, written, pass } = displayed(false);
  for (let requests = 1; requests <= 15; requests++) {
    display.onProgress({ ...progress, requests });
    pass(1);
  }
  // A scenario may take long.
  pass(10);
  display.onWait({ ...wait, waitMs: 8000 }, []);
  pass(7);
  display.onProgress({ ...progress, requests: 26 });
  assert.deepEqual(
    written.map((text) => /\d+ requests|waiting 0:\d+/.exec(text)?.[0]),
    ['10 requests', '15 requests', 'waiting 0:08'],
  );
});

test('a terminal shows each second what all endpoints wait for, and no progress meanwhile', () => {
  const { display, written, pass } = displayed(true);
  display.onWait({ ...wait, waitMs: 7000 }, []);
  display.onWait({ waitMs: 9000, why: 'a rest' }, []);
  written.length = 0;
  pass(2);
  const line = (first: number, second: number) =>
    `${CLEAR_LINE}waiting 0:0${first} for user-status (Retry-After 70 s); waiting 0:0${second} (a rest)`;
  assert.deepEqual(written, [line(6, 8), line(5, 7)]);
  pass(8);
  written.length = 0;
  pass(1);
  display.onProgress(progress);
  assert.equal(written.length, 1);
  assert.match(written[0]!, /34 %/);
});

for (const [more, width, line] of [
  [{}, 110, '34 %  invalid-uuid/user-status/malformed  1,234 requests, 293/s  about 8 s left'],
  [{}, 78, '34 %  invalid-uuid/user-status/malform…  1,234 requests, 293/s  about 8 s left'],
  [{}, 55, '34 %  1,234 requests, 293/s  about 8 s left'],
  [{}, 41, '34 %  1,234 requests  about 8 s left'],
  [{}, 30, '34 %  1,234 requests  about 8…'],
  // The rate is shown after a second.
  [{ elapsedMs: 900 }, 120, '7 %  invalid-uuid/user-status/malformed  1,234 requests  about 11 s left'],
  // A run that takes longer than expected.
  [{ elapsedMs: 12_210 }, 50, '99 %  1,234 requests, 101/s  about 1 s left'],
  [
    { maxRequests: 5000, expectedMs: undefined, requests: 1 },
    120,
    'invalid-uuid/user-status/malformed  1 of 5,000 requests, 0/s  4.2 s',
  ],
] as const)
  test(`progress on ${width} columns: ${line}`, () =>
    assert.equal(renderProgress({ ...progress, ...more } as Progress, width), line));

test('progress is one printable line within the width', () => {
  fc.assert(
    fc.property(hostileText, fc.integer({ min: 20, max: 200 }), (doing, width) => {
      const line = renderProgress({ ...progress, doing }, width);
      assert.ok(columns(line) <= width);
      assert.doesNotMatch(line, /\p{C}/u);
    }),
  );
});

test('a wait', () => {
  const waiting = { endpoint: 'user-status', waitMs: 251_500, why: 'Retry-After 297 s' } as const;
  assert.equal(renderWaiting(waiting), 'waiting 4:12 for user-status (Retry-After 297 s)');
  assert.equal(renderWaiting({ waitMs: 1, why: 'a rest' }), 'waiting 0:01 (a rest)');
});

test('progress names a failure while lookups go on, not only once they have ended', async (context) => {
  let time = 0;
  context.mock.method(performance, 'now', () => (time += 5));
  const failing: string[] = [];
  await verifyMock(faults['path-parameter-dropped']!.change(reference), {
    fixture: builtIn,
    seed: 1,
    cases: 800,
    onProgress: ({ failing: [id], doing }) => void (id !== undefined && failing.push(`${doing}: ${id}`)),
  });
  // Only the first report of a step comes when it begins.
  const isNamed = /^[a-z-]+: pairs and examples: invalid-uuid\/[a-z-]+\/malformed$/;
  assert.ok(failing.some((one, at) => isNamed.test(one) && one === failing[at - 1]));
});
