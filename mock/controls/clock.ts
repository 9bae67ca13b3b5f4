import type { Endpoint } from '../../schemas/endpoints.ts';
import type { Behaviour } from '../behaviour.ts';
import { gaugesOf } from '../limiter.ts';
import type { ClockMode } from '../options.ts';
import { LATEST, tell, timeIn, timeOf, wrongAt, type Clock, type Due, type Place } from '../session.ts';
import { dueAt, expiryOf, lookIn, valuesOf, type World } from '../world.ts';

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

/** Unix ms, a Date, or a text such as `2026-01-01T00:00:00Z`. */
export type Time = number | Date | string;

/** The clock of a world. Each change returns the time, and what fell due: deposits, keys, limiters. Times are Unix ms. */
export interface ClockControls extends ReturnType<typeof clockIn> {}

export function clockIn({ session, here, seen }: Place) {
  const now = () => timeIn(session, seen());
  const get = (): ShownClock => {
    const { mode, rate } = seen().clock;
    return { now: now(), iso: new Date(now()).toISOString(), mode, rate, frozen: rate === 0 };
  };
  const move = (change: Partial<Clock>): Moved => {
    const sandbox = here();
    const base = session.now();
    const from = timeOf(sandbox.clock, base);
    sandbox.clock = { ...sandbox.clock, at: from, since: base, ...change };
    const to = timeOf(sandbox.clock, base);
    const due = dueBetween(sandbox.service.behaviour, sandbox.world, from, to);
    tell(session, { kind: 'clock', world: sandbox.name, now: to, due });
    return { ...get(), due };
  };
  const set = (time: Time) => {
    const at = inRange('now', unixMs(time));
    const back = now() - at;
    if (back > 0) here().world = earlier(here().world, back);
    return move({ at });
  };
  const scale = (rate: number) => {
    if (!(rate >= 0 && rate < Infinity)) throw wrongAt('rate', 'must be a number from 0 on');
    return move({ rate });
  };
  return {
    now,
    get,
    /**
     * Moves the clock on by so many ms.
     *
     * @param place how the message of a Refusal names them
     * @throws Refusal, 400 where it would go back, or beyond the year 9999
     */
    advance: (ms: number, place = 'ms') => {
      if (ms < 0) throw wrongAt(place, 'must be a number from 0 on');
      return move({ at: inRange(place, now() + ms) });
    },
    /**
     * Back in time nothing is undone: what was to fall due in 3 s still falls due in 3 s, and only a date in the
     * fixture is compared with the new time.
     *
     * @throws Refusal, 400 where it is not between 1970 and 9999
     */
    set,
    /** At a given time, or now. */
    freeze: (time?: Time): Moved => {
      const due = time === undefined ? undefined : set(time).due;
      const frozen = scale(0);
      return { ...frozen, due: due ?? frozen.due };
    },
    /**
     * 1: as fast as usual, 0: not at all.
     *
     * @throws Refusal, 400 where that is no number from 0 on
     */
    scale,
    /** As if nobody had moved it. What was counted after that is forgotten. */
    reset: () => {
      const sandbox = here();
      const { firstClock, world } = sandbox;
      const at = timeOf(firstClock, session.now());
      const shifted = earlier(world, world.createdAt - firstClock.at);
      for (const endpoint of Object.keys(shifted.hits) as Endpoint[])
        for (const [countedFor, hits] of shifted.hits[endpoint]) {
          const limit = sandbox.service.behaviour.limit(world, endpoint, lookIn(world.keys, countedFor));
          const kept = hits.filter((hit) => hit <= at + (limit?.windowMs ?? 0));
          shifted.hits[endpoint].set(countedFor, kept);
        }
      sandbox.world = shifted;
      return move(firstClock);
    },
  } as const;
}

/** Whole Unix ms that HTTP can write as a date. */
function inRange(place: string, at: number): number {
  if (at >= 0 && at <= LATEST) return Math.trunc(at);
  throw wrongAt(place, 'goes beyond the times of a clock here: 1970 to 9999');
}

export const timeHint = 'Unix ms, or a text such as "2026-01-01T00:00:00Z"';

/** A time of the day has to name its zone: otherwise it would depend on the zone of this machine. */
const ZONED = /^(\d{4}-\d\d-\d\d)T\d.*(?:Z|[+-]\d\d:\d\d)$/;

/** `Date.parse` takes 30 February for 1 March. */
function unixMs(time: Time): number {
  if (typeof time !== 'string') {
    const at = typeof time === 'number' || time instanceof Date ? Number(time) : Number.NaN;
    if (Number.isFinite(at)) return at;
  } else {
    const [, day = ''] = ZONED.exec(time) ?? [];
    const isDay = new Date(Date.parse(day) || 0).toISOString().startsWith(day);
    if (day !== '' && isDay && !Number.isNaN(Date.parse(time))) return Date.parse(time);
  }
  throw wrongAt('now', `must be ${timeHint}`);
}

/** What fell due in a world after the time `from`, up to and with the time `to`; both in Unix ms. */
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

/** The world as if everything in it had happened so many ms earlier. */
function earlier(world: World, ms: number): World {
  const all = (windows: ReadonlyMap<string, readonly number[]>) =>
    new Map(Array.from(windows, ([id, hits]) => [id, hits.map((at) => at - ms)]));
  const { 'user-status': user, 'deposit-check': deposit } = world.hits;
  return {
    ...world,
    createdAt: world.createdAt - ms,
    hits: { 'user-status': all(user), 'deposit-check': all(deposit) },
  };
}
