import type { Gap } from '../../schemas/generated/types.ts';
import type { Known } from '../known.ts';
import type { Property, Requirement } from '../requirement.ts';
import { supplies, type Supply } from './supplies.ts';

/** Judged without a state hook too, where the fixture has a deposit that turns by itself. */
const TURNS_BY_ITSELF = 'pending/deposit-check/becomes-executed';

const hookMissing = {
  reason: 'no-state-hook',
  words: 'no state hook was given: nobody but the target can tell',
  mend: 'Give --state-url, a URL that changes the state of the target on request.',
} as const;

const turnMissing = {
  reason: 'no-state-hook',
  words: 'no state hook was given, and no pending deposit of the IB becomes EXECUTED by itself',
  mend: 'Give --state-url, or to deposits add one of a user of the IB such as { "reference_id": "…", "user_id": "…", "state": "pending", "becomes": { "state": "EXECUTED", "amountInUsd": 10, "afterSeconds": 5 } }, if your system does so by itself',
} as const;

const keyMissing = {
  reason: 'no-fixture',
  words: 'the fixture has no active key of a partner',
  mend: 'To apiKeys add one such as { "key": "…", "partner": "…", "state": "active" }',
} as const;

/** Whether any of its requests is made with the key under test. */
const asksAsCaller = (property: Property, known: Known): boolean =>
  property
    .draw(known, { seed: 1, cases: 1 })
    .some(({ requests }) => requests.some(({ credential }) => credential.as === 'caller'));

type Reason = Omit<Gap, 'requirements'>;

/** What no run could judge with this fixture, by what it takes: told without asking the target. */
export function gapsOf(
  requirements: readonly Requirement[],
  known: Known,
  hasStateHook: boolean,
): readonly Gap[] {
  const gaps = new Map<string, Gap>();
  for (const requirement of requirements)
    for (const { reason, words, mend } of reasonsOpen(requirement, known, hasStateHook)) {
      const gap = gaps.get(words) ?? { reason, words, mend, requirements: [] };
      gaps.set(words, { ...gap, requirements: [...gap.requirements, requirement.id] });
    }
  return [...gaps.values()];
}

function reasonsOpen(requirement: Requirement, known: Known, hasStateHook: boolean): readonly Reason[] {
  if (requirement.kind === 'watch') return [];
  if (requirement.kind === 'scenario' && requirement.needsStateHook && !hasStateHook) return [hookMissing];
  const lack = requirement.lacks(known);
  if (lack?.kind === 'unjudged')
    return [{ reason: lack.reason, words: lack.words, mend: mendOf(requirement, known) }];
  if (requirement.kind === 'property' && known.callerKeys.length === 0 && asksAsCaller(requirement, known))
    return [keyMissing];
  const isStill = !hasStateHook && known.becoming.length === 0;
  return requirement.id === TURNS_BY_ITSELF && isStill ? [turnMissing] : [];
}

/** What to add to the fixture for one requirement. */
function mendOf(requirement: Exclude<Requirement, { kind: 'watch' }>, known: Known): string {
  return enough(requirement, known)
    .map(({ part, example }) => `To ${part} add one such as ${example}`)
    .join('; ');
}

/**
 * The fewest supplies with which the fixture suffices for a requirement: one after the other is taken away
 * that is not needed, until all of them are.
 */
export function enough(
  requirement: Exclude<Requirement, { kind: 'watch' }>,
  known: Known,
  given: readonly Supply[] = supplies,
): readonly Supply[] {
  const suffices = (some: readonly Supply[]) =>
    requirement.lacks(some.reduce((richer, { give }) => give(richer), known)) === undefined;
  let needed = given;
  for (const supply of given) {
    const fewer = needed.filter((other) => other !== supply);
    if (suffices(fewer)) needed = fewer;
  }
  return needed.length === given.length ? needed : enough(requirement, known, needed);
}
