import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RequirementResult, RunRecord } from '../schemas/generated/types.ts';
import validateRunRecord from '../schemas/generated/run-record.cjs';
import { readBaseline } from '../schemas/records.ts';
import { sampleRecord } from '../reports/testing/records.ts';
import { countOutcomes, verdictOf } from '../suites/engine/verdict-of-run.ts';
import { renderBaseline, updated, withBaseline } from './baseline.ts';
import { exitCodeOf } from './exit-codes.ts';

const plain = { strict: false, allowIncomplete: false };

const row = (id: string, rest: object) =>
  ({ id, level: 'required', clause: 'c', title: 't', cases: 100, ...rest }) as RequirementResult;
const bad = { outcome: 'failed', aspect: 'status', expected: '200', actual: '500' };
const open = { outcome: 'inconclusive', reason: 'timeout', words: 'w' };

/** A row of each outcome, by its id. */
const rows = {
  good: row('good', { outcome: 'passed' }),
  cut: row('cut', { outcome: 'passed', cases: 3, planned: 100 }),
  bad: row('bad', bad),
  worse: row('worse', bad),
  advice: row('advice', { ...bad, level: 'recommended' }),
  open: row('open', open),
  out: row('out', { outcome: 'excluded', reason: 'skipped', words: 'w' }),
  seen: row('seen', { level: 'observed', outcome: 'observed', words: 'w' }),
  ours: row('ours', { outcome: 'broken', words: 'w' }),
} as const;

const ids = [...Object.keys(rows), 'elsewhere'];

function recordOf(...names: readonly (keyof typeof rows)[]): RunRecord {
  const requirements = names.map((name) => rows[name]);
  return {
    ...sampleRecord,
    notes: [],
    requirements,
    verdict: verdictOf(requirements, false),
    counts: countOutcomes(requirements),
  };
}

type Entry = readonly [id: string, reason?: string];

const baselineOf = (...entries: readonly Entry[]) => ({
  file: 'known.json',
  known: entries.map(([id, reason], at) => ({
    id,
    line: at + 4,
    ...(reason === undefined ? {} : { reason }),
  })),
});

interface Rule {
  readonly record: RunRecord;
  readonly entries: readonly Entry[];
  readonly code: number;
  /** All that is wrong with the baseline. */
  readonly wrong?: readonly RegExp[];
  readonly note?: RegExp;
  readonly flags?: Partial<typeof plain>;
}

const rules: Readonly<Record<string, Rule>> = {
  'a known failure does not fail the run': {
    record: recordOf('good', 'bad'),
    entries: [['bad', 'ticket 1']],
    code: 0,
  },
  'a failure beside a known one does': {
    record: recordOf('bad', 'worse'),
    entries: [['bad', 'ticket 1']],
    code: 1,
  },
  'known failures alone, and nothing else, are no empty run': {
    record: recordOf('bad'),
    entries: [['bad', 'ticket 1']],
    code: 0,
  },
  'an entry without a reason': {
    record: recordOf('bad'),
    entries: [['bad']],
    code: 1,
    wrong: [/^known\.json:4: bad: has no reason: write why/],
  },
  'an entry with an empty reason': {
    record: recordOf('bad'),
    entries: [['bad', '']],
    code: 1,
    wrong: [/has no reason/],
  },
  'an entry with a blank reason': {
    record: recordOf('bad'),
    entries: [['bad', ' \t\n']],
    code: 1,
    wrong: [/has no reason/],
  },
  'an empty reason, though nothing is said of the requirement': {
    record: recordOf('good'),
    entries: [['elsewhere', '']],
    code: 1,
    wrong: [/elsewhere: has no reason/],
  },
  'an id that there is not': {
    record: recordOf('good'),
    entries: [['wors', 'ticket 1']],
    code: 1,
    wrong: [/^known\.json:4: wors: there is no such requirement; did you mean worse\?$/],
  },
  'an id that stands twice': {
    record: recordOf('bad'),
    entries: [
      ['bad', 'ticket 1'],
      ['bad', 'ticket 2'],
    ],
    code: 1,
    wrong: [/^known\.json:5: bad: stands on line 4 already/],
  },
  'one that passes now': {
    record: recordOf('good', 'bad'),
    entries: [
      ['bad', 'ticket 1'],
      ['good', 'ticket 2'],
    ],
    code: 1,
    wrong: [/^known\.json:5: good: passes now: remove it/],
  },
  'one that passes on a part of its inputs only': {
    record: recordOf('cut'),
    entries: [['cut', 'ticket 1']],
    code: 0,
    note: /not judged by this run: cut \(passed on 3 of 100 inputs only\)/,
  },
  'one that is inconclusive cannot be known': {
    record: recordOf('good', 'open'),
    entries: [['open', 'ticket 1']],
    code: 3,
    note: /open \(inconclusive: timeout\)/,
  },
  'an inconclusive one beside a known failure is not hidden': {
    record: recordOf('bad', 'open'),
    entries: [['bad', 'ticket 1']],
    code: 3,
  },
  'an inconclusive one that is allowed, beside a known failure': {
    record: recordOf('bad', 'open'),
    entries: [['bad', 'ticket 1']],
    code: 0,
    flags: { allowIncomplete: true },
  },
  'one that is excluded, observed, not selected': {
    record: recordOf('good', 'out', 'seen'),
    entries: [
      ['out', 'r'],
      ['seen', 'r'],
      ['elsewhere', 'r'],
    ],
    code: 0,
    note: /run: out \(excluded: skipped\), seen \(observed\), elsewhere \(not selected\)$/,
  },
  'one that broke': {
    record: recordOf('good', 'ours'),
    entries: [['ours', 'r']],
    code: 70,
    note: /run: ours \(broken\)/,
  },
  'a recommended one only warns': { record: recordOf('good', 'advice'), entries: [], code: 0 },
  'with --strict a recommended one fails the run': {
    record: recordOf('good', 'advice'),
    entries: [],
    code: 1,
    flags: { strict: true },
  },
  'with --strict a recommended one may be known': {
    record: recordOf('good', 'advice'),
    entries: [['advice', 'ticket 1']],
    code: 0,
    flags: { strict: true },
  },
  'an interrupted run stays one': {
    record: { ...recordOf('bad'), interrupted: true },
    entries: [['bad', 'ticket 1']],
    code: 130,
  },
};

for (const [what, { record, entries, code, wrong = [], note, flags }] of Object.entries(rules))
  test(`baseline: ${what}`, () => {
    const held = withBaseline(record, baselineOf(...entries), ids);
    assert.ok(validateRunRecord(held), JSON.stringify(validateRunRecord.errors));
    assert.equal(held.verdict, record.verdict);
    assert.equal(exitCodeOf(held, { ...plain, ...flags }), code);
    assert.equal(held.baseline?.wrong.length, wrong.length);
    for (const [at, words] of wrong.entries()) assert.match(held.baseline.wrong[at]!, words);
    if (note === undefined) assert.deepEqual(held.notes, []);
    else assert.match(held.notes.join('\n'), note);
  });

test('the reason stands beside the failure, which stays one', () => {
  const { requirements } = withBaseline(recordOf('bad', 'worse'), baselineOf(['bad', 'ticket 1']), ids);
  assert.deepEqual(requirements, [{ ...rows.bad, baseline: 'ticket 1' }, rows.worse]);
});

test('an update keeps reasons and what was not judged, drops what passes, and adds what fails', () => {
  const before = baselineOf(
    ['good', 'mended'],
    ['bad', ''],
    ['bad', 'ticket 1'],
    ['cut', 'ticket 2'],
    ['open', 'ticket 3'],
    ['elsewhere', 'ticket 4'],
    ['no-such', 'ticket 5'],
    ['bad', 'a later one'],
  );
  const record = recordOf('good', 'cut', 'bad', 'worse', 'advice', 'open', 'out');
  const kept = [
    { id: 'bad', reason: 'ticket 1' },
    { id: 'cut', reason: 'ticket 2' },
    { id: 'open', reason: 'ticket 3' },
    { id: 'elsewhere', reason: 'ticket 4' },
    { id: 'no-such', reason: 'ticket 5' },
  ];
  assert.deepEqual(updated(record, before, false), {
    added: 1,
    removed: 3,
    known: [...kept, { id: 'worse', reason: '' }],
  });
  assert.deepEqual(updated(record, before, true).known.slice(kept.length), [
    { id: 'worse', reason: '' },
    { id: 'advice', reason: '' },
  ]);
});

test('what an update writes is read back, an entry a line', () => {
  const known = [
    { id: 'bad', reason: 'ticket 1: "quoted"\nand more' },
    { id: 'worse', reason: '' },
  ];
  const read = readBaseline(renderBaseline(known, './baseline.schema.json'), 'known.json');
  assert.deepEqual(read, {
    file: 'known.json',
    schema: './baseline.schema.json',
    known: known.map((entry, at) => ({ ...entry, line: at + 5 })),
  });
  assert.deepEqual(readBaseline(renderBaseline([]), 'known.json').known, []);
});
