import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { Inconclusive, RequirementResult, RunRecord } from '../schemas/generated/types.ts';
import { matchesSnapshot } from '../schemas/testing/snapshot.ts';
import { anyRecord, sampleRecord } from './testing/records.ts';
import { conclusion, fixes, nextStep, replayCommand } from './verdict.ts';

/** Parses `a/b/1 required excluded skipped`: id, level, outcome and reason; `known` means in the baseline. */
const rowOf = (text: string) => {
  const [id, level, outcome, reason = '?'] = text.split(' ');
  const base = { id, level, outcome, reason, words: 'w', aspect: 'status', cases: 1 };
  return { ...base, ...(reason === 'known' && { baseline: 'reason' }) } as unknown as RequirementResult;
};
const rowsOf = (text: string) => (text === '' ? [] : text.split('; ').map(rowOf));

/** Other tests check strength. */
const { strength: _strength, coverage: _coverage, selection: _selection, ...plainRecord } = sampleRecord;

const passed = 'a/b/1 required passed; a/b/2 recommended passed; a/b/3 observed observed';
const noFixture = [0, 1, 2, 3, 4, 5, 6, 7]
  .map((at) => `a/g/${at} required inconclusive no-fixture`)
  .join('; ');

type Verdict = RunRecord['verdict'];
const wordings: readonly (readonly [when: string, verdict: Verdict, rows: string, expected: string])[] = [
  ['everything passed', 'conformant', passed, 'conformant: 1 of 1 required verified, 1 of 1 recommended'],
  [
    'requirements are excluded',
    'conformant',
    `${passed}; a/c/1 required excluded no-state-hook; a/c/2 recommended excluded skipped; a/c/3 observed excluded skipped`,
    'conformant: 1 of 2 required verified, 1 of 2 recommended; not verified: a/c/1 (no-state-hook); a/c/2 (skipped, recommended); not observed: a/c/3 (skipped)',
  ],
  [
    'a required requirement fails',
    'nonconformant',
    `${passed}; a/d/1 required failed; a/d/2 required passed`,
    'nonconformant: 1 of 3 required failed, 2 verified, 1 of 1 recommended; failed: a/d/1',
  ],
  [
    'only a recommended requirement fails',
    'conformant',
    `${passed}; a/d/1 recommended failed`,
    'conformant: 1 of 1 required verified, 1 of 2 recommended; warnings: a/d/1',
  ],
  [
    'a required requirement is inconclusive',
    'incomplete',
    `${passed}; a/e/1 required inconclusive timeout`,
    'incomplete: 1 of 2 required verified, 1 of 1 recommended; not verified: a/e/1 (timeout)',
  ],
  [
    'a requirement is broken',
    'incomplete',
    'a/f/1 required broken',
    'incomplete: 0 of 1 required verified; broken (a bug of ib-conformance, not of the target): a/f/1',
  ],
  [
    'a required requirement was only observed',
    'incomplete',
    'a/f/1 required observed',
    'incomplete: 0 of 1 required verified; not verified: a/f/1 (only observed)',
  ],
  ['nothing ran', 'incomplete', '', 'incomplete: nothing was checked'],
  [
    'many requirements have one reason',
    'incomplete',
    `${noFixture}; a/h/1 required excluded no-state-hook`,
    'incomplete: 0 of 9 required verified; not verified: a/g/0, a/g/1, a/g/2, a/g/3, a/g/4, 3 more requirements (no-fixture); a/h/1 (no-state-hook); whole lists: requirements in the json report, by outcome and reason',
  ],
];

for (const [when, verdict, rows, expected] of wordings)
  test(`conclusion when ${when}`, () => {
    const record = { ...plainRecord, verdict, requirements: rowsOf(rows) };
    assert.equal(conclusion(record).join('; '), expected);
  });

test('conclusion when the run was interrupted', () => {
  const requirements = rowsOf(passed);
  assert.equal(
    conclusion({ ...plainRecord, verdict: 'incomplete', requirements, interrupted: true }).join(),
    'incomplete, interrupted after 1,607 requests, strength 0: 1 of 1 required verified, 1 of 1 recommended',
  );
});

const narrowed: Readonly<Record<string, NonNullable<RunRecord['selection']>>> = {
  'narrowed by --only': { whole: false, skip: [] },
  'narrowed by --skip': { whole: true, skip: ['a/c/1'] },
  'narrowed by --replay and --only': { whole: false, skip: [], replay: 'x@1' },
};
for (const [remark, selection] of Object.entries(narrowed))
  test(`the headline of a run that was ${remark}`, () => {
    for (const verdict of ['conformant', 'nonconformant', 'incomplete'] as const) {
      const record = { ...plainRecord, verdict, requirements: rowsOf(passed), selection };
      assert.match(conclusion(record)[0], new RegExp(`^${verdict} \\(${remark}\\): `));
    }
  });

const withBaseline: readonly (readonly [
  when: string,
  rows: string,
  verdict: Verdict,
  wrong: string[],
  expected: string,
])[] = [
  [
    'all failures are known',
    `a/d/1 required failed known; a/d/2 required failed known; ${passed}`,
    'conformant',
    [],
    'conformant but for 2 known failures: 2 of 3 required failed, 1 verified, 1 of 1 recommended; known failures: a/d/1, a/d/2',
  ],
  [
    'something else failed too',
    'a/d/1 required failed known; a/d/2 required failed',
    'nonconformant',
    [],
    'nonconformant: 2 of 2 required failed, 0 verified; failed: a/d/2; known failures: a/d/1',
  ],
  [
    'something else could not be judged',
    'a/d/1 required failed known; a/d/2 required inconclusive timeout',
    'incomplete',
    [],
    'incomplete but for 1 known failure: 1 of 2 required failed, 0 verified; known failures: a/d/1; not verified: a/d/2 (timeout)',
  ],
  [
    'the baseline has a mistake',
    'a/d/1 required failed known',
    'nonconformant',
    ['f:4: a/b/1: passes now: remove it'],
    'nonconformant: 1 of 1 required failed, 0 verified; known failures: a/d/1; the baseline fails the run: f:4: a/b/1: passes now: remove it',
  ],
];

for (const [when, rows, verdict, wrong, expected] of withBaseline)
  test(`conclusion when ${when}`, () => {
    const record = { ...plainRecord, requirements: rowsOf(rows), baseline: { file: 'f', verdict, wrong } };
    assert.equal(conclusion(record).join('; '), expected);
  });

test('every requirement is verified, observed, named or counted', () => {
  fc.assert(
    fc.property(anyRecord(fc.string({ unit: fc.constantFrom('a', 'b') })), (record) => {
      const named = conclusion(record)
        .slice(1)
        .filter(
          (sentence) =>
            !/^(?:the baseline fails the run|strength|levels missing|limits |limits:|announced limits|the target contradicts|stated limits|whole lists|\d+ not proved by this run)/.test(
              sentence,
            ),
        )
        .flatMap((sentence) => sentence.slice(sentence.indexOf(': ') + 2).split(/[,;] /))
        .filter((name) => name !== 'recommended)')
        .map((name) => Number(/^(\d+) more requirements?/.exec(name)?.[1] ?? 1));
      const silent = record.requirements.filter(
        ({ outcome, level }) => outcome === 'passed' || (outcome === 'observed' && level === 'observed'),
      );
      const counted = named.reduce((sum, number) => sum + number, 0);
      assert.equal(counted + silent.length, record.requirements.length);
    }),
  );
});

test('with room for one id, a list still names one', () => {
  const record = { ...plainRecord, verdict: 'incomplete' as const, requirements: rowsOf(noFixture) };
  assert.match(conclusion(record, 1).join('; '), /: a\/g\/0, 7 more requirements \(no-fixture\); whole/);
});

const failure = sampleRecord.requirements.find(
  ({ outcome, level }) => outcome === 'failed' && level === 'required',
)!;
const warning = sampleRecord.requirements.find(
  ({ outcome, level }) => outcome === 'failed' && level === 'recommended',
)!;
const { rerun: _rerun, ...unnamed } = plainRecord;
const counts = { ...sampleRecord.counts, broken: 0 };
const rerun = "ib-conformance verify http://x --fixture 'my f.json' --cases 9 --state-url http://y";

/** What a run ends with, and its next step. */
const endings: readonly (readonly [
  what: string,
  rows: readonly RequirementResult[] | string,
  more?: Partial<RunRecord>,
])[] = [
  ['a bug of ours, before failures', [failure], { counts: { ...sampleRecord.counts, broken: 1 } }],
  ['a refused key, before failures', [failure, rowOf('a/b/c required inconclusive key-refused')]],
  ['a required failure, before warnings', [warning, failure]],
  ['a warning, before excluded requirements', [rowOf('a/b/c required excluded no-state-hook'), warning]],
  ['an open required requirement, before warnings', [warning, rowOf('a/b/c required inconclusive timeout')]],
  ['a failure that cannot be replayed', [failure], { rerun: undefined } as object],
  [
    'known failures, and a wrong baseline',
    'a/d/1 required failed known',
    { baseline: { file: 'b.json', verdict: 'nonconformant', wrong: ['w'] } },
  ],
  ['everything verified', passed],
  [
    'everything verified on the mock',
    `${passed}; a/c/1 required excluded no-state-hook`,
    { mock: true, rerun: 'npx ib-conformance verify mock' },
  ],
  ['a narrowed run', passed, { selection: { whole: false, skip: [] } }],
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
  ['missing data without a fixture file', 'a/b/c required inconclusive no-fixture', { rerun: 'verify' }],
  ...Object.keys(fixes).map(
    (reason) => [reason, `${passed}; a/b/c required inconclusive ${reason}`] as const,
  ),
];

test('the advice has the bound that ended the run; --cases only if no other one did', () => {
  const needs: RunRecord['needs'] = [{ reaches: 'strength 2', seconds: 60, requests: 1650 }];
  for (const [words, advice, more] of [
    ['the bounds of the run left no lookup for it', /^omit --cases 9$/],
    ['--max-duration was reached', /--max-duration 1m/],
    ['--max-duration was reached', /^--max-duration 1m reaches strength 2$/, { needs }],
    ['--max-requests was reached', /^--max-requests 1650 reaches strength 2$/, { needs }],
  ] as const) {
    const requirements = rowsOf('a/b/c required inconclusive budget').map((one) => ({ ...one, words }));
    const step = nextStep({ ...unnamed, counts, rerun, ...more, requirements });
    assert.match('words' in step ? step.words : step.command, advice);
  }
});

test('every ending has one next step', () => {
  const lines = endings.map(([what, rows, more]) => {
    const requirements = typeof rows === 'string' ? rowsOf(rows) : rows;
    const step = nextStep({ ...unnamed, counts, rerun, ...more, requirements } as RunRecord);
    return `${what}: ${'command' in step ? `\`${step.command}\`` : step.words}\n`;
  });
  matchesSnapshot(new URL('next-steps.golden.txt', import.meta.url), lines.join(''));
});

test('a replay command has the requirement, the seed, and the path if there is one', () => {
  const record = { ...sampleRecord, seed: 9, rerun: 'verify' };
  const result = rowOf('a/b/c required inconclusive flaky') as Inconclusive;
  const { rerun: _, ...unknown } = record;
  assert.equal(replayCommand(record, result), 'verify --only a/b/c --seed 9');
  assert.equal(
    replayCommand(record, { ...result, replay: { seed: 7, path: '3:0' } }),
    "verify --only a/b/c --seed 7 --replay '3:0'",
  );
  assert.equal(
    replayCommand(record, { ...result, id: '$(x)', replay: { seed: 7, path: "'; rm" } }),
    `verify --only '$(x)' --seed 7 --replay ''\\''; rm'`,
  );
  assert.equal(replayCommand(unknown, result), undefined);
});

test('limits are written as flags take durations', () => {
  const words = (windowSeconds: number) => {
    const limit = { requests: 20, windowSeconds };
    const endpoints = [{ endpoint: 'user-status' as const, waitedMs: 0, limit }];
    const rateLimited = { answers: 0, waitedMs: 0, endpoints };
    return conclusion({ ...sampleRecord, rateLimited }).find((one) => one.startsWith('limits used: '));
  };
  for (const [seconds, expected] of [
    [902, '902s'],
    [900, '15m'],
    [7200, '2h'],
  ] as const)
    assert.equal(words(seconds), `limits used: user-status 20 in ${expected}`);
});
