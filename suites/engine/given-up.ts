import type { Known } from '../known.ts';
import type { Requirement } from '../requirement.ts';
import { noStateHook } from '../verdict.ts';
import type { Result } from './record.ts';

/** What a run leaves out whatever the target does. */
export interface Terms {
  readonly known: Known;
  /** Ids that are left out on request. */
  readonly skip: ReadonlySet<string>;
  readonly hasStateHook: boolean;
}

/** What can be said of a requirement before anything is sent for it; undefined where it is to be tried. */
export function givenUp(requirement: Requirement, { known, skip, hasStateHook }: Terms): Result | undefined {
  if (skip.has(requirement.id))
    return { verdict: { kind: 'excluded', reason: 'skipped', words: 'left out on request' }, cases: 0 };
  if (requirement.kind === 'watch') return undefined;
  if (requirement.kind === 'scenario' && requirement.needsStateHook && !hasStateHook)
    return { verdict: noStateHook('nobody but the target can tell'), cases: 0 };
  const lack = requirement.lacks(known);
  return lack === undefined ? undefined : { verdict: lack, cases: 0 };
}
