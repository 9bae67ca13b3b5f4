import { endpointNames, type Endpoint } from '../../schemas/endpoints.ts';
import { Problem } from '../../schemas/problem.ts';
import { chaosName, parseChaos, parseQueuedChaos, ruleSpec } from '../chaos.ts';
import { faults as allFaults } from '../faults.ts';
import { Refusal, badRequest, emitChange, newService, type WorldHandle, type Sandbox } from '../session.ts';
import { variants } from '../variants.ts';
import { integer, oneOf, required, type Field, type ValuesOf } from './fields.ts';
import { operation } from './operation.ts';

/** The active fault and chaos of a world. */
export interface ShownFaults {
  /** Id of the fault or variant. */
  readonly fault: string | null;
  readonly chaos: readonly string[];
  readonly seed: number;
  /** Chaos for the next requests. */
  readonly next: readonly {
    readonly kind: string;
    readonly count: number;
    readonly endpoint?: Endpoint | undefined;
  }[];
}

const MAX_QUEUED = 1000;
const TOO_MANY_QUEUED = `${MAX_QUEUED} calls are queued already; use a count instead`;

const deviations = new Map(Object.entries({ ...allFaults, ...variants }));

const fault: Field<string | null> = {
  schema: { type: ['string', 'null'] },
  must: 'be an id that GET /__admin/faults lists, or null',
  has: (value) => value === null || deviations.has(value as string),
};
const chaos: Field<readonly string[] | null> = {
  schema: { type: ['array', 'null'], items: { type: 'string' } },
  must: 'be a list of strings such as ["500:0.1", "slow:200ms..2s"], or null',
  has: (value) => value === null || (Array.isArray(value) && value.every((spec) => typeof spec === 'string')),
};
const kind: Field<string | number> = {
  schema: { type: ['string', 'integer'] },
  must: 'be a string or a status',
  has: (value) => typeof value === 'string' || typeof value === 'number',
};

const change = { fault, chaos, seed: integer() };
export interface FaultChange extends ValuesOf<typeof change> {}

export const faults = {
  get: operation('GET /faults', 'The active fault, the chaos, and all faults and variants.', {
    result: 'faults',
    run: ({ peek }) => ({
      ...shownFaults(peek()),
      faults: Array.from(deviations, ([id, { what }]) => ({ id, what })),
    }),
  }),
  set: operation(
    'PUT /faults',
    'Sets the fault or variant by its id, the chaos by specs such as "500:0.1", or its seed. null switches off.',
    {
      result: 'faults',
      body: change,
      example: { fault: 'pending-with-202', chaos: ['500:0.1'], seed: 7 },
      args: (given: FaultChange) => [given],
      run: setFaults,
    },
  ),
  next: operation(
    'POST /faults/next',
    'Sets chaos for the next requests: a status, reset, timeout, truncate, or slow with a time (slow:2s).',
    {
      result: 'faults',
      body: {
        kind: required(kind, 'such as 503, "reset" or "slow:2s"'),
        count: integer(1),
        endpoint: oneOf(endpointNames, { description: 'only requests to this endpoint' }),
      },
      example: { kind: '503', count: 3, endpoint: 'user-status' },
      args: (of: string | number, count?: number, endpoint?: Endpoint) => [{ kind: of, count, endpoint }],
      run: ({ session, open }, { kind: of, count = 1, endpoint }) => {
        const queued = orBadRequest('kind', () => parseQueuedChaos(`${of}`, count, endpoint));
        const sandbox = open();
        const { queue } = sandbox.chaos;
        if (queue.length >= MAX_QUEUED) throw badRequest('kind', `${of}: ${TOO_MANY_QUEUED}`);
        sandbox.chaos.queue = [...queue, queued];
        emitChange(session, sandbox, `chaos ${of} for the next ${count}`);
        return shownFaults(sandbox);
      },
    },
  ),
};

function setFaults({ session, open }: WorldHandle, given: FaultChange): ShownFaults {
  if (Object.values(given).every((value) => value === undefined))
    throw badRequest('', 'the body needs "fault", "chaos" or "seed", such as {"chaos": ["500:0.1"]}');
  // Check all values before any change.
  const plan = given.chaos && orBadRequest('chaos', () => parseChaos(given.chaos!));
  const sandbox = open();
  if (given.fault !== undefined) {
    const id = given.fault;
    sandbox.deviation = id === null ? undefined : { id, change: deviations.get(id)!.change };
    sandbox.service = newService(session.options, sandbox.deviation);
    emitChange(session, sandbox, id === null ? 'no fault' : `fault ${id} on`);
  }
  if (given.chaos !== undefined || given.seed !== undefined) {
    const { chaos: now } = sandbox;
    const { seed = now.seed } = given;
    const rules = given.chaos === undefined ? now.plan : (plan ?? []);
    // The queue of the next requests stays.
    sandbox.chaos = { plan: rules, seed, drawn: new Map(), queue: now.queue };
    emitChange(session, sandbox, rules.length === 0 ? 'no chaos' : `chaos ${rules.map(ruleSpec).join(', ')}`);
  }
  return shownFaults(sandbox);
}

export function shownFaults({ deviation, chaos: { plan, seed, queue } }: Sandbox): ShownFaults {
  const next = queue.map(({ action, ...more }) => ({ kind: chaosName(action), ...more }));
  return { fault: deviation?.id ?? null, chaos: plan.map(ruleSpec), seed, next };
}

/** Runs `act` and turns a Problem into a Refusal with 400 that names `place`. */
function orBadRequest<Result>(place: string, act: () => Result): Result {
  try {
    return act();
  } catch (error) {
    throw error instanceof Problem ? new Refusal(400, error.message, { place }) : error;
  }
}
