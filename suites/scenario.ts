import type { Reply, Trouble } from './answer.ts';
import type { Known } from './known.ts';
import type { Context, ScenarioResult, Scenario, Subject } from './requirement.ts';
import { noFixture, noSecondKey, unjudged, type Observation, type Verdict } from './verdict.ts';

/** How a scenario requirement is written down. */
export interface ScenarioSpec extends Subject {
  /** What the fixture would have to hold for it, in words; undefined where it holds enough. */
  readonly lacks?: (known: Known) => string | undefined;
  /** Whether it takes an active key of another partner. */
  readonly needsSecondKey?: boolean;
  /** Whether nobody can tell without a state hook. */
  readonly needsStateHook?: boolean;
  readonly run: (context: Context, known: Known) => Promise<ScenarioResult>;
}

/** Makes a requirement that sends requests of its own. */
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
  run,
  ...spec
}: Omit<ScenarioSpec, 'level' | 'run'> & {
  readonly run: (context: Context, known: Known) => Promise<Observation | Verdict>;
}): Scenario {
  return scenario({
    ...spec,
    level: 'observed',
    run: async (context, known) => {
      let unsent: Trouble | undefined;
      const send: Context['send'] = async (...requests) => {
        const replies = await context.send(...requests);
        unsent ??= replies.find(isUnsent);
        return replies;
      };
      const finding = await run({ ...context, send }, known);
      const isNothing = finding.kind === 'observed' && unsent !== undefined;
      return { finding: isNothing ? unjudged(unsent!.code, unsent!.words) : finding };
    },
  });
}

/** A time-out and a reset are what the target does; that a run had no time or no room left is not. */
const isUnsent = (reply: Reply): reply is Trouble =>
  reply.kind === 'trouble' && reply.code !== 'timeout' && reply.code !== 'network';
