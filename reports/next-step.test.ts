import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Inconclusive, Need, RequirementResult, RunRecord } from '../schemas/generated/types.ts';
import { matchesSnapshot } from '../schemas/testing/snapshot.ts';
import { nextStep, replayFlag, runCommand } from './next-step.ts';
import { rowOf, rowsOf, sampleRecord } from './testing/records.ts';
import { fixes } from './unverified.ts';

/** Other tests check strength. */
const { strength: _strength, coverage, selection: _selection, ...plainRecord } = sampleRecord;

const passed = 'a/b/1 required passed; a/b/2 recommended passed; a/b/3 observed observed';

const failure = sampleRecord.requirements.find(
  ({ outcome, level }) => outcome === 'failed' && level === 'required',
)!;
const warning = sampleRecord.requirements.find(
  ({ outcome, level }) => outcome === 'failed' && level === 'recommended',
)!;
const { rerun: _rerun, doctor: _doctor, ...unnamed } = plainRecord;
const counts = { ...sampleRecord.counts, broken: 0 };
const rerun = "ib-conformance verify http://x --fixture 'my f.json' --cases 9 --rate 50";
const doctor = "ib-conformance doctor http://x --fixture 'my f.json'";

/** What a run ends with, and its next step. */
const endings: readonly (readonly [
  what: string,
  rows: readonly RequirementResult[] | string,
  more?: Partial<RunRecord>,
])[] = [
  ['a bug of ours, before failures', [failure], { counts: { ...sampleRecord.counts, broken: 1 } }],
  ['a refused key, before failures', [failure, rowOf('a/b/c required inconclusive key-refused')]],
  ['a required failure, before warnings', [warning, failure]],
  [
    'the worst failure',
    [failure, { ...failure, id: 'a/b/worst', rank: 1, aspect: 'status' } as RequirementResult],
  ],
  ['a warning, before excluded requirements', [rowOf('a/b/c required excluded no-state-hook'), warning]],
  ['an open required requirement, before warnings', [warning, rowOf('a/b/c required inconclusive timeout')]],
  ['a failure that cannot be replayed', [failure], { rerun: undefined } as object],
  [
    'known failures, and a wrong baseline',
    'a/d/1 required failed known',
    { baseline: { file: 'b.json', wrong: ['w'] } },
  ],
  ['everything verified', passed],
  [
    'everything verified on the mock',
    `${passed}; a/c/1 required excluded no-state-hook`,
    { mock: true, rerun: 'npx ib-conformance verify mock', doctor: undefined } as object,
  ],
  ['a narrowed run', passed, { selection: { whole: false, skip: ['a/b/c'] } }],
  ['a replay', [failure], { selection: { whole: false, skip: [], replay: 'a/b/c 3:0' } }],
  ['a replay of what is mended', passed, { selection: { whole: false, skip: [], replay: 'a/b/c 3:0' } }],
  [
    'a run that was too short',
    `${passed}; a/b/c required inconclusive budget`,
    { needs: [{ reaches: 'strength 1', seconds: 720, requests: 9 }] },
  ],
  [
    'a limit that was too low',
    'a/b/c required inconclusive rate-limited',
    { needs: [{ reaches: 'everything', seconds: 90, requests: 9 }] },
  ],
  [
    'missing data',
    rowsOf('a/b/c required inconclusive no-fixture').map(
      (row) => ({ ...row, fix: 'Add one.' }) as Inconclusive,
    ),
  ],
  [
    'a green run that a longer one would extend by much',
    passed,
    {
      verdict: 'conformant',
      strength: 1,
      selection: { whole: true, skip: [] },
      coverage,
      rerun: 'verify',
      durationMs: 4_000_000,
      counts: { ...counts, required: { passed: 1, failed: 0, inconclusive: 0 } },
    } as Partial<RunRecord>,
  ],
  ['missing data without a fixture file', 'a/b/c required inconclusive no-fixture', { doctor: 'doctor' }],
  ...Object.keys(fixes).map(
    (reason) => [reason, `${passed}; a/b/c required inconclusive ${reason}`] as const,
  ),
];

test('a run that a bound ended is repeated without it, or with a larger one; --cases goes only if no other one did', () => {
  const needs: Need[] = [
    { reaches: 'strength 1', seconds: 60, requests: 9 },
    { reaches: 'everything', seconds: 90, requests: 1650 },
  ];
  const slow: Need[] = [{ reaches: 'everything', seconds: 590, requests: 1 }];
  const all = rerun.replace(' --cases 9', '');
  const longer = 'repeat the run with --max-duration';
  for (const [why, words, more] of [
    ['the bounds of the run left no lookup for it', 'repeat the run without --cases'],
    ['--max-duration was reached', `${longer} 6m`],
    ['--max-duration was reached', `${longer} 10m`, { needs: slow }],
    ['--max-requests was reached', 'repeat the run without --max-requests, or with a larger one', { needs }],
    ['another one', `${longer} 6m`, { needs, rerun: all }],
  ] as const) {
    const requirements = rowsOf('a/b/c required inconclusive budget').map((one) => ({ ...one, words: why }));
    assert.deepEqual(nextStep({ ...unnamed, counts, rerun, ...more, requirements }), { words });
  }
  // A limiter takes time, whatever --cases is.
  const [row] = rowsOf('a/b/c required inconclusive rate-limited');
  assert.deepEqual(nextStep({ ...unnamed, counts, rerun, requirements: [row!] }), { words: `${longer} 6m` });
});

test('every ending has one next step', () => {
  const lines = endings.map(([what, rows, more]) => {
    const requirements = typeof rows === 'string' ? rowsOf(rows) : rows;
    const step = nextStep({ ...unnamed, counts, rerun, doctor, ...more, requirements } as RunRecord);
    return `${what}: ${'command' in step ? `\`${step.command}\`` : step.words}\n`;
  });
  matchesSnapshot(new URL('next-steps.golden.txt', import.meta.url), lines.join(''));
});

test('a failure adds its requirement, and the path if there is one, to the command of the run', () => {
  const record = { ...sampleRecord, seed: 9, rerun: 'verify --only a' };
  const result = rowOf('a/b/c required inconclusive flaky') as Inconclusive;
  const { rerun: _, ...unknown } = record;
  assert.equal(runCommand(record), 'verify --only a --seed 9');
  assert.equal(runCommand(unknown), undefined);
  assert.equal(replayFlag(record, result), '--replay a/b/c');
  const replay = { seed: 9, path: "'; rm" };
  assert.equal(replayFlag(record, { ...result, replay }), `--replay 'a/b/c '\\''; rm'`);
  assert.equal(replayFlag(record, { ...result, id: '$(x)' }), `--replay '$(x)'`);
  assert.equal(replayFlag(unknown, result), undefined);
});
