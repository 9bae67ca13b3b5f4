import { advanced, scaled, setBackBy, setTo, timeOf, type Clock } from './clock.ts';
import { dueBetween, type Due } from './due.ts';
import { tell } from './events.ts';
import { newClock, timeIn, type Sandbox, type Session } from './session.ts';
import type { Deposit, World } from './world.ts';

/** What a change of a clock came to; `now` in Unix ms. */
export interface Moved {
  readonly now: number;
  readonly due: Due;
}

/** Moves a world's clock on by so many ms, at once, with everything that hangs on it. */
export function advanceClock(session: Session, sandbox: Sandbox, ms: number): Moved {
  return move(session, sandbox, (clock, base) => advanced(clock, base, ms));
}

/**
 * Sets a world's clock to a time in Unix ms. Back in time nothing is undone: what was to fall due in
 * 3 s still falls due in 3 s, and only what has a date of its own is held against the new time.
 */
export function setClock(session: Session, sandbox: Sandbox, at: number): Moved {
  const back = Math.max(0, timeIn(session, sandbox) - at);
  if (back > 0) sandbox.world = shifted(sandbox.world, back);
  return move(session, sandbox, (clock, base) => setBackBy(setTo(clock, base, at), back));
}

/**
 * Makes a world's clock what it was at first. What became due since, by leaps of the clock, is undone,
 * and what was counted in a time that is now to come is forgotten.
 */
export function resetClock(session: Session, sandbox: Sandbox): Moved {
  const clock = newClock(session.options, session.startedAt);
  const now = timeOf(clock, session.now());
  const world = shifted(sandbox.world, -sandbox.clock.setBack);
  for (const [window, hits] of world.hits)
    world.hits.set(
      window,
      hits.filter((at) => at <= now),
    );
  sandbox.world = world;
  return move(session, sandbox, () => clock);
}

/** Lets a world's clock pass so many times as fast as the base clock; 0 freezes it. */
export function scaleClock(session: Session, sandbox: Sandbox, rate: number): Moved {
  return move(session, sandbox, (clock, base) => scaled(clock, base, rate));
}

function move(session: Session, sandbox: Sandbox, change: (clock: Clock, base: number) => Clock): Moved {
  const base = session.now();
  const from = timeOf(sandbox.clock, base);
  sandbox.clock = change(sandbox.clock, base);
  const now = timeOf(sandbox.clock, base);
  const due = dueBetween(sandbox.service.behaviour, sandbox.world, from, now);
  tell(session.watchers, () => ({ kind: 'clock', world: sandbox.name, now, due }));
  return { now, due };
}

/** The world with all that it has counted from the clock so many ms earlier. */
function shifted(world: World, ms: number): World {
  if (ms === 0) return world;
  const earlier = ([id, at]: readonly [string, number]) => [id, at - ms] as const;
  const changed = Array.from(world.deposits.changed, ([id, deposit]): [string, Deposit] => [
    id,
    deposit.since === undefined ? deposit : { ...deposit, since: deposit.since - ms },
  ]);
  return {
    ...world,
    createdAt: world.createdAt - ms,
    hits: new Map(Array.from(world.hits, ([window, hits]) => [window, hits.map((at) => at - ms)])),
    foundAt: new Map(Array.from(world.foundAt, earlier)),
    deposits: { ...world.deposits, changed: new Map(changed) },
  };
}
