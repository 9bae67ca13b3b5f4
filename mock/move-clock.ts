import { advanced, LATEST, scaled, setBackBy, setTo, timeOf, type Clock } from './clock.ts';
import { dueBetween, type Due } from './due.ts';
import { tell } from './events.ts';
import { wrongAt } from './refusal.ts';
import type { Overlay } from './overlay.ts';
import { newClock, timeIn, type Sandbox, type Session } from './session.ts';
import type { Lookup } from './store.ts';
import type { World } from './world.ts';

/** What a change of a clock came to; `now` in Unix ms. */
export interface Moved {
  readonly now: number;
  readonly due: Due;
}

/**
 * Moves a world's clock on by so many ms, at once, with everything that hangs on it.
 *
 * @param place how a call names the ms
 * @throws Refusal, 400 where it would go back, or beyond the year 9999
 */
export function advanceClock(session: Session, sandbox: Sandbox, ms: number, place = 'ms'): Moved {
  if (ms < 0) throw wrongAt(place, 'has to be a number from 0 on');
  const now = timeIn(session, sandbox);
  const by = within(place, now + ms) - now;
  return move(session, sandbox, (clock, base) => advanced(clock, base, by));
}

/**
 * Sets a world's clock to a time in Unix ms. Back in time nothing is undone: what was to fall due in
 * 3 s still falls due in 3 s, and only what has a date of its own is held against the new time.
 *
 * @throws Refusal, 400 where it is none between 1970 and 9999
 */
export function setClock(session: Session, sandbox: Sandbox, to: number): Moved {
  const at = within('now', to);
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
  sandbox.world = { ...world, hits: hitsWith(world, (hits) => hits.filter((at) => at <= now)) };
  return move(session, sandbox, () => clock);
}

/**
 * Lets a world's clock pass so many times as fast as the base clock; 0 freezes it.
 *
 * @throws Refusal, 400 where that is no number from 0 on
 */
export function scaleClock(session: Session, sandbox: Sandbox, rate: number): Moved {
  if (!(rate >= 0 && rate < Infinity)) throw wrongAt('rate', 'has to be a number from 0 on');
  return move(session, sandbox, (clock, base) => scaled(clock, base, rate));
}

/** Whole Unix ms that HTTP can write as a date. */
function within(place: string, at: number): number {
  if (at >= 0 && at <= LATEST) return Math.trunc(at);
  throw wrongAt(place, 'goes beyond the times of a clock here: 1970 to 9999');
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
  return {
    ...world,
    createdAt: world.createdAt - ms,
    hits: hitsWith(world, (hits) => hits.map((at) => at - ms)),
    foundAt: new Map(Array.from(world.foundAt, earlier)),
    keys: shiftedSince(world.keys, ms),
    deposits: shiftedSince(world.deposits, ms),
  };
}

/** What a world's limiters have counted, each window through `change`. */
function hitsWith({ hits }: World, change: (hits: readonly number[]) => number[]): World['hits'] {
  const changed = (windows: ReadonlyMap<string, readonly number[]>) =>
    new Map(Array.from(windows, ([countedFor, times]) => [countedFor, change(times)]));
  return { 'user-status': changed(hits['user-status']), 'deposit-check': changed(hits['deposit-check']) };
}

/** What was added, as if it had been so many ms earlier. */
function shiftedSince<Value extends { readonly since?: number }, Base extends Lookup<Value>>(
  overlay: Overlay<Value, Base>,
  ms: number,
): Overlay<Value, Base> {
  const changed = Array.from(overlay.changed, ([id, value]): [string, Value] => [
    id,
    value.since === undefined ? value : { ...value, since: value.since - ms },
  ]);
  return { ...overlay, changed: new Map(changed) };
}
