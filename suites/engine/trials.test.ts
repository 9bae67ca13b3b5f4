import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { answerOf } from '../sample-answers.ts';
import { userStatus } from '../request.ts';
import { depends, held, unjudged, type Verdict } from '../verdict.ts';
import { summarize, type Trial } from './trial.ts';
import { createTrials } from './trials.ts';

const verdicts: readonly Verdict[] = [held, depends('valid/user-status/member'), unjudged('timeout', 'no')];

/** Trials at distinct places, in the order in which they were done. */
const manyTrials = fc.uniqueArray(
  fc.record({ index: fc.nat(10_000), verdict: fc.constantFrom(...verdicts) }),
  { selector: ({ index }) => index, maxLength: 60 },
);
const trialOf = (index: number, verdict: Verdict): Trial => ({
  verdict,
  deliveries: [{ request: userStatus(String(index)), reply: answerOf(200, { index }) }],
  keyWorks: true,
});
const inOrder = (trials: ReadonlyMap<number, Trial>) => [...trials].toSorted(([a], [b]) => a - b);

test('what is let go of is missed by no summary, whatever comes first; the rest is let go of', () => {
  fc.assert(
    fc.property(manyTrials, (list) => {
      const all = new Map(list.map(({ index, verdict }) => [index, trialOf(index, verdict)]));
      const trials = createTrials();
      for (const [index, trial] of all) trials.take(index, trial);
      assert.equal(trials.size, all.size);
      const [found, expected] = [trials, all].map((one) => summarize(inOrder(one), undefined));
      // Of inputs that held nothing is shown.
      assert.deepEqual(found, expected);
      assert.ok([...trials.values()].filter(({ deliveries }) => deliveries.length > 0).length <= 3);
    }),
  );
});

test('what failed is kept whole, for it is asked about again', () => {
  const trials = createTrials();
  const failed = { kind: 'failed', aspect: 'status', expected: '200', actual: '500' } as const;
  for (const index of [3, 1, 2]) trials.take(index, trialOf(index, failed));
  assert.ok([...trials.values()].every(({ deliveries }) => deliveries.length === 1));
});
