import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sampleRecord } from '../reports/testing/records.ts';
import type { RunRecord } from '../schemas/generated/types.ts';
import { judgedBy } from '../reports/judgement.ts';
import { fixes, fixOf } from '../reports/unverified.ts';
import type { Exclusion, Reason } from '../suites/rules/verdict.ts';
import { describeError, exitCodeOf } from './exit-codes.ts';

/** A conformant run that did not try every level. */
const short: RunRecord = {
  ...sampleRecord,
  verdict: 'conformant',
  selection: { whole: true, skip: [] },
  strength: 0,
  requirements: sampleRecord.requirements.filter(({ outcome }) => outcome === 'passed'),
  counts: { ...sampleRecord.counts, broken: 0 },
};
const { id } = short.requirements[0]!;

for (const [what, record, flags, code] of [
  ['less than every level', short, {}, 0],
  ['less than every level, with --strict', short, { strict: true }, 3],
  ['that, with --allow-incomplete', short, { strict: true, allowIncomplete: true }, 0],
  ['every level, with --strict', { ...short, strength: 1 }, { strict: true }, 0],
  ['a narrowed run, with --strict', { ...short, selection: { whole: false, skip: [] } }, { strict: true }, 0],
  ['with --skip and --strict', { ...short, selection: { whole: true, skip: [id] } }, { strict: true }, 0],
] as const satisfies readonly (readonly [string, RunRecord, object, number])[])
  test(`${what}: exit code ${code}`, () => {
    assert.equal(exitCodeOf(judgedBy(record, { strict: false, allowIncomplete: false, ...flags })), code);
  });

/** What --allow-incomplete excuses: missing data and time. */
const excused =
  'no-fixture no-second-key fixture-outdated budget rate-limited limit-not-reached not-compared timing-window';

/** These do not compile if a reason has no fix, or a fix has no reason. */
const ofEveryReason: Readonly<Record<Reason | Exclusion, string>> = fixes;
const isReason = (known: keyof typeof fixes): known is Reason | Exclusion => known in ofEveryReason;

for (const [properties, pattern] of [
  [
    { code: 'ERR_ACCESS_DENIED', permission: 'FileSystemRead', resource: '/x' },
    /refuses FileSystemRead \/x: allow/,
  ],
  [{ name: 'NotCapable', message: 'Requires net access to "x", run again with --allow-net' }, /--allow-net$/],
] as const)
  test(`a missing permission is named, and is no bug of ours: ${pattern.source}`, () => {
    const { code, message } = describeError(Object.assign(new Error(), properties));
    assert.equal(code, 2);
    assert.match(message, pattern);
  });

test('an unknown reason has no fix', () => assert.equal(fixOf('toString'), undefined));

for (const reason of Object.keys(fixes)) {
  const code = excused.split(' ').includes(reason) ? 0 : 3;
  test(`--allow-incomplete, and a required requirement is open because of ${reason}: exit code ${code}, and a fix`, () => {
    assert.ok(isReason(reason as keyof typeof fixes) && fixOf(reason));
    const row = { ...short.requirements[0]!, level: 'required', outcome: 'inconclusive', reason, words: '' };
    const requirements = [...short.requirements, row as RunRecord['requirements'][number]];
    const given = { strict: false, allowIncomplete: true };
    for (const targetLost of [false, true]) {
      const record = { ...short, verdict: 'incomplete' as const, requirements, targetLost };
      assert.equal(exitCodeOf(judgedBy(record, given)), targetLost ? 3 : code);
    }
  });
}
