import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RunRecord } from '../schemas/generated/types.ts';
import { renderJunit } from './junit.ts';
import { sampleRecord } from './testing/records.ts';
import { conclusion, nextStep } from './verdict.ts';

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

test('strength 2 has no remark in the headline, and the summary states it', () => {
  const [headline, ...rest] = conclusion(whole);
  assert.match(headline, /^conformant: /);
  assert.ok(rest.includes('strength 2: all 2,134 pairs, 11,232 of 23,304 triples'));
  assert.doesNotMatch(renderJunit(whole), /run\/strength/);
  assert.deepEqual(nextStep(whole), { words: 'nothing: everything was verified' });
});

test('below strength 2 the headline and JUnit say so', () => {
  assert.match(conclusion(weak)[0], /^conformant \(short run: 1,804 of 2,134 pairs tried\): 1 of 1 required/);
  assert.match(
    renderJunit(weak),
    /name="run\/strength" time="0">\s*<skipped type="strength" message="strength 1: /,
  );
  assert.match(JSON.stringify(nextStep(weak)), /--max-duration 1m/);
});

test('below strength 1 the headline counts levels, and no strength is an error in JUnit', () => {
  const short: RunRecord = { ...weak, strength: 0, coverage: { ...weak.coverage!, levels: [140, 182] } };
  assert.match(conclusion(short)[0], /^conformant \(short run: 140 of 182 levels tried\): /);
  assert.match(renderJunit(short), /name="run\/strength" time="0">\s*<skipped type="strength"/);
});

test('levels missing from the fixture are listed, and counted beyond a maximum', () => {
  const missing = ['a', 'b', 'c', 'd'].map((level) => `user-status, key: ${level}`);
  const record = { ...whole, coverage: { ...whole.coverage!, missing } };
  const lastSentence = (most: number) => conclusion(record, most).at(-1);
  assert.equal(
    lastSentence(4),
    'levels missing from the fixture: user-status, key: a; user-status, key: b; user-status, key: c; user-status, key: d',
  );
  assert.equal(lastSentence(2), 'levels missing from the fixture: user-status, key: a; 3 more');
});

test('a narrowed run, and a record of version 0.1.0, need no strength', () => {
  const { strength: _, coverage: __, ...old } = weak;
  const narrowed: RunRecord = { ...weak, selection: { whole: false, skip: [] } };
  for (const record of [old as RunRecord, narrowed]) {
    assert.match(conclusion(record)[0], /^conformant(?: \(narrowed by --only\))?: /);
    assert.ok(!conclusion(record).some((sentence) => sentence.startsWith('strength')));
    assert.doesNotMatch(renderJunit(record), /run\/strength/);
  }
  const junit = (more: Partial<RunRecord>) => renderJunit({ ...narrowed, mock: true, ...more });
  assert.match(junit({}), /name="run\/selection" time="0">\s*<skipped [^>]*"narrowed by --only">/);
  assert.match(junit({}), /name="run\/target" time="0">\s*<skipped [^>]*the built-in mock was verified">/);
  const { required } = whole.counts;
  const counts = { ...whole.counts, required: { ...required, passed: 0 } };
  assert.match(junit({ verdict: 'incomplete', counts }), /name="run\/selection" time="0">\s*<error /);
});
