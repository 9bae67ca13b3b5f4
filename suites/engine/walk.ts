import type { Requirement } from '../requirement.ts';

/**
 * Works on the requirements of a lane, one after another and turn after turn; whoever has begun all
 * of a turn is not waited for, so that the target is never without work. What is no property tells a
 * story of its own: it begins when everything before it has ended.
 *
 * @param turns inputs that each requirement has had when its turn is over
 * @param work calls `onBegun` when nothing of a turn is left to begin
 */
export async function walk(
  lane: readonly Requirement[],
  turns: readonly number[],
  work: (requirement: Requirement, inputs: number, onBegun: () => void) => Promise<void>,
): Promise<void> {
  const underWay = new Map<Requirement, Promise<void>>();
  for (const inputs of turns)
    for (const requirement of lane) {
      if (requirement.kind === 'property') await underWay.get(requirement);
      else await Promise.all(underWay.values());
      await new Promise<void>((begun) => {
        const turn = work(requirement, inputs, begun);
        underWay.set(requirement, turn);
        turn.then(begun, begun);
      });
    }
  await Promise.all(underWay.values());
}
