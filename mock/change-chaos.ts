import { Problem } from '../schemas/problem.ts';
import { queuedChaos, type QueuedChaos } from './chaos-queue.ts';
import { parseChaos, specOf } from './chaos-spec.ts';
import { chaosName } from './chaos.ts';
import { newChaos } from './chaos-state.ts';
import { tell } from './events.ts';
import type { Sandbox, Session } from './session.ts';

/** Most entries of a queue, each for as many requests as it says. */
const MOST_QUEUED = 1000;

/** What befalls the requests of a world, as it can be set. */
export interface ShownChaos {
  readonly chaos: readonly string[];
  readonly seed: number;
  /** What befalls the next requests first. */
  readonly next: readonly { readonly kind: string; readonly count: number }[];
}

export function shownChaos({ chaos: { plan, seed, queue } }: Sandbox): ShownChaos {
  const next = queue.map(({ action, count }) => ({ kind: chaosName(action), count }));
  return { chaos: plan.map(specOf), seed, next };
}

/**
 * Sets what is drawn for the requests of a world; their numbers begin anew. What is queued stays.
 *
 * @throws Problem of code `usage`
 */
export function setChaos(
  session: Session,
  sandbox: Sandbox,
  specs: readonly string[] | undefined,
  seed = sandbox.chaos.seed,
): ShownChaos {
  const { plan, queue } = sandbox.chaos;
  sandbox.chaos = { ...newChaos(specs === undefined ? plan : parseChaos(specs), seed), queue };
  const shown = shownChaos(sandbox);
  changed(session, sandbox, shown.chaos.length === 0 ? 'no chaos' : `chaos ${shown.chaos.join(', ')}`);
  return shown;
}

/**
 * Queues an action for the next `count` requests of a world, behind what is queued.
 *
 * @throws Problem of code `usage`
 */
export function queueChaos(session: Session, sandbox: Sandbox, kind: string, count = 1): ShownChaos {
  const { queue } = sandbox.chaos;
  const queued: QueuedChaos = queuedChaos(kind, count);
  if (queue.length >= MOST_QUEUED)
    throw new Problem(
      'usage',
      `chaos ${kind}: ${MOST_QUEUED} calls are queued already; a count says more with one`,
    );
  sandbox.chaos.queue = [...queue, queued];
  changed(session, sandbox, `chaos ${kind} for the next ${count}`);
  return shownChaos(sandbox);
}

function changed(session: Session, { name }: Sandbox, what: string): void {
  tell(session.watchers, () => ({ kind: 'change', world: name, what }));
}
