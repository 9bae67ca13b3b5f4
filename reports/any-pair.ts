import * as fc from 'fast-check';
import type { RunRecord } from '../schemas/generated/types.ts';
import { anyRecord } from './any-record.ts';

/** Two records that have some ids in common, each id once in either, with texts drawn from `text`. */
export function anyPair(text: fc.Arbitrary<string>): fc.Arbitrary<readonly [RunRecord, RunRecord]> {
  const suffix = fc.option(fc.constantFrom('a', 'b', 'c', 'd', 'e'), { nil: undefined });
  const one = fc.tuple(anyRecord(text), fc.array(suffix, { minLength: 12, maxLength: 12 }));
  return fc.tuple(one, one).map(([before, after]) => [named(before), named(after)] as const);
}

/** Gives requirements ids that the other record may have as well. */
function named([record, suffixes]: readonly [RunRecord, readonly (string | undefined)[]]): RunRecord {
  const seen = new Set<string>();
  const requirements = record.requirements
    .map((result, at) => (suffixes[at] === undefined ? result : { ...result, id: `auth/${suffixes[at]}` }))
    .filter(({ id }) => !seen.has(id) && seen.add(id));
  return { ...record, requirements };
}
