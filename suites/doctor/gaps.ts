import type { Gap } from '../../schemas/generated/types.ts';
import type { Known } from '../known.ts';
import { lackOf } from '../needs.ts';
import type { Requirement } from '../requirement.ts';

type Reason = Omit<Gap, 'requirements'>;

const hookMissing: Reason = {
  reason: 'no-state-hook',
  words: 'no state hook was given: nobody but the target can tell',
  mend: 'Give --state-url, a URL that changes the state of the target on request.',
};

const transitionMissing: Reason = {
  reason: 'no-state-hook',
  words: 'no state hook was given, and no pending deposit of the IB becomes EXECUTED by itself',
  mend: 'Give --state-url, or to deposits add one of a user of the IB such as { "reference_id": "…", "user_id": "…", "state": "pending", "becomes": { "state": "EXECUTED", "amountInUsd": 10, "afterSeconds": 5 } }, if your system does so by itself',
};

/** The requirements that a run cannot judge with this fixture, by reason. Asks the target nothing. */
export function gapsOf(
  requirements: readonly Requirement[],
  known: Known,
  hasStateHook: boolean,
): readonly Gap[] {
  const gaps = new Map<string, Gap>();
  for (const requirement of requirements) {
    const reason = gapOf(requirement, known, hasStateHook);
    if (reason === undefined) continue;
    const { requirements: others } = gaps.get(reason.words) ?? { requirements: [] };
    gaps.set(reason.words, { ...reason, requirements: [...others, requirement.id] });
  }
  return [...gaps.values()];
}

function gapOf(requirement: Requirement, known: Known, hasStateHook: boolean): Reason | undefined {
  const needsHook = requirement.kind === 'scenario' && requirement.needsStateHook === true;
  if (needsHook && !hasStateHook) return hookMissing;
  // Without a hook, a deposit of the fixture that becomes EXECUTED by itself suffices.
  const isStill = !hasStateHook && known.becoming.length === 0;
  const becomes = requirement.id === 'pending/deposit-check/becomes-executed';
  return lackOf(requirement, known) ?? (becomes && isStill ? transitionMissing : undefined);
}
