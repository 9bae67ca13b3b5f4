import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { TranscriptLine } from '../../schemas/generated/types.ts';
import { readTranscript } from './transcript.ts';

const start = { line: 'start', fixture: {} } as TranscriptLine;
const exchange = (n: number) =>
  ({
    line: 'exchange',
    n,
    request: { target: '', headers: {}, credential: { as: 'none' } },
    trouble: { code: 'timeout', words: '' },
  }) as unknown as TranscriptLine;
const call = (nth: number) => ({ line: 'call', of: 'a', nth }) as TranscriptLine;
const missed = { line: 'missed', path: 'a' } as TranscriptLine;
const explained = { line: 'explained', of: 'a' } as TranscriptLine;
const outcome: TranscriptLine = { line: 'outcome', result: { id: 'a' } };
const end = (lines: number) => ({ line: 'end', lines }) as TranscriptLine;

const run = [start, exchange(0), exchange(1), missed, call(1), call(0), explained, outcome, end(8)];

test('the lines of a run, complete or cut off at any place', () => {
  for (let most = 1; most <= run.length; most++) readTranscript(run.slice(0, most));
});

describe('are not accepted', () => {
  for (const [at, line] of run.slice(0, -1).entries()) {
    test(`without its line ${at}, ${line.line}`, () =>
      assert.throws(
        () => readTranscript(run.toSpliced(at, 1)),
        /\d of \d+ lines before its end line|is missing or out of order|first line/,
      ));
    test(`with its line ${at}, ${line.line}, twice`, () =>
      assert.throws(() => readTranscript(run.toSpliced(at, 0, line)), /two lines|missing/));
  }
  for (const [name, lines, says] of [
    ['two runs in one file', [...run, ...run], /after its end/],
    ['a run that was cut off, and another', [...run.slice(0, 5), ...run], /two lines "start"/],
    ['exchanges in another order', [start, exchange(1), exchange(0)], /exchange 0 is missing/],
    ['one line for another', [start, call(0), call(0), end(3)], /two lines "call 0 of a"/],
  ] as const)
    test(name, () => assert.throws(() => readTranscript(lines), { code: 'usage', message: says }));
});
