import type { Endpoint } from '../schemas/endpoints.ts';
import type { Behaviour } from './behaviour.ts';
import { gaugesOf } from './limiter.ts';
import type { ClockMode } from './options.ts';
import { wrongAt, LATEST, tell, timeIn, timeOf } from './session.ts';
import type { Clock, Due, Sandbox, Session } from './session.ts';
import { dueAt, eachOf, expiryOf, lookIn, type Overlay, type World } from './world.ts';

/** The clock of a world. */
export interface ShownClock {
  /** Unix ms. */
  readonly now: number;
  readonly iso: string;
  readonly mode: ClockMode;
  /** How many times as fast as usual it runs. */
  readonly rate: number;
  readonly frozen: boolean;
}

/** A clock that was changed, and what fell due. */
export interface Moved extends ShownClock {
  readonly due: Due;
}

export function shownClock(session: Session, sandbox: Sandbox): ShownClock {
  const { mode, rate } = sandbox.clock;
  const now = timeIn(session, sandbox);
  return { now, iso: new Date(now).toISOString(), mode, rate, frozen: rate === 0 };
}

/**
 * Moves a world's clock on by so many ms.
 *
 * @param place how a call names the ms
 * @throws Refusal, 400 where it would go back, or beyond the year 9999
 */
export function advanceClock(session: Session, sandbox: Sandbox, ms: number, place = 'ms'): Moved {
  if (ms < 0) throw wrongAt(place, 'must be a number from 0 on');
  const at = inRange(place, timeIn(session, sandbox) + ms);
  return move(session, sandbox, { at });
}

/**
 * Sets a world's clock to a time in Unix ms. Back in time nothing is undone: what was to fall due in
 * 3 s still falls due in 3 s, and only a date in the fixture is compared with the new time.
 *
 * @throws Refusal, 400 where it is not between 1970 and 9999
 */
export function setClock(session: Session, sandbox: Sandbox, to: number): Moved {
  const at = inRange('now', to);
  const back = timeIn(session, sandbox) - at;
  if (back > 0) sandbox.world = earlier(sandbox.world, back);
  return move(session, sandbox, { at });
}

/** Lets a world's clock show what it would if nobody had moved it. What was counted after that is forgotten. */
export function resetClock(session: Session, sandbox: Sandbox): Moved {
  const { firstClock, world } = sandbox;
  const now = timeOf(firstClock, session.now());
  const shifted = earlier(world, world.createdAt - firstClock.at);
  for (const endpoint of Object.keys(shifted.hits) as Endpoint[])
    for (const [countedFor, hits] of shifted.hits[endpoint]) {
      const limit = sandbox.service.behaviour.limit(world, endpoint, lookIn(world.keys, countedFor));
      const kept = hits.filter((at) => at <= now + (limit?.windowMs ?? 0));
      shifted.hits[endpoint].set(countedFor, kept);
    }
  sandbox.world = shifted;
  return move(session, sandbox, firstClock);
}

/**
 * Lets a world's clock pass so many times as fast as the base clock; 0 freezes it.
 *
 * @throws Refusal, 400 where that is no number from 0 on
 */
export function scaleClock(session: Session, sandbox: Sandbox, rate: number): Moved {
  if (!(rate >= 0 && rate < Infinity)) throw wrongAt('rate', 'must be a number from 0 on');
  return move(session, sandbox, { rate });
}

/** Whole Unix ms that HTTP can write as a date. */
function inRange(place: string, at: number): number {
  if (at >= 0 && at <= LATEST) return Math.trunc(at);
  throw wrongAt(place, 'goes beyond the times of a clock here: 1970 to 9999');
}

function move(session: Session, sandbox: Sandbox, change: Partial<Clock>): Moved {
  const base = session.now();
  const from = timeOf(sandbox.clock, base);
  sandbox.clock = { ...sandbox.clock, at: from, since: base, ...change };
  const now = timeOf(sandbox.clock, base);
  const due = dueBetween(sandbox.service.behaviour, sandbox.world, from, now);
  tell(session, { kind: 'clock', world: sandbox.name, now, due });
  return { ...shownClock(session, sandbox), due };
}

/** What fell due in a world after the time `from`, up to and with the time `to`; both in Unix ms. */
function dueBetween(behaviour: Behaviour, world: World, from: number, to: number): Due {
  const isDue = (at: number | undefined) => at !== undefined && from < at && at <= to;
  const isLimitedStill = new Set(limitedAt(behaviour, world, to).map(({ window }) => window));
  const deposits: string[] = [];
  for (const deposit of eachOf(world.deposits))
    if (isDue(dueAt(world, deposit))) deposits.push(deposit.reference_id);
  const keys: string[] = [];
  for (const key of eachOf(world.keys))
    if (key.state === 'active' && isDue(expiryOf(world, key))) keys.push(key.name);
  const limiters = limitedAt(behaviour, world, from).filter(({ window }) => !isLimitedStill.has(window));
  return { deposits, keys, limiters: limiters.map(({ endpoint, key }) => ({ endpoint, key })) };
}

function limitedAt(behaviour: Behaviour, world: World, now: number) {
  return gaugesOf(behaviour, world, now).flatMap(({ endpoint, key, isLimited }) =>
    isLimited ? [{ endpoint, key, window: `${endpoint} ${key}` }] : [],
  );
}

/** The world as if everything in it had happened so many ms earlier. */
function earlier(world: World, ms: number): World {
  const all = (windows: ReadonlyMap<string, readonly number[]>) =>
    mapped(windows, (hits) => hits.map((at) => at - ms));
  return {
    ...world,
    createdAt: world.createdAt - ms,
    hits: {
      'user-status': all(world.hits['user-status']),
      'deposit-check': all(world.hits['deposit-check']),
    },
    foundAt: mapped(world.foundAt, (at) => at - ms),
    keys: addedEarlier(world.keys, ms),
    deposits: addedEarlier(world.deposits, ms),
  };
}

function addedEarlier<Value extends { readonly since?: number }>(
  { base, changed }: Overlay<Value>,
  ms: number,
): Overlay<Value> {
  const moved = (value: Value) => (value.since === undefined ? value : { ...value, since: value.since - ms });
  return { base, changed: mapped(changed, moved) };
}

const mapped = <From, To>(map: ReadonlyMap<string, From>, change: (value: From) => To) =>
  new Map(Array.from(map, ([id, value]) => [id, change(value)]));
