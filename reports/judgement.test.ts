import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RequirementResult, RunRecord } from '../schemas/generated/types.ts';
import {
  failsRun,
  headlineOf,
  judgedBy,
  judgementOf,
  outcomeWords,
  combinationSentence,
} from './judgement.ts';
import { rowsOf, sampleRecord } from './testing/records.ts';
import { renderJunit } from './junit.ts';
import { nextStep } from './next-step.ts';

/** Without the strength, which the last tests are about. */
const { strength: _strength, coverage: _coverage, selection: _selection, ...rest } = sampleRecord;
const plain: RunRecord = { ...rest, counts: { ...sampleRecord.counts, broken: 0 } };

const passed = 'a/b/1 required passed; a/b/2 recommended passed; a/b/3 observed observed';
const known = { file: 'f', wrong: [] };

type More = Partial<RunRecord>;
const contradicted: RunRecord['rateLimited'] = {
  answers: 9,
  waitedMs: 0,
  endpoints: [{ endpoint: 'user-status', waitedMs: 0, contradiction: 'it limits at 3' }],
};
/** `bin/endings.golden.txt` has others. */
const headlines: readonly (readonly [when: string, rows: string, more: More, expected: string])[] = [
  ['everything passed', passed, {}, 'conformant: 1 of 1 required verified, 1 of 1 recommended'],
  [
    'requirements are excluded',
    `${passed}; a/c/1 required excluded no-state-hook; a/c/2 recommended excluded skipped`,
    {},
    'conformant: 1 of 2 required verified, 1 of 2 recommended',
  ],
  [
    'a required requirement fails',
    `${passed}; a/d/1 required failed; a/d/2 required passed`,
    { verdict: 'nonconformant' },
    'nonconformant: 1 of 3 required failed, 2 verified, 1 of 1 recommended',
  ],
  [
    'the target contradicts a limit, and its other endpoint answers wrongly',
    'rate-limit/user-status/a required failed; a/deposit-check/1 required failed',
    { verdict: 'nonconformant', rateLimited: contradicted },
    'nonconformant (the target contradicts the limit stated for user-status): 2 of 2 required failed, 0 verified',
  ],
  [
    'the endpoint answers wrongly, so that more counts at its limiter',
    'a/user-status/1 required failed',
    { verdict: 'nonconformant', rateLimited: contradicted },
    'nonconformant: 1 of 1 required failed, 0 verified',
  ],
  [
    'that --allow-incomplete does not accept',
    `${passed}; a/e/1 required inconclusive no-fixture; a/e/2 required inconclusive flaky`,
    { verdict: 'incomplete', allowIncomplete: true },
    'incomplete (--allow-incomplete does not accept flaky): 1 of 3 required verified, 1 of 1 recommended',
  ],
  [
    'the target is lost after a failure',
    `${passed}; a/e/1 required failed`,
    { verdict: 'nonconformant', targetLost: true },
    'nonconformant (the target stopped answering): 1 of 2 required failed, 1 verified, 1 of 1 recommended',
  ],
  [
    'a requirement is broken',
    'a/f/1 required broken',
    { verdict: 'incomplete', counts: { ...plain.counts, broken: 1 } },
    'a bug of ib-conformance (incomplete so far): 0 of 1 required verified',
  ],
  ['nothing ran', '', { verdict: 'incomplete' }, 'incomplete: nothing was checked'],
  [
    'all failures are known',
    `a/d/1 required failed known; a/d/2 required failed known; ${passed}`,
    { baseline: known },
    'conformant but for 2 known failures: 2 of 3 required failed, 1 verified, 1 of 1 recommended',
  ],
  [
    'something else failed too',
    'a/d/1 required failed known; a/d/2 required failed',
    { verdict: 'nonconformant', baseline: known },
    'nonconformant: 2 of 2 required failed, 0 verified',
  ],
  [
    'something else could not be judged',
    'a/d/1 required failed known; a/d/2 required inconclusive timeout',
    { verdict: 'incomplete', baseline: known },
    'incomplete but for 1 known failure: 1 of 2 required failed, 0 verified',
  ],
  [
    'narrowed to advice',
    'a/b/1 recommended passed',
    { verdict: 'incomplete', selection: { whole: false, skip: [] } },
    'incomplete (narrowed by --only): no required requirement, 1 of 1 recommended',
  ],
  [
    'of one lookup',
    passed,
    { selection: { whole: false, skip: [], replay: 'x@1' } },
    'conformant (narrowed by --replay): 1 of 1 required verified, 1 of 1 recommended',
  ],
];

for (const [when, rows, more, expected] of headlines)
  test(`headline: ${when}`, () => {
    const record = { ...plain, verdict: 'conformant' as const, ...more, requirements: rowsOf(rows) };
    assert.equal(headlineOf(record), expected);
  });

const advice = `${passed}; a/d/1 recommended failed`;
const strictly = (rows: string, more: More = {}) =>
  judgedBy(
    { ...plain, verdict: 'conformant', ...more, requirements: rowsOf(rows) },
    { strict: true, allowIncomplete: false },
  );

test('with --strict, a failed recommended requirement fails the run, and its row and the headline say so', () => {
  const record = strictly(advice);
  const row = record.requirements.at(-1)!;
  assert.equal(record.verdict, 'nonconformant');
  assert.deepEqual(
    [judgementOf(record).ending, headlineOf(record)],
    ['nonconformant', 'nonconformant (--strict): 1 of 1 required verified, 1 of 2 recommended failed'],
  );
  assert.deepEqual([failsRun(record, row), outcomeWords(record, row)], [true, 'failed (--strict)']);
  assert.equal(outcomeWords({ ...record, strict: false }, row), 'failed (warning only)');
});

test('with --strict, a known failure does not fail the run', () => {
  const record = strictly(`${passed}; a/d/1 recommended failed known`, { baseline: known });
  assert.equal(record.verdict, 'conformant');
  assert.deepEqual([judgementOf(record).isGreen, judgementOf(record).tone], [true, 'warning']);
  assert.equal(outcomeWords(record, record.requirements.at(-1)!), 'failed (known)');
});

test('a failure that is only observed never fails a run', () => {
  const [row] = rowsOf('a/d/1 observed failed') as [RequirementResult];
  assert.equal(failsRun({ strict: true }, row), false);
});

const passedRows = sampleRecord.requirements.filter(({ outcome }) => outcome === 'passed');
const whole: RunRecord = {
  ...sampleRecord,
  verdict: 'conformant',
  selection: { whole: true, skip: [] },
  strength: 2,
  coverage: { levels: [182, 182], pairs: [2134, 2134], triples: [11_232, 23_304], missing: [] },
  requirements: passedRows,
  counts: { ...sampleRecord.counts, broken: 0 },
};
const weak: RunRecord = { ...whole, strength: 1, coverage: { ...whole.coverage!, pairs: [1804, 2134] } };
const short: RunRecord = { ...weak, strength: 0, coverage: { ...weak.coverage!, levels: [140, 182] } };

test('strength 2 has no remark in the headline, and the whole report states the combinations', () => {
  assert.match(headlineOf(whole), /^conformant: /);
  assert.equal(
    combinationSentence(whole),
    'conditions tried together: all 2,134 pairs, 11,232 of 23,304 triples',
  );
  assert.doesNotMatch(renderJunit(whole), /run\/strength/);
  assert.deepEqual(nextStep(whole), { words: 'nothing: everything was verified' });
});

test('below strength 2 the headline and JUnit say so, in the same words, and the next step takes longer', () => {
  for (const [record, words] of [
    [weak, 'short run: 1,804 of 2,134 pairs tried'],
    [short, 'short run: 140 of 182 levels tried'],
  ] as const) {
    assert.ok(headlineOf(record).startsWith(`conformant (${words}): `));
    assert.ok(
      renderJunit(record).includes(
        `name="run/strength">\n      <skipped type="strength" message="${words}">`,
      ),
    );
    assert.match(JSON.stringify(nextStep(record)), /--max-duration 6m/);
  }
});

test('a narrowed run states no strength', () => {
  const narrowed: RunRecord = { ...weak, selection: { whole: false, skip: [] } };
  assert.match(headlineOf(narrowed), /^conformant \(narrowed by --only\): /);
  assert.equal(combinationSentence(narrowed), undefined);
  assert.doesNotMatch(renderJunit(narrowed), /run\/strength/);
});
