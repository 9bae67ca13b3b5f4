import { setImmediate } from 'node:timers/promises';
import { drawn } from './drawn.ts';
import { examined, type PlanOptions } from './plan.ts';

/**
 * Draws the inputs that a plan and a run are made of, a requirement at a time: a hundred thousand of each
 * take a while, and whoever wants it ended is heard in between. They are at hand from then on.
 */
export async function drawAhead(
  options: Pick<PlanOptions, 'known' | 'requirements' | 'skip' | 'seed' | 'cases'>,
  signal: AbortSignal,
): Promise<void> {
  for (const property of examined(options)) {
    if (signal.aborted) return;
    drawn(property, options.known, options);
    await setImmediate();
  }
}
