import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import validateRunRecord from '../../schemas/generated/run-record.cjs';
import { scenario } from '../scenario.ts';
import { sampleKnown as known } from '../sample-known.ts';
import { failed, held, observed, unjudged } from '../verdict.ts';
import { createDescriber, makeRecord, type Result } from './record.ts';
import { createTraffic } from './traffic.ts';

/** The record of a run with these results. */
function recordOf(...results: readonly Result[]) {
  const requirements = results.map((_, nth) =>
    scenario({
      id: `valid/user-status/${nth}`,
      level: 'required',
      clause: '',
      title: '',
      play: assert.fail,
    }),
  );
  const options = { target: 'http://here', known, seed: 1, cases: 100, version: 'test' };
  const describeResult = createDescriber(options);
  const list = requirements.map((one, nth) => describeResult(one, results[nth]!));
  const figures = {
    startedAt: 0,
    durationMs: 1,
    requests: 1,
    rateLimited: { answers: 0, waitedMs: 0 },
    keyWorks: true,
    interrupted: false,
  };
  const record = makeRecord(options, list, figures, createTraffic(0).figures());
  assert.ok(validateRunRecord(record), JSON.stringify(validateRunRecord.errors));
  return record;
}

const whole: Result = { verdict: held, cases: 100 };
const shallow: Result = { verdict: held, cases: 5, planned: 90 };

describe('the note of a cut', () => {
  for (const [results, words] of [
    [[whole], undefined],
    [[whole, shallow], '1 requirement passed on 5 of 90 inputs'],
    [[shallow, shallow, whole], '2 requirements passed on 10 of 180 inputs'],
    // What did not pass says itself why.
    [[{ ...shallow, verdict: failed('status', '200', '404') }], undefined],
    [[{ ...shallow, verdict: unjudged('budget', 'no time') }], undefined],
    [[{ ...shallow, verdict: observed('so') }], undefined],
  ] as const)
    test(words ?? 'none', () => {
      const { notes, requirements } = recordOf(...results);
      assert.equal(notes.length, words === undefined ? 0 : 1);
      if (words === undefined) return;
      assert.ok(notes[0]!.startsWith(`Shallower than asked for: ${words}, spread evenly`), notes[0]);
      assert.match(notes[0]!, /--max-duration, --max-requests/);
      const cut = requirements.filter(({ planned }) => planned !== undefined);
      assert.equal(cut.length, results.filter((result) => result === shallow).length);
    });
});
