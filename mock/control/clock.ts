import { perEndpoint } from '../../schemas/endpoints.ts';
import type { ClockChange } from '../../schemas/generated/types.ts';
import { msOf } from './next.ts';
import { badRequest } from '../server/refusal.ts';
import { clockTime, MAX_TIME, timeIn, type ControlContext, type Sandbox, type Session } from './session.ts';
import { settled, valuesOf, type World } from '../server/world.ts';

/** The clock of a world. */
export interface ShownClock {
  /** Unix ms. */
  readonly now: number;
  readonly iso: string;
  /** Speed: 1 is normal, 0 is stopped. */
  readonly rate: number;
}

export function shownClock(session: Session, sandbox: Sandbox): ShownClock {
  const now = timeIn(session, sandbox);
  return { now, iso: new Date(now).toISOString(), rate: sandbox.clock.rate };
}

/**
 * Sets the time, moves it, and sets the speed. Set forward, what falls due by then is due. Set back, remaining
 * times stay: a deposit due in 3 s stays due in 3 s. Dates in the fixture are compared with the new time.
 *
 * @throws Refusal with 400 for a wrong time
 */
export function changeClock(
  { session, sandbox }: ControlContext,
  { now, advance, rate }: ClockChange,
): ShownClock {
  const base = session.now();
  const from = clockTime(sandbox.clock, base);
  const set = now === undefined ? from : checkTime('now', parseTime(now));
  const by = advance === undefined ? 0 : msOf(advance);
  const at = checkTime('advance', set + by);
  const back = Math.max(0, from - set) + Math.max(0, -by);
  if (back > 0) sandbox.world = shiftBack(sandbox.world, from, back);
  sandbox.clock = { at, since: base, rate: rate ?? sandbox.clock.rate };
  return shownClock(session, sandbox);
}

/** Rounds Unix ms and checks that HTTP can write them as a date. */
function checkTime(place: string, at: number | undefined): number {
  if (at === undefined) throw badRequest(place, 'is not Unix ms, or a text such as "2026-01-01T00:00:00Z"');
  if (at >= 0 && at <= MAX_TIME) return Math.trunc(at);
  throw badRequest(place, 'is out of range: a clock goes from 1970 to 9999');
}

/** A time needs a zone; otherwise it would depend on the zone of this machine. */
const ZONED = /^(\d{4}-\d\d-\d\d)T\d.*(?:Z|[+-]\d\d:\d\d)$/;

/** Converts a time to Unix ms. Checks the day, because `Date.parse` reads 30 February as 1 March. */
function parseTime(given: number | string): number | undefined {
  if (typeof given === 'number') return given;
  const [, day = ''] = ZONED.exec(given) ?? [];
  const isDay = new Date(Date.parse(day) || 0).toISOString().startsWith(day);
  return day !== '' && isDay && !Number.isNaN(Date.parse(given)) ? Date.parse(given) : undefined;
}

/** Moves the times of a world back by `ms`. What is EXECUTED at `now` (Unix ms) keeps its time. */
function shiftBack(world: World, now: number, ms: number): World {
  for (const deposit of valuesOf(world.deposits)) {
    const current = settled(world, deposit, now);
    if (current !== deposit) world.deposits.changed.set(deposit.reference_id.toLowerCase(), current);
  }
  const all = (windows: ReadonlyMap<string, readonly number[]>) =>
    new Map(Array.from(windows, ([id, hits]) => [id, hits.map((at) => at - ms)]));
  return {
    ...world,
    createdAt: world.createdAt - ms,
    hits: perEndpoint((endpoint) => all(world.hits[endpoint])),
  };
}
