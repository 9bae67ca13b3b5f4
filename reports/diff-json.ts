import type { RunRecord } from '../schemas/generated/types.ts';
import type { Comparison } from './diff.ts';
import { inert } from './json.ts';

/** A comparison of two runs for programs: each changed requirement with what both runs say of it. */
export function renderDiffJson({ tendency, before, after, caveats, changes }: Comparison): string {
  const data = {
    format: 'ib-conformance/diff/1',
    tendency,
    before: nameOf(before),
    after: nameOf(after),
    caveats,
    unchanged: changes.filter(({ kind }) => kind === 'unchanged').map(({ id }) => id),
    changes: changes.filter(({ kind }) => kind !== 'unchanged'),
  };
  return `${inert(JSON.stringify(data, undefined, 2))}\n`;
}

function nameOf({ version, verdict, target, partner, seed, cases, startedAt, interrupted }: RunRecord) {
  return { version, verdict, target, partner, seed, cases, startedAt, interrupted };
}
