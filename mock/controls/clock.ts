import type { Behaviour } from '../behaviour.ts';
import { gaugesOf } from '../limiter.ts';
import type { ClockMode } from '../options.ts';
import { MAX_TIME, emit, timeIn, clockTime, badRequest } from '../session.ts';
import type { Clock, Due, WorldHandle } from '../session.ts';
import { dueAt, expiryOf, valuesOf, type World } from '../world.ts';
import { number, required, type Field } from './fields.ts';
import { operation } from './operation.ts';

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

const shownAt = (now: number, rate: number): ShownClock => ({
  now,
  iso: new Date(now).toISOString(),
  mode: rate === 0 ? 'frozen' : 'real',
  rate,
  frozen: rate === 0,
});

const timeHint = 'Unix ms, or a text such as "2026-01-01T00:00:00Z"';
const time: Field<Time> = {
  schema: { type: ['integer', 'string'], description: timeHint },
  must: `be ${timeHint}`,
  has: (value) => parseTime(value) !== undefined,
};

export const clock = {
  get: operation('GET /clock', 'Shows the time and the speed of the clock.', {
    result: 'clock',
    run: ({ session, peek }) => shownAt(timeIn(session, peek()), peek().clock.rate),
  }),
  /** Moves the clock forward by `ms`. Returns the deposits, keys and limits that fell due, as all changes do. */
  advance: operation('POST /clock/advance', 'Moves the clock forward, by seconds or ms.', {
    body: { seconds: number(), ms: number() },
    example: { seconds: 60 },
    result: 'clock',
    args: (ms: number) => [{ ms }],
    run: (handle, { seconds, ms }) => {
      if ((seconds === undefined) === (ms === undefined))
        throw badRequest('', 'the body needs either "seconds" or "ms", such as {"seconds": 60}');
      const now = timeIn(handle.session, handle.peek());
      const at = now + (ms ?? (seconds ?? 0) * 1000);
      return move(handle, { at: checkTime(ms === undefined ? 'seconds' : 'ms', at) });
    },
  }),
  /** Keeps remaining times: a deposit due in 3 s stays due in 3 s. Dates in the fixture are compared with the new time. */
  set: operation(
    'POST /clock/set',
    'Sets the clock, forward or back; what was due in 3 s stays due in 3 s.',
    {
      body: { now: required(time, timeHint) },
      example: { now: '2026-01-01T00:00:00Z' },
      result: 'clock',
      args: (now: Time) => [{ now }],
      run: (handle, { now }) => setClock(handle, now),
    },
  ),
  freeze: operation('POST /clock/freeze', 'Stops the clock, at a given time or now.', {
    body: { now: time },
    example: { now: '2026-01-01T00:00:00Z' },
    result: 'clock',
    args: (now?: Time) => [{ now }],
    run: (handle, { now }) => {
      const due = now === undefined ? undefined : setClock(handle, now).due;
      const frozen = move(handle, { rate: 0 });
      return { ...frozen, due: due ?? frozen.due };
    },
  }),
  scale: operation('POST /clock/scale', 'Sets how fast the clock runs: 1 is normal speed, 0 stops it.', {
    body: { rate: required(number(), 'how many times as fast') },
    example: { rate: 60 },
    result: 'clock',
    args: (rate: number) => [{ rate }],
    run: (handle, { rate }) => move(handle, { rate }),
  }),
};

function move({ session, open }: WorldHandle, change: Partial<Clock>): Moved {
  const sandbox = open();
  const base = session.now();
  const from = clockTime(sandbox.clock, base);
  sandbox.clock = { ...sandbox.clock, at: from, since: base, ...change };
  const to = clockTime(sandbox.clock, base);
  const due = dueBetween(sandbox.service.behaviour, sandbox.world, from, to);
  emit(session, { kind: 'clock', world: sandbox.name, now: to, due });
  return { ...shownAt(to, sandbox.clock.rate), due };
}

function setClock(handle: WorldHandle, to: Time): Moved {
  const at = checkTime('now', parseTime(to)!);
  const back = timeIn(handle.session, handle.peek()) - at;
  if (back > 0) handle.open().world = shiftBack(handle.open().world, back);
  return move(handle, { at });
}

/** Rounds Unix ms and checks that HTTP can write them as a date. */
function checkTime(place: string, at: number): number {
  if (at >= 0 && at <= MAX_TIME) return Math.trunc(at);
  throw badRequest(place, 'is out of range: a clock goes from 1970 to 9999');
}

/** A time needs a zone; otherwise it would depend on the zone of this machine. */
const ZONED = /^(\d{4}-\d\d-\d\d)T\d.*(?:Z|[+-]\d\d:\d\d)$/;

/** Converts a time to Unix ms. Checks the day, because `Date.parse` reads 30 February as 1 March. */
function parseTime(given: unknown): number | undefined {
  if (typeof given !== 'string') {
    const at = typeof given === 'number' || given instanceof Date ? Number(given) : Number.NaN;
    return Number.isFinite(at) ? at : undefined;
  }
  const [, day = ''] = ZONED.exec(given) ?? [];
  const isDay = new Date(Date.parse(day) || 0).toISOString().startsWith(day);
  return day !== '' && isDay && !Number.isNaN(Date.parse(given)) ? Date.parse(given) : undefined;
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
