import { Problem } from '../../schemas/problem.ts';
import { parseChaos } from '../chaos.ts';
import { advanceClock, scaleClock, setClock, type Moved } from '../clock.ts';
import { controlsIn, shownChaos, tellChange } from '../controls.ts';
import { faults } from '../faults.ts';
import { changeState } from '../provider-state.ts';
import { Refusal, serviceWith, timeIn, wrongAt, type Sandbox, type Session } from '../session.ts';
import { answerOf, ok, route, type Route } from './route.ts';

function shownClock(session: Session, sandbox: Sandbox) {
  const { mode, rate } = sandbox.clock;
  const now = timeIn(session, sandbox);
  return { now, iso: new Date(now).toISOString(), mode, rate, frozen: rate === 0 };
}

const moved = (session: Session, sandbox: Sandbox, { due }: Moved) =>
  ok({ ...shownClock(session, sandbox), due });

const timeHint = 'Unix ms, or a text such as "2026-01-01T00:00:00Z"';
const timeField = { type: ['integer', 'string'], description: timeHint } as const;
const quantity = { type: 'number', minimum: 0 } as const;

/** A time of the day has to name its zone: otherwise it would depend on the zone of this machine. */
const ZONED = /\dT\d.*(?:Z|[+-]\d\d:\d\d)$/;

function timeOf(value: unknown): number {
  const at = typeof value === 'string' && ZONED.test(value) ? Date.parse(value) : value;
  if (typeof at === 'number' && Number.isFinite(at)) return at;
  throw wrongAt('now', `has to be ${timeHint}`);
}

const shownFaults = (sandbox: Sandbox) => ({ fault: sandbox.deviation?.id ?? null, ...shownChaos(sandbox) });

function readingChaos<Result>(act: () => Result, details: Refusal['details'] = {}): Result {
  try {
    return act();
  } catch (error) {
    throw error instanceof Problem ? new Refusal(400, error.message, details) : error;
  }
}

/** @throws Refusal, 400 where it is neither null nor a list of chaos specs */
function chaosOf(value: unknown): readonly string[] {
  const specs = value ?? [];
  if (!Array.isArray(specs) || !specs.every((spec) => typeof spec === 'string'))
    throw wrongAt('chaos', 'has to be a list of texts such as ["500:0.1", "slow:200ms..2s"], or null');
  readingChaos(() => parseChaos(specs), { place: 'chaos' });
  return specs;
}

const faultFields = {
  fault: { type: ['string', 'null'] },
  chaos: { type: ['array', 'null'], items: { type: 'string' } },
  seed: { type: 'integer' },
} as const;
const nextFields = {
  kind: { type: 'string', required: true, description: 'such as "503", "reset" or "slow:2s"' },
  count: { type: 'integer', minimum: 1 },
} as const;
const stateFields = {
  state: { enum: ['key revoked', 'deposit executed'] },
  params: { type: 'object' },
  action: { enum: ['setup', 'teardown'] },
} as const;

/** What a test sets: the clock, what goes wrong, and provider states. */
export const controlRoutes: readonly Route[] = [
  route('GET /clock', 'Shows the time, and how fast the clock runs.', {}, (session, { sandbox }) =>
    ok(shownClock(session, sandbox)),
  ),
  route(
    'POST /clock/advance',
    'Moves the clock forward.',
    { fields: { seconds: quantity, ms: quantity } },
    (session, { sandbox, fields: { seconds, ms } }) => {
      if ((seconds === undefined) === (ms === undefined))
        throw wrongAt('', 'the body needs either "seconds" or "ms", such as {"seconds": 60}');
      const [time, place] = seconds === undefined ? [ms ?? 0, 'ms'] : [seconds * 1000, 'seconds'];
      return moved(session, sandbox, advanceClock(session, sandbox, time, place));
    },
  ),
  route(
    'POST /clock/set',
    'Sets the clock, also back.',
    { fields: { now: { ...timeField, required: true } } },
    (session, { sandbox, fields: { now } }) =>
      moved(session, sandbox, setClock(session, sandbox, timeOf(now))),
  ),
  route(
    'POST /clock/freeze',
    'Stops the clock, at a given time or now.',
    { fields: { now: timeField } },
    (session, { sandbox, fields: { now } }) => {
      const set = now === undefined ? undefined : setClock(session, sandbox, timeOf(now));
      const frozen = scaleClock(session, sandbox, 0);
      return moved(session, sandbox, set ?? frozen);
    },
  ),
  route(
    'POST /clock/scale',
    'Sets how fast the clock runs: 1 is normal speed, 0 stops it.',
    { fields: { rate: { ...quantity, required: true, description: 'how many times as fast' } } },
    (session, { sandbox, fields: { rate } }) => moved(session, sandbox, scaleClock(session, sandbox, rate)),
  ),
  route('GET /faults', 'The active deviation, the chaos, and all deviations.', {}, (_, { sandbox }) => {
    const all = Object.entries(faults).map(([id, { what }]) => ({ id, what }));
    return ok({ ...shownFaults(sandbox), faults: all });
  }),
  route(
    'PUT /faults',
    'Sets the deviation by its id, the chaos by specs such as "500:0.1", or its seed. null switches off.',
    { fields: faultFields },
    (session, request) => {
      const { fault, chaos, seed } = request.fields;
      if (fault === undefined && chaos === undefined && seed === undefined)
        throw wrongAt('', 'the body needs "fault", "chaos" or "seed", such as {"chaos": ["500:0.1"]}');
      // Check everything before changing anything.
      const specs = chaos === undefined ? undefined : chaosOf(chaos);
      const found = Object.entries(faults).find(([id]) => id === fault);
      if (fault !== undefined && fault !== null && found === undefined)
        throw wrongAt('fault', 'has to be an id that GET /__admin/faults lists, or null');
      const { sandbox } = request;
      if (fault !== undefined) {
        sandbox.deviation = found && { id: found[0], change: found[1].change };
        sandbox.service = serviceWith(session.options, sandbox.deviation);
        tellChange(session, sandbox, found ? `fault ${found[0]} on` : 'no fault');
      }
      if (specs !== undefined || seed !== undefined)
        controlsIn(session, request.world).chaos.set(specs ?? shownChaos(sandbox).chaos, seed);
      return ok(shownFaults(sandbox));
    },
  ),
  route(
    'POST /faults/next',
    'Sets chaos for the next requests: 429, 500 to 599, reset, timeout, truncate, or such as slow:2s.',
    { fields: nextFields },
    (session, { world, fields: { kind, count } }) =>
      ok(readingChaos(() => controlsIn(session, world).chaos.next(kind, count))),
  ),
  // Follows Pact's convention of provider states. `verify` calls it as its state hook.
  route(
    'POST /state',
    'Sets up a provider state, or tears it down.',
    { body: { type: 'object', required: ['state'], properties: stateFields } },
    (_, { sandbox, body }) => {
      const problem = changeState(sandbox.world, body);
      if (problem !== undefined) throw wrongAt('', problem);
      return answerOf(204);
    },
  ),
];
