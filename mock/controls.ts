import { randomUUID } from 'node:crypto';
import type { Fixture } from '../schemas/generated/types.ts';
import { keyNames } from '../schemas/fixture-keys.ts';
import { Problem, wrongUsage } from '../schemas/problem.ts';
import { chaosName, newChaos, parseChaos, queuedChaos, specOf } from './chaos.ts';
import { clockIn, type ClockControls } from './controls/clock.ts';
import { depositsIn, keysIn, limitsIn, usersIn } from './controls/data.ts';
import type { DepositControls, KeyControls, LimitControls, UserControls } from './controls/data.ts';
import { gradeOf, requestsIn } from './controls/requests.ts';
import { faults } from './faults.ts';
import { shownMagicValues } from './magic-values.ts';
import { changeState } from './provider-state.ts';
import { placeOf, Refusal, resetAll, resetWorld, serviceWith, tellChange, wrongAt } from './session.ts';
import type { Sandbox, Session, Watcher } from './session.ts';
import { variants } from './variants.ts';
import { wrongWorldName } from './world.ts';

export interface FaultChange {
  readonly fault?: string | null | undefined;
  readonly chaos?: readonly string[] | null | undefined;
  readonly seed?: number | undefined;
}

/** As in Pact's provider states. */
export interface StateChange {
  readonly state: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly action?: 'setup' | 'teardown';
}

/**
 * What a test may do to one world of a mock. It is done when the call returns. The calls of the admin API do the
 * same, with the same results. What the mock refuses is thrown as a Refusal: its status is that of the admin API.
 */
export interface Controls extends ReturnType<typeof controlsIn> {}

/** A mock in this process: the main world, and a way to the others. */
export interface ControlledMock extends ReturnType<typeof controlsOf> {}

/** The controls of a session. */
export function controlsOf(session: Session) {
  return {
    ...controlsIn(session, ''),
    /** Grades the client by the requests of all worlds. */
    scorecard: () => gradeOf(session, [session.main, ...session.sandboxes.values()]),
    /** Makes everything what the mock started with, in all worlds. */
    reset: () => resetAll(session),
    /**
     * The world that keys open with `~` and its name; a new one without a name.
     *
     * @throws Refusal, 400 for a name that no world can have
     */
    world: (name = randomUUID() as string): Controls & { readonly name: string } => {
      const wrong = wrongWorldName(name);
      if (wrong !== undefined) throw wrongAt('world', wrong);
      return { name, ...controlsIn(session, name) };
    },
    /** Names of the worlds besides the main one, the least recently used first. */
    worlds: (): readonly string[] => [...session.sandboxes.keys()],
    /** What shows each state of the interface: an id, and the key to ask with. */
    magicValues: () => shownMagicValues(session),
    /** What is served, with names instead of keys that are not public. */
    fixture: () => (session.arePublicKeys ? session.fixture : withoutKeys(session.fixture)),
    /** Calls a function with everything that happens, until the function that is returned is called. */
    watch: (watcher: Watcher): (() => void) => {
      session.watchers.add(watcher);
      return () => void session.watchers.delete(watcher);
    },
  } as const;
}

/** The controls of the world of a name. A reset makes another sandbox: they look it up each time. */
export function controlsIn(session: Session, name: string) {
  const where = placeOf(session, name);
  const { here, seen } = where;
  // By name, so that their declarations keep their docs.
  const clock: ClockControls = clockIn(where);
  const deposits: DepositControls = depositsIn(where);
  const users: UserControls = usersIn(where);
  const keys: KeyControls = keysIn(where);
  const limits: LimitControls = limitsIn(where);
  const requests = requestsIn(session, name);
  const next = (kind: string | number, count = 1) => {
    const { chaos } = here();
    const queued = queuedChaos(`${kind}`, count);
    if (chaos.queue.length >= MAX_QUEUED) throw wrongUsage(`chaos ${kind}: ${TOO_MANY}`);
    chaos.queue = [...chaos.queue, queued];
    tellChange(session, here(), `chaos ${kind} for the next ${count}`);
    return shownFaults(here());
  };
  const setChaos = (specs: readonly string[], seed = seen().chaos.seed) => {
    const plan = parseChaos(specs);
    const { queue } = here().chaos;
    here().chaos = { ...newChaos(plan, seed), queue };
    const shown = shownFaults(here());
    tellChange(session, here(), specs.length === 0 ? 'no chaos' : `chaos ${shown.chaos.join(', ')}`);
    return shown;
  };
  return {
    clock,
    deposits,
    users,
    keys,
    limits,
    /** What goes wrong. */
    faults: {
      list: () => deviations.map(([id, { what }]) => ({ id, what })),
      get: () => shownFaults(seen()),
      /** Sets what is given: a fault or variant by its id, chaos by specs, its seed. null switches off. */
      set: ({ fault, chaos, seed }: FaultChange) => {
        // Check everything before changing anything.
        const specs = chaos === undefined ? undefined : chaosOf(chaos);
        const found = deviations.find(([id]) => id === fault);
        if (fault !== undefined && fault !== null && found === undefined)
          throw wrongAt('fault', 'must be an id that GET /__admin/faults lists, or null');
        if (fault !== undefined) {
          const sandbox = here();
          sandbox.deviation = found && { id: found[0], change: found[1].change };
          sandbox.service = serviceWith(session.options, sandbox.deviation);
          tellChange(session, sandbox, found ? `fault ${found[0]} on` : 'no fault');
        }
        if (specs !== undefined || seed !== undefined) setChaos(specs ?? shownFaults(seen()).chaos, seed);
        return shownFaults(seen());
      },
      /** Queues chaos for the next requests, such as `503`, `reset`, `slow:2s`. */
      next,
    },
    /** Chaos by specs such as `500:0.1`. They throw a Problem where one is wrong. */
    chaos: {
      /** Sets the chaos; its draws begin anew. What is queued stays. */
      set: setChaos,
      /** As in `faults`. */
      next,
    },
    /** Sets up a provider state, or tears it down. */
    state: (change: StateChange) => {
      const problem = changeState(here().world, change);
      const [place = 'body'] = /^\w+/.exec(problem ?? '') ?? [];
      if (problem !== undefined) throw new Refusal(400, problem, { place });
      tellChange(session, here(), `state ${change.state}`);
    },
    requests,
    /** Grades the client by the requests of this world. */
    scorecard: () => gradeOf(session, [seen()]),
    /** Makes everything in this world what the fixture says. */
    reset: () => resetWorld(session, name),
  } as const;
}

const deviations = Object.entries({ ...faults, ...variants });

const MAX_QUEUED = 1000;
const TOO_MANY = `${MAX_QUEUED} calls are queued already; use a count instead`;

/** What goes wrong in a world, as it can be set. */
export interface ShownFaults {
  /** Id of the fault or variant. */
  readonly fault: string | null;
  readonly chaos: readonly string[];
  readonly seed: number;
  /** The chaos of the next requests. */
  readonly next: readonly { readonly kind: string; readonly count: number }[];
}

export function shownFaults({ deviation, chaos: { plan, seed, queue } }: Sandbox): ShownFaults {
  const next = queue.map(({ action, count }) => ({ kind: chaosName(action), count }));
  return { fault: deviation?.id ?? null, chaos: plan.map(specOf), seed, next };
}

/** @throws Refusal, 400 where it is neither null nor a list of chaos specs */
function chaosOf(value: unknown): readonly string[] {
  const specs = value ?? [];
  if (!Array.isArray(specs) || !specs.every((spec) => typeof spec === 'string'))
    throw wrongAt('chaos', 'must be a list of strings such as ["500:0.1", "slow:200ms..2s"], or null');
  refusing('chaos', () => parseChaos(specs));
  return specs;
}

/**
 * Does something that may find a problem with what stands at a place of a call.
 *
 * @throws Refusal, 400 with the problem
 */
export function refusing<Result>(place: string, act: () => Result): Result {
  try {
    return act();
  } catch (error) {
    throw error instanceof Problem ? new Refusal(400, error.message, { place }) : error;
  }
}

function withoutKeys({ apiKeys, ...fixture }: Fixture): Fixture {
  if (apiKeys === undefined) return fixture;
  const names = keyNames(apiKeys);
  return { ...fixture, apiKeys: apiKeys.map((apiKey, index) => ({ ...apiKey, key: names[index]! })) };
}
