import type { Known } from './known.ts';
import type { Doors, Played, Scenario, Subject } from './requirement.ts';
import { noFixture, noSecondKey, type Observation, type Verdict } from './verdict.ts';

/** How a scenario requirement is written down. */
export interface ScenarioSpec extends Subject {
  /** What the fixture would have to hold for it, in words; undefined where it holds enough. */
  readonly lacks?: (known: Known) => string | undefined;
  /** Whether it takes an active key of another partner. */
  readonly needsSecondKey?: boolean;
  /** Whether nobody can tell without a state hook. */
  readonly needsStateHook?: boolean;
  readonly play: (doors: Doors, known: Known) => Promise<Played>;
}

/** Makes a requirement that follows a story. */
export function scenario({ lacks, needsSecondKey, needsStateHook, ...spec }: ScenarioSpec): Scenario {
  return {
    ...spec,
    kind: 'scenario',
    needsStateHook: needsStateHook ?? false,
    lacks: (known) => {
      if (needsSecondKey === true && known.otherKeys.length === 0) return noSecondKey;
      if (known.callerKeys.length === 0) return noFixture('active key of a partner');
      const missing = lacks?.(known);
      return missing === undefined ? undefined : noFixture(missing);
    },
  };
}

/** Makes a requirement that records what a target does where the interface is silent, and never judges it. */
export function observing({
  play,
  ...spec
}: Omit<ScenarioSpec, 'level' | 'play'> & {
  readonly play: (doors: Doors, known: Known) => Promise<Observation | Verdict>;
}): Scenario {
  return scenario({
    ...spec,
    level: 'observed',
    play: async (doors, known) => ({ finding: await play(doors, known) }),
  });
}
