import { refusing, timeHint, type FaultChange, type StateChange, type Time } from '../controls.ts';
import { wrongAt } from '../session.ts';
import { answerOf, ok, route, type Route } from './route.ts';

const timeField = { type: ['integer', 'string'], description: timeHint } as const;
const quantity = { type: 'number', minimum: 0 } as const;

const faultFields = {
  fault: { type: ['string', 'null'] },
  chaos: { type: ['array', 'null'], items: { type: 'string' } },
  seed: { type: 'integer' },
} as const;
const nextFields = {
  kind: { type: ['string', 'integer'], required: true, description: 'such as 503, "reset" or "slow:2s"' },
  count: { type: 'integer', minimum: 1 },
} as const;
const stateFields = {
  state: { enum: ['key revoked', 'deposit executed'] },
  params: { type: 'object' },
  action: { enum: ['setup', 'teardown'] },
} as const;

/** What a test sets: the clock, what goes wrong, and provider states. */
export const controlRoutes: readonly Route[] = [
  route('GET /clock', 'Shows the time, and how fast the clock runs.', {}, (_, { controls }) =>
    ok(controls.clock.get()),
  ),
  route(
    'POST /clock/advance',
    'Moves the clock forward.',
    { fields: { seconds: quantity, ms: quantity } },
    (_, { controls, fields: { seconds, ms } }) => {
      if ((seconds === undefined) === (ms === undefined))
        throw wrongAt('', 'the body needs either "seconds" or "ms", such as {"seconds": 60}');
      const [time, place] = seconds === undefined ? [ms ?? 0, 'ms'] : [seconds * 1000, 'seconds'];
      return ok(controls.clock.advance(time, place));
    },
  ),
  route(
    'POST /clock/set',
    'Sets the clock, also back.',
    { fields: { now: { ...timeField, required: true } } },
    (_, { controls, fields: { now } }) => ok(controls.clock.set(now as Time)),
  ),
  route(
    'POST /clock/freeze',
    'Stops the clock, at a given time or now.',
    { fields: { now: timeField } },
    (_, { controls, fields: { now } }) => ok(controls.clock.freeze(now as Time | undefined)),
  ),
  route(
    'POST /clock/scale',
    'Sets how fast the clock runs: 1 is normal speed, 0 stops it.',
    { fields: { rate: { ...quantity, required: true, description: 'how many times as fast' } } },
    (_, { controls, fields: { rate } }) => ok(controls.clock.scale(rate)),
  ),
  route('GET /faults', 'The active fault, the chaos, and all faults and variants.', {}, (_, { controls }) =>
    ok({ ...controls.faults.get(), faults: controls.faults.list() }),
  ),
  route(
    'PUT /faults',
    'Sets the fault or variant by its id, the chaos by specs such as "500:0.1", or its seed. null switches off.',
    { fields: faultFields },
    (_, { controls, fields }) => {
      if (Object.keys(fields).length === 0)
        throw wrongAt('', 'the body needs "fault", "chaos" or "seed", such as {"chaos": ["500:0.1"]}');
      return ok(controls.faults.set(fields as FaultChange));
    },
  ),
  route(
    'POST /faults/next',
    'Sets chaos for the next requests: a status, reset, timeout, truncate, or such as slow:2s.',
    { fields: nextFields },
    (_, { controls, fields: { kind, count } }) => {
      if (typeof kind !== 'string' && typeof kind !== 'number')
        throw wrongAt('kind', 'must be a string or a status');
      return ok(refusing('kind', () => controls.faults.next(kind, count)));
    },
  ),
  // Follows Pact's convention of provider states. `verify` calls it as its state hook.
  route(
    'POST /state',
    'Sets up a provider state, or tears it down.',
    { body: { type: 'object', required: ['state'], properties: stateFields } },
    (_, { controls, body }) => {
      controls.state(body as StateChange);
      return answerOf(204);
    },
  ),
];
