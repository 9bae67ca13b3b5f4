import type { Endpoint } from '../../schemas/endpoints.ts';
import type { Behaviour } from '../behaviour.ts';
import { gaugesOf } from '../limiter.ts';
import type { ClockMode } from '../options.ts';
import { MAX_TIME, emit, timeIn, clockTime, badRequest } from '../session.ts';
import type { Clock, Due, WorldHandle } from '../session.ts';
import { checkFields, inputs, timeHint } from './inputs.ts';
import { dueAt, expiryOf, lookUp, valuesOf, type World } from '../world.ts';

/** The clock of a world. */
export interface ShownClock {
  /** Unix ms. */
  readonly now: number;
  readonly iso: string;
  readonly mode: ClockMode;
  /** Speed: 1 is normal, 0 is stopped. */
  readonly rate: number;
  readonly frozen: boolean;
}

/** A clock after a change, with the effects of the change. */
export interface Moved extends ShownClock {
  readonly due: Due;
}

/** Unix ms, a Date, or a text such as `2026-01-01T00:00:00Z`. */
export type Time = number | Date | string;

/** The clock of a world. Each change returns the time (Unix ms) and the deposits, keys and limits that fell due. */
export interface ClockControls extends ReturnType<typeof clockControls> {}

const shownAt = (now: number, rate: number): ShownClock => ({
  now,
  iso: new Date(now).toISOString(),
  mode: rate === 0 ? 'frozen' : 'real',
  rate,
  frozen: rate === 0,
});

export function clockControls({ session, open, peek }: WorldHandle) {
  const now = () => timeIn(session, peek());
  const get = (): ShownClock => {
    const { rate } = peek().clock;
    return shownAt(now(), rate);
  };
  const move = (change: Partial<Clock>): Moved => {
    const sandbox = open();
    const base = session.now();
    const from = clockTime(sandbox.clock, base);
    sandbox.clock = { ...sandbox.clock, at: from, since: base, ...change };
    const to = clockTime(sandbox.clock, base);
    const due = dueBetween(sandbox.service.behaviour, sandbox.world, from, to);
    emit(session, { kind: 'clock', world: sandbox.name, now: to, due });
    return { ...shownAt(to, sandbox.clock.rate), due };
  };
  const set = (time: Time) => {
    if (time === undefined) checkFields(inputs.setClock, {});
    const at = checkTime('now', parseTime(time));
    const back = now() - at;
    if (back > 0) open().world = shiftBack(open().world, back);
    return move({ at });
  };
  const scale = (rate: number) => {
    checkFields(inputs.scale, { rate });
    return move({ rate });
  };
  return {
    now,
    get,
    /**
     * Moves the clock forward by `ms`.
     *
     * @param place name of the value in the message of a Refusal
     * @throws Refusal with 400 for a negative value, or if the time is after the year 9999
     */
    advance: (ms: number, place = 'ms') => {
      checkFields(inputs.advance, { [place]: place === 'seconds' ? ms / 1000 : ms });
      if (ms === undefined) throw badRequest(place, 'is missing: how many ms');
      return move({ at: checkTime(place, now() + ms) });
    },
    /**
     * Sets the time. Going back undoes nothing and keeps remaining times: a deposit due in 3 s stays due in 3 s.
     * Only dates in the fixture (`expiresAt`) are compared with the new time.
     *
     * @throws Refusal with 400 for a time outside 1970 to 9999
     */
    set,
    /** Stops the clock at a given time, or now. */
    freeze: (time?: Time): Moved => {
      const due = time === undefined ? undefined : set(time).due;
      const frozen = scale(0);
      return { ...frozen, due: due ?? frozen.due };
    },
    /**
     * Sets the speed: 1 is normal, 0 stops the clock.
     *
     * @throws Refusal with 400 unless it is a number of at least 0
     */
    scale,
    /** Undoes all changes of the clock. Hits that would be in the future are dropped. */
    reset: () => {
      const sandbox = open();
      const { initialClock, world } = sandbox;
      const at = clockTime(initialClock, session.now());
      const shifted = shiftBack(world, world.createdAt - initialClock.at);
      for (const endpoint of Object.keys(shifted.hits) as Endpoint[])
        for (const [limiterKey, hits] of shifted.hits[endpoint]) {
          const limit = sandbox.service.behaviour.limit(world, endpoint, lookUp(world.keys, limiterKey));
          const kept = hits.filter((hit) => hit <= at + (limit?.windowMs ?? 0));
          shifted.hits[endpoint].set(limiterKey, kept);
        }
      sandbox.world = shifted;
      return move(initialClock);
    },
  } as const;
}

/** Rounds Unix ms and checks that HTTP can write them as a date. */
function checkTime(place: string, at: number): number {
  if (at >= 0 && at <= MAX_TIME) return Math.trunc(at);
  throw badRequest(place, 'is out of range: a clock goes from 1970 to 9999');
}

/** A time needs a zone; otherwise it would depend on the zone of this machine. */
const ZONED = /^(\d{4}-\d\d-\d\d)T\d.*(?:Z|[+-]\d\d:\d\d)$/;

/** Converts a time to Unix ms. Checks the day, because `Date.parse` reads 30 February as 1 March. */
function parseTime(time: Time): number {
  if (typeof time !== 'string') {
    const at = typeof time === 'number' || time instanceof Date ? Number(time) : Number.NaN;
    if (Number.isFinite(at)) return at;
  } else {
    const [, day = ''] = ZONED.exec(time) ?? [];
    const isDay = new Date(Date.parse(day) || 0).toISOString().startsWith(day);
    if (day !== '' && isDay && !Number.isNaN(Date.parse(time))) return Date.parse(time);
  }
  throw badRequest('now', `must be ${timeHint}`);
}

/** Returns what fell due in a world after `from`, up to and including `to` (Unix ms). */
function dueBetween(behaviour: Behaviour, world: World, from: number, to: number): Due {
  const isDue = (at: number | undefined) => at !== undefined && from < at && at <= to;
  const isLimitedStill = new Set(limitedAt(behaviour, world, to).map(({ window }) => window));
  const deposits = valuesOf(world.deposits).filter((deposit) => isDue(dueAt(world, deposit)));
  const keys = valuesOf(world.keys).filter((key) => key.state === 'active' && isDue(expiryOf(world, key)));
  const limiters = limitedAt(behaviour, world, from).filter(({ window }) => !isLimitedStill.has(window));
  return {
    deposits: deposits.map(({ reference_id }) => reference_id),
    keys: keys.map(({ name }) => name),
    limiters: limiters.map(({ endpoint, key }) => ({ endpoint, key })),
  };
}

function limitedAt(behaviour: Behaviour, world: World, now: number) {
  return gaugesOf(behaviour, world, now).flatMap(({ endpoint, key, isLimited }) =>
    isLimited ? [{ endpoint, key, window: `${endpoint} ${key}` }] : [],
  );
}

/** Moves the times of a world back by `ms`. */
function shiftBack(world: World, ms: number): World {
  const all = (windows: ReadonlyMap<string, readonly number[]>) =>
    new Map(Array.from(windows, ([id, hits]) => [id, hits.map((at) => at - ms)]));
  const { 'user-status': user, 'deposit-check': deposit } = world.hits;
  return {
    ...world,
    createdAt: world.createdAt - ms,
    hits: { 'user-status': all(user), 'deposit-check': all(deposit) },
  };
}
