import { advanceClock, resetClock, scaleClock, setClock, type Moved } from '../move-clock.ts';
import { sandboxNamed, sandboxSeen, timeIn, type Sandbox, type Session } from '../session.ts';
import { fieldsOf, needed, numberAt, type Fields } from './fields.ts';
import { wrongAt } from '../refusal.ts';
import { ok, type AdminRequest, type Route } from './route.ts';

type Change = (session: Session, sandbox: Sandbox, fields: Fields) => Moved;

/** Greatest time (ms) that a date can hold, in both directions. */
const FARTHEST = 8.64e15;

function clockRoute(path: string, summary: string, fields: Readonly<Record<string, object>>, change: Change) {
  return {
    method: 'POST',
    path: `/clock/${path}`,
    summary,
    body: { type: 'object', additionalProperties: false, properties: fields },
    handle: (session: Session, { world, body }: AdminRequest) => {
      const sandbox = sandboxNamed(session, world);
      const { due } = change(session, sandbox, fieldsOf(body, Object.keys(fields)));
      return ok({ ...shownClock(session, sandbox), due });
    },
  } as const satisfies Route;
}

function shownClock(session: Session, sandbox: Sandbox) {
  const { mode, rate } = sandbox.clock;
  const now = timeIn(session, sandbox);
  return { now, iso: new Date(now).toISOString(), mode, rate, frozen: rate === 0 };
}

function within(place: string, at: number): number {
  if (Math.abs(at) < FARTHEST) return Math.trunc(at);
  throw wrongAt(place, 'goes beyond what a date can hold');
}

const advance: Change = (session, sandbox, fields) => {
  const [seconds, ms] = [numberAt(fields, 'seconds', 0), numberAt(fields, 'ms', 0)];
  if ((seconds === undefined) === (ms === undefined))
    throw wrongAt('', 'the body needs either "seconds" or "ms", such as {"seconds": 60}');
  const [place, by] =
    seconds === undefined ? (['ms', ms ?? 0] as const) : (['seconds', seconds * 1000] as const);
  const now = timeIn(session, sandbox);
  return advanceClock(session, sandbox, within(place, now + by) - now);
};

const set: Change = (session, sandbox, fields) => setClock(session, sandbox, timeAt(fields));

function timeAt(fields: Fields): number {
  const value = needed('now', fields['now'], 'Unix ms, or a text such as "2026-01-01T00:00:00Z"');
  const at = typeof value === 'string' && /\dT\d/.test(value) ? Date.parse(value) : value;
  if (typeof at === 'number' && Number.isFinite(at)) return within('now', at);
  throw wrongAt('now', 'has to be Unix ms, or a text such as "2026-01-01T00:00:00Z"');
}

const freeze: Change = (session, sandbox, fields) => {
  const moved = fields['now'] === undefined ? undefined : setClock(session, sandbox, timeAt(fields));
  const frozen = scaleClock(session, sandbox, 0);
  return moved ?? frozen;
};

/** The clock under everything: each change is done when it is answered, and says what fell due. */
export const clockRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/clock',
    summary: 'What the clock shows, and how it goes.',
    handle: (session, { world }) => ok(shownClock(session, sandboxSeen(session, world))),
  },
  clockRoute(
    'advance',
    'Moves the clock on.',
    { seconds: { type: 'number', minimum: 0 }, ms: { type: 'number', minimum: 0 } },
    advance,
  ),
  clockRoute('set', 'Sets the clock, also back.', { now: { type: ['integer', 'string'] } }, set),
  clockRoute(
    'freeze',
    'Stops the clock, at a time where one is given.',
    { now: { type: ['integer', 'string'] } },
    freeze,
  ),
  clockRoute(
    'scale',
    'Lets the clock run so many times as fast: 1 as usual, 0 not at all.',
    { rate: { type: 'number', minimum: 0 } },
    (session, sandbox, fields) =>
      scaleClock(session, sandbox, needed('rate', numberAt(fields, 'rate', 0), 'how many times as fast')),
  ),
  clockRoute(
    'reset',
    'Makes the clock what it was at first, and undoes what its leaps brought about.',
    {},
    resetClock,
  ),
];
