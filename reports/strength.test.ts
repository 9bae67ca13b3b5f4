import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RunRecord } from '../schemas/generated/types.ts';
import { headlineOf } from './judgement.ts';
import { renderJunit } from './junit.ts';
import { nextStep } from './next-step.ts';
import { combinationSentence } from './strength.ts';
import { sampleRecord } from './testing/records.ts';

const passed = sampleRecord.requirements.filter(({ outcome }) => outcome === 'passed');
const whole: RunRecord = {
  ...sampleRecord,
  verdict: 'conformant',
  selection: { whole: true, skip: [] },
  strength: 2,
  coverage: { levels: [182, 182], pairs: [2134, 2134], triples: [11_232, 23_304], missing: [] },
  requirements: passed,
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
