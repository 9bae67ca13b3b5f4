import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { RequirementResult } from '../../schemas/generated/types.ts';
import { anchorsOf } from './parts.ts';
import { hostileText } from '../testing/arbitraries.ts';
import { sampleRecord } from '../testing/records.ts';

const resultsOf = (ids: readonly string[]) =>
  ids.map((id): RequirementResult => ({ ...sampleRecord.requirements[0]!, id }));

test('the anchor of a requirement is its id', () => {
  const anchorOf = anchorsOf(sampleRecord.requirements, ['findings']);
  for (const result of sampleRecord.requirements) assert.equal(anchorOf(result), result.id);
});

test('what would stand twice is numbered', () => {
  const results = resultsOf(['a/b', 'findings', 'a/b', 'a b', '', 'a/b-2']);
  assert.deepEqual(results.map(anchorsOf(results, ['findings'])), [
    'a/b',
    'findings-2',
    'a/b-2',
    'a_b',
    '_',
    'a/b-2-2',
  ]);
});

test('whatever the ids, anchors are short, plain, and stand once', () => {
  fc.assert(
    fc.property(fc.array(hostileText), (ids) => {
      const results = resultsOf(ids);
      const anchors = results.map(anchorsOf(results, ['_', 'a']));
      assert.equal(new Set([...anchors, '_', 'a']).size, ids.length + 2);
      for (const anchor of anchors) assert.match(anchor, /^[\w./-]{1,130}$/);
    }),
  );
});
