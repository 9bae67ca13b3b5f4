import { Problem } from '../../schemas/problem.ts';
import { parseChaos } from '../chaos.ts';
import { advanceClock, scaleClock, setClock } from '../clock.ts';
import { queueChaos, setChaos, shownChaos } from '../controls.ts';
import { faults } from '../faults.ts';
import { changeState } from '../provider-state.ts';
import {
  Refusal,
  sandboxNamed,
  sandboxSeen,
  serviceWith,
  tell,
  timeIn,
  wrongAt,
  type Due,
  type Sandbox,
  type Session,
} from '../session.ts';
import { ok, routeWithFields, type Route } from './route.ts';

function shownClock(session: Session, sandbox: Sandbox) {
  const { mode, rate } = sandbox.clock;
  const now = timeIn(session, sandbox);
  return { now, iso: new Date(now).toISOString(), mode, rate, frozen: rate === 0 };
}

const moved = (session: Session, sandbox: Sandbox, { due }: { readonly due: Due }) =>
  ok({ ...shownClock(session, sandbox), due });

const timeHint = 'Unix ms, or a text such as "2026-01-01T00:00:00Z"';
const timeField = { type: ['integer', 'string'], description: timeHint } as const;

/** A time of the day has to name its zone: without, it would be that of wherever the mock runs. */
const ZONED = /\dT\d.*(?:Z|[+-]\d\d:\d\d)$/;

function timeOf(value: unknown): number {
  const at = typeof value === 'string' && ZONED.test(value) ? Date.parse(value) : value;
  if (typeof at === 'number' && Number.isFinite(at)) return at;
  throw wrongAt('now', `has to be ${timeHint}`);
}

const clockRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/clock',
    summary: 'What the clock shows, and how it goes.',
    handle: (session, { world }) => ok(shownClock(session, sandboxSeen(session, world))),
  },
  routeWithFields({
    method: 'POST',
    path: '/clock/advance',
    summary: 'Moves the clock on.',
    fields: { seconds: { type: 'number', minimum: 0 }, ms: { type: 'number', minimum: 0 } },
    handle: (session, { world, fields: { seconds, ms } }) => {
      const sandbox = sandboxNamed(session, world);
      if ((seconds === undefined) === (ms === undefined))
        throw wrongAt('', 'the body needs either "seconds" or "ms", such as {"seconds": 60}');
      const change =
        seconds === undefined
          ? advanceClock(session, sandbox, ms ?? 0)
          : advanceClock(session, sandbox, seconds * 1000, 'seconds');
      return moved(session, sandbox, change);
    },
  }),
  routeWithFields({
    method: 'POST',
    path: '/clock/set',
    summary: 'Sets the clock, also back.',
    fields: { now: { ...timeField, required: true } },
    handle: (session, { world, fields: { now } }) => {
      const sandbox = sandboxNamed(session, world);
      return moved(session, sandbox, setClock(session, sandbox, timeOf(now)));
    },
  }),
  routeWithFields({
    method: 'POST',
    path: '/clock/freeze',
    summary: 'Stops the clock, at a time where one is given.',
    fields: { now: timeField },
    handle: (session, { world, fields: { now } }) => {
      const sandbox = sandboxNamed(session, world);
      const set = now === undefined ? undefined : setClock(session, sandbox, timeOf(now));
      const frozen = scaleClock(session, sandbox, 0);
      return moved(session, sandbox, set ?? frozen);
    },
  }),
  routeWithFields({
    method: 'POST',
    path: '/clock/scale',
    summary: 'Lets the clock run so many times as fast: 1 as usual, 0 not at all.',
    fields: { rate: { type: 'number', minimum: 0, required: true, description: 'how many times as fast' } },
    handle: (session, { world, fields: { rate } }) => {
      const sandbox = sandboxNamed(session, world);
      return moved(session, sandbox, scaleClock(session, sandbox, rate));
    },
  }),
];

const shownFaults = (sandbox: Sandbox) => ({
  fault: sandbox.deviation?.id ?? null,
  ...shownChaos(sandbox),
});

function setFault(session: Session, sandbox: Sandbox, id: string | null): void {
  const deviation = id === null ? undefined : { id, change: faults[id]!.change };
  sandbox.deviation = deviation;
  sandbox.service = serviceWith(session.options, deviation);
  const what = deviation ? `fault ${deviation.id} on` : 'no fault';
  tell(session.watchers, () => ({ kind: 'change', world: sandbox.name, what }));
}

const isFaultId = (fault: unknown): fault is string =>
  typeof fault === 'string' && Object.hasOwn(faults, fault);
const isTexts = (list: unknown): list is readonly string[] =>
  Array.isArray(list) && list.every((spec) => typeof spec === 'string');

/** Answers a wrong chaos spec with the words of its parser. */
function readingChaos<Result>(act: () => Result, details: Readonly<Record<string, unknown>> = {}): Result {
  try {
    return act();
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    throw new Refusal(400, error.message, details);
  }
}

const faultRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/faults',
    summary:
      'The deviation that is on (null: none), the chaos and what befalls the next requests, and all deviations that there are.',
    handle: (session, { world }) =>
      ok({
        ...shownFaults(sandboxSeen(session, world)),
        faults: Object.entries(faults).map(([id, { what }]) => ({ id, what })),
      }),
  },
  routeWithFields({
    method: 'PUT',
    path: '/faults',
    summary:
      'Switches a deviation on by its id, or off with null; sets the chaos, such as ["500:0.1", "slow:200ms..2s"], and its seed. What is left out stays.',
    fields: {
      fault: { type: ['string', 'null'] },
      chaos: { type: ['array', 'null'], items: { type: 'string' } },
      seed: { type: 'integer' },
    },
    handle: (session, { world, fields: { fault, chaos, seed } }) => {
      if (fault === undefined && chaos === undefined && seed === undefined)
        throw wrongAt('', 'the body needs "fault", "chaos" or "seed", such as {"chaos": ["500:0.1"]}');
      // All of it is read before any of it is done.
      const specs = chaos === null ? [] : chaos;
      if (specs !== undefined && !isTexts(specs))
        throw wrongAt('chaos', 'has to be a list of texts such as ["500:0.1", "slow:200ms..2s"], or null');
      if (specs !== undefined) readingChaos(() => parseChaos(specs), { place: 'chaos' });
      if (fault !== undefined && fault !== null && !isFaultId(fault))
        throw wrongAt('fault', 'has to be an id that GET /__admin/faults lists, or null');
      const sandbox = sandboxNamed(session, world);
      if (fault !== undefined) setFault(session, sandbox, fault);
      if (specs !== undefined || seed !== undefined) setChaos(session, sandbox, specs, seed);
      return ok(shownFaults(sandbox));
    },
  }),
  routeWithFields({
    method: 'POST',
    path: '/faults/next',
    summary: 'What befalls the next requests: 429, 500 to 599, reset, timeout, truncate, or such as slow:2s.',
    fields: {
      kind: { type: 'string', required: true, description: 'such as "503", "reset" or "slow:2s"' },
      count: { type: 'integer', minimum: 1 },
    },
    handle: (session, { world, fields: { kind, count } }) => {
      const sandbox = sandboxNamed(session, world);
      return ok(readingChaos(() => queueChaos(session, sandbox, kind, count)));
    },
  }),
];

/** By Pact's convention of provider states. The state hook of `verify` calls it as well. */
const stateRoute: Route = {
  method: 'POST',
  path: '/state',
  summary: 'Brings a provider state about, or takes it back.',
  body: {
    type: 'object',
    required: ['state'],
    properties: {
      state: { enum: ['key revoked', 'deposit executed'] },
      params: { type: 'object' },
      action: { enum: ['setup', 'teardown'] },
    },
  },
  handle: (session, { world, body }) => {
    const problem = changeState(sandboxNamed(session, world).world, body);
    if (problem !== undefined) throw wrongAt('', problem);
    return { status: 204 };
  },
};

/** What a test sets: the clock, what goes wrong, and provider states. */
export const controlRoutes: readonly Route[] = [...clockRoutes, ...faultRoutes, stateRoute];
