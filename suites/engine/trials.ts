import { isGap, type Trial } from './trial.ts';

/** The trials of a requirement, by their place in the draw. */
export interface Trials extends ReadonlyMap<number, Trial> {
  readonly take: (index: number, trial: Trial) => void;
}

/** Takes trials in, and lets go of the answers that no judgement can show: of many alike it shows the first. */
export function createTrials(): Trials {
  const trials = new Map<number, Trial>();
  const shown = new Map<string, number>();
  const strip = (index: number, trial: Trial) => trials.set(index, { ...trial, deliveries: [] });
  const take = (index: number, trial: Trial) => {
    const { kind } = trial.verdict;
    trials.set(index, trial);
    if (kind === 'failed') return;
    const like = isGap(trial) ? 'gap' : kind;
    const before = shown.get(like);
    if (before !== undefined) strip(Math.max(before, index), before > index ? trials.get(before)! : trial);
    shown.set(like, Math.min(before ?? index, index));
  };
  return Object.assign(trials, { take });
}
