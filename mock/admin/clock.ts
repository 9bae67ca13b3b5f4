import { advanceClock, resetClock, scaleClock, setClock, type Moved } from '../clock.ts';
import { sandboxNamed, sandboxSeen, timeIn, type Sandbox, type Session, wrongAt } from '../session.ts';
import { fieldsOf, needed, numberAt, type Fields } from './fields.ts';
import { ok, type AdminRequest, type Route } from './route.ts';

type Change = (session: Session, sandbox: Sandbox, fields: Fields) => Moved;

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

const advance: Change = (session, sandbox, fields) => {
  const [seconds, ms] = [numberAt(fields, 'seconds', 0), numberAt(fields, 'ms', 0)];
  if ((seconds === undefined) === (ms === undefined))
    throw wrongAt('', 'the body needs either "seconds" or "ms", such as {"seconds": 60}');
  return seconds === undefined
    ? advanceClock(session, sandbox, ms ?? 0)
    : advanceClock(session, sandbox, seconds * 1000, 'seconds');
};

const set: Change = (session, sandbox, fields) => setClock(session, sandbox, timeAt(fields));

/** A time of the day that says where: without, it would be that of wherever the mock runs. */
const ZONED = /\dT\d.*(?:Z|[+-]\d\d:\d\d)$/;

function timeAt(fields: Fields): number {
  const value = needed('now', fields['now'], 'Unix ms, or a text such as "2026-01-01T00:00:00Z"');
  const at = typeof value === 'string' && ZONED.test(value) ? Date.parse(value) : value;
  if (typeof at === 'number' && Number.isFinite(at)) return at;
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
