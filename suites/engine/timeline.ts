import type { Traffic, TrafficStep } from '../../schemas/generated/types.ts';

/** Steps at most. */
const MOST = 120;
const FIRST_STEP_MS = 10;

/** What happened when, in steps of one length. */
export interface Timeline {
  /** @param at in ms of the engine's clock */
  readonly add: (at: number, what: keyof TrafficStep) => void;
  readonly figures: () => Traffic['timeline'];
}

/** Whenever the run outgrows its steps they are made twice as long, so their number stays bounded. */
export function createTimeline(startedAt: number): Timeline {
  let stepMs = FIRST_STEP_MS;
  let steps: TrafficStep[] = [];
  const indexOf = (at: number) => Math.floor(Math.max(0, at - startedAt) / stepMs);
  return {
    add: (at, what) => {
      while (indexOf(at) >= MOST) {
        stepMs *= 2;
        steps = inPairs(steps);
      }
      while (steps.length <= indexOf(at)) steps.push({ ...nothing });
      steps[indexOf(at)]![what]++;
    },
    figures: () => ({ stepMs, steps: steps.map((step) => ({ ...step })) }),
  };
}

const nothing: TrafficStep = { answers: 0, limited: 0, troubles: 0 };

function inPairs(steps: readonly TrafficStep[]): TrafficStep[] {
  return Array.from({ length: Math.ceil(steps.length / 2) }, (_, at) => {
    const [first, second] = [steps[2 * at]!, steps[2 * at + 1] ?? nothing];
    return {
      answers: first.answers + second.answers,
      limited: first.limited + second.limited,
      troubles: first.troubles + second.troubles,
    };
  });
}
