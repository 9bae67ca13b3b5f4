import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import type { RequirementResult, RunRecord } from '../schemas/generated/types.ts';
import { renderBadge, whyNoBadge } from './badge.ts';
import { renderJson } from './json.ts';
import { anyRecord, hostileText, sampleRecord } from './testing/records.ts';

const whole: RunRecord = {
  ...sampleRecord,
  selection: { whole: true, skip: [] },
  requirements: sampleRecord.requirements.filter(({ outcome }) => outcome !== 'broken'),
};
const recordWith = (verdict: RunRecord['verdict'], ...outcomes: readonly RequirementResult['outcome'][]) => ({
  ...whole,
  verdict,
  requirements: whole.requirements.filter(({ outcome }) => outcomes.includes(outcome)),
});

type Badge = Readonly<Record<string, unknown>>;
const badgeOf = (record: RunRecord) => JSON.parse(renderBadge(record)) as Badge;

for (const [record, message, color, isError] of [
  [whole, '2 failed, 1/7 verified', 'red', true],
  [recordWith('conformant', 'passed'), '1/1 verified', 'brightgreen', false],
  [recordWith('conformant', 'passed', 'excluded'), '1/3 verified', 'green', false],
  [recordWith('incomplete', 'passed', 'inconclusive'), '1/3 verified', 'yellow', false],
] as const)
  test(`the badge of a ${record.verdict} run: ${message}`, () => {
    const badge = badgeOf(record);
    assert.deepEqual(
      [badge['schemaVersion'], badge['label'], badge['message'], badge['color'], badge['isError']],
      [1, 'ib-conformance', message, color, isError],
    );
  });

test('the badge of the mock says so, and is not green', () => {
  const { label, color } = badgeOf({ ...recordWith('conformant', 'passed'), mock: true });
  assert.deepEqual([label, color], ['ib-conformance mock', 'blue']);
});

/** Members that shields.io accepts. It rejects badges with others. */
const known = new Set(
  'schemaVersion label message color labelColor isError namedLogo logoSvg logoColor logoSize style cacheSeconds'.split(
    ' ',
  ),
);

test('the badge has the digest of the json report, and only members that shields.io accepts', () => {
  const badge = badgeOf(whole);
  for (const name of Object.keys(badge)) assert.ok(known.has(name), name);
  const digest = createHash('sha256').update(renderJson(whole)).digest('hex');
  assert.ok(String(badge['logoSvg']).includes(`<metadata>sha256:${digest}</metadata>`));
  const other = badgeOf({ ...whole, durationMs: whole.durationMs + 1 });
  assert.notEqual(other['logoSvg'], badge['logoSvg']);
});

describe('no badge', () => {
  const { selection: _, ...withoutSelection } = whole;
  const refused: Readonly<Record<string, RunRecord>> = {
    'was interrupted': { ...whole, interrupted: true },
    'checked nothing': { ...whole, requirements: [] },
    'a bug of ib-conformance': { ...whole, requirements: sampleRecord.requirements },
    'does not say': withoutSelection,
    'narrowed by --replay': { ...whole, selection: { whole: true, skip: [], replay: '1' } },
    'narrowed by --suite or --only': { ...whole, selection: { whole: false, skip: [] } },
    'narrowed by --skip': { ...whole, selection: { whole: true, skip: ['a/b/c'] } },
  };
  for (const [words, record] of Object.entries(refused))
    test(words, () => {
      const message = new RegExp(`^a badge needs a complete run, but .*${words}`, 's');
      assert.throws(() => renderBadge(record), { name: 'Problem', code: 'usage', message });
    });
});

test('a badge contains no text of the record', () => {
  fc.assert(
    fc.property(anyRecord(hostileText), (record) => {
      const fit = { ...record, interrupted: false, selection: { whole: true, skip: [] } };
      if (whyNoBadge(fit) !== undefined) return;
      const badge = badgeOf(fit);
      assert.match(String(badge['message']), /^(?:\d+ failed, )?\d+\/\d+ verified(?:, strength [01])?$/);
      assert.match(
        String(badge['logoSvg']),
        /^<svg [^<>]+><metadata>sha256:[\da-f]{64}<\/metadata><path [^<>]+\/><\/svg>$/,
      );
    }),
  );
});
