import type { Known } from '../known.ts';
import { lackOf } from '../needs.ts';
import type { Requirement } from '../requirement.ts';
import { noStateHook, unjudged } from '../verdict.ts';
import type { Result } from './record.ts';

/** What decides whether a requirement can be checked, whatever the target does. */
export interface Preconditions {
  readonly known: Known;
  /** Ids that are left out on request. */
  readonly skip: ReadonlySet<string>;
  readonly hasStateHook: boolean;
}

/** The result of a requirement that is not checked; undefined if it is. */
export function checkPreconditions(
  requirement: Requirement,
  { known, skip, hasStateHook }: Preconditions,
): Result | undefined {
  if (skip.has(requirement.id))
    return { verdict: { kind: 'excluded', reason: 'skipped', words: 'left out on request' }, cases: 0 };
  if (requirement.kind === 'scenario' && requirement.needsStateHook && !hasStateHook)
    return { verdict: noStateHook('nobody but the target can tell'), cases: 0 };
  const lack = lackOf(requirement, known);
  return lack && { verdict: unjudged(lack.reason, lack.words), cases: 0 };
}
