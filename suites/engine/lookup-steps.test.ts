import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endpointNames } from '../../schemas/endpoints.ts';
import { catalogue } from '../requirements/catalogue.ts';
import { isLookupRow } from '../rules/requirement.ts';
import { askedBy, costOf } from '../limits/limit.ts';
import { createLookups } from '../plan/lookups.ts';
import { sampleKnown } from '../testing/samples.ts';
import { accountOf } from './lookup-steps.ts';

test('lookups wait for the same limiter only if they count together, or if none of them may', () => {
  const known = sampleKnown;
  const rows = catalogue.filter(isLookupRow);
  const lookups = createLookups({ known, seed: 7, cases: 400 }, rows);
  for (const endpoint of endpointNames)
    for (const lookup of lookups.next(endpoint, 'requirement', 'level', 'pair', 'example')) {
      const { facts, levels, request } = lookup;
      const isAccepted = facts.key === 'accepted' || facts.key === 'open';
      const isSecond = levels['active key'] === 'second';
      const [account, ...key] = accountOf(lookup, known).split(/, (?=[^,]*$)/);
      const own = `${levels.key}, ${levels['active key']}, ${costOf(facts)}`;
      assert.equal(account, isAccepted ? own : 'none');
      if (isAccepted) assert.deepEqual(key, [isSecond ? askedBy(known, request).key : '']);
    }
});
