import { randomUUID } from 'node:crypto';
// Not the global timers: a test runner may replace them with fake ones.
import { clearTimeout, setTimeout } from 'node:timers';
import type { Fixture } from '../schemas/generated/types.ts';
import { keyNames } from '../schemas/fixture-keys.ts';
import { endpoints, type Endpoint } from '../schemas/endpoints.ts';
import { Problem } from '../schemas/problem.ts';
import { chaosName, parseChaos, parseQueuedChaos, ruleSpec } from './chaos.ts';
import { clockControls, type ClockControls } from './controls/clock.ts';
import { depositControls, keyControls, limitControls, userControls } from './controls/data.ts';
import type { DepositControls, KeyControls, LimitControls, UserControls } from './controls/data.ts';
import { checkFields, inputs } from './controls/inputs.ts';
import { gradeClients, requestControls, type RequestQuery } from './controls/requests.ts';
import type { JournalEntry } from './journal.ts';
import { faults } from './faults.ts';
import { listMagicValues } from './magic-values.ts';
import { applyProviderState } from './provider-state.ts';
import { worldHandle, Refusal, resetAll, resetWorld, newService, emitChange, badRequest } from './session.ts';
import type { Sandbox, Session, Watcher } from './session.ts';
import { variants } from './variants.ts';
import { worldNameProblem } from './world.ts';

export interface FaultChange {
  readonly fault?: string | null | undefined;
  readonly chaos?: readonly string[] | null | undefined;
  readonly seed?: number | undefined;
}

/** A provider state, as in Pact. */
export interface StateChange {
  readonly state: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly action?: 'setup' | 'teardown';
}

/**
 * The controls of one world, with the same effects and results as the admin API. A call that is refused
 * throws a Refusal with the status of the admin API.
 */
export interface Controls extends ReturnType<typeof worldControls> {}

/** A mock in this process: the controls of the main world, and access to the other worlds. */
export interface ControlledMock extends ReturnType<typeof createControls> {}

/** Creates the controls of a session. */
export function createControls(session: Session) {
  return {
    ...worldControls(session, ''),
    /** Grades the clients by the requests in all worlds. */
    scorecard: () => gradeClients(session, [session.main, ...session.sandboxes.values()]),
    /** Resets the mock to its start. This removes all worlds but the main one. */
    reset: () => resetAll(session),
    /**
     * Returns the controls of the world that requests choose with `~` and its name after the key. The default
     * is a new name.
     *
     * @throws Refusal with 400 for an invalid name
     */
    world: (name = randomUUID() as string): Controls & { readonly name: string } => {
      const wrong = worldNameProblem(name);
      if (wrong !== undefined) throw badRequest('world', wrong);
      const place = worldHandle(session, name);
      // As long as the caller keeps the handle, or a part of it, the world is not evicted.
      if (name !== '') session.held.set(name, new WeakRef(place));
      return { name, ...worldControls(session, name, place) };
    },
    /** Lists the worlds besides the main one, least recently used first. */
    worlds: (): readonly string[] => [...session.sandboxes.keys()],
    /** Lists an id and a key for each state of the interface. */
    magicValues: () => listMagicValues(session),
    /** Returns the served fixture, with names instead of secret keys. */
    fixture: () => (session.arePublicKeys ? session.fixture : withKeyNames(session.fixture)),
    /** Calls `watcher` with all events. Call the returned function to stop. */
    watch: (watcher: Watcher): (() => void) => {
      session.watchers.add(watcher);
      return () => void session.watchers.delete(watcher);
    },
  } as const;
}

/** Creates the controls of a world. Each call looks the sandbox up, because a reset replaces it. */
export function worldControls(session: Session, name: string, world = worldHandle(session, name)) {
  const { open, peek } = world;
  // Named types keep the docs in the declarations.
  const clock: ClockControls = clockControls(world);
  const deposits: DepositControls = depositControls(world);
  const users: UserControls = userControls(world);
  const keys: KeyControls = keyControls(world);
  const limits: LimitControls = limitControls(world);
  const requests = requestControls(session, name);
  const next = (kind: string | number, count?: number, endpoint?: Endpoint) => {
    checkFields(inputs.nextFault, { kind, count, endpoint });
    if (typeof kind !== 'string' && typeof kind !== 'number')
      throw badRequest('kind', 'must be a string or a status');
    if (endpoint !== undefined && !Object.hasOwn(endpoints, endpoint))
      throw badRequest('endpoint', `must be one of ${Object.keys(endpoints).join(', ')}`);
    const queued = orBadRequest('kind', () => parseQueuedChaos(`${kind}`, count ?? 1, endpoint));
    const { chaos } = open();
    if (chaos.queue.length >= MAX_QUEUED) throw badRequest('kind', `${kind}: ${TOO_MANY_QUEUED}`);
    chaos.queue = [...chaos.queue, queued];
    emitChange(session, open(), `chaos ${kind} for the next ${queued.count}`);
    return shownFaults(open());
  };
  const setChaos = (specs: readonly string[], seed = peek().chaos.seed) => {
    const plan = parseChaos(checkChaos(specs));
    open().chaos = { plan, seed, drawn: new Map(), queue: open().chaos.queue };
    const shown = shownFaults(open());
    emitChange(session, open(), specs.length === 0 ? 'no chaos' : `chaos ${shown.chaos.join(', ')}`);
    return shown;
  };
  return {
    clock,
    deposits,
    users,
    keys,
    limits,
    faults: {
      list: () => deviations.map(([id, { what }]) => ({ id, what })),
      get: () => shownFaults(peek()),
      /** Sets the fault or variant (an id), the chaos (specs) and its seed, if given. null switches off. */
      set: (change: FaultChange) => {
        const { fault, chaos, seed } = checkFields(inputs.faults, change) as FaultChange;
        // Check all values before any change.
        const specs = chaos === undefined ? undefined : checkChaos(chaos);
        const deviation = deviations.find(([id]) => id === fault);
        if (fault !== undefined && fault !== null && deviation === undefined)
          throw badRequest('fault', 'must be an id that GET /__admin/faults lists, or null');
        if (fault !== undefined) {
          const sandbox = open();
          sandbox.deviation = deviation && { id: deviation[0], change: deviation[1].change };
          sandbox.service = newService(session.options, sandbox.deviation);
          emitChange(session, sandbox, deviation ? `fault ${deviation[0]} on` : 'no fault');
        }
        if (specs !== undefined || seed !== undefined) setChaos(specs ?? shownFaults(peek()).chaos, seed);
        return shownFaults(peek());
      },
      /** Queues chaos for the next requests, such as `503`, `reset`, `slow:2s`. */
      next,
    },
    /** Chaos as specs such as `500:0.1`. A wrong spec throws a Problem. */
    chaos: {
      /** Sets the chaos and restarts its draws. The queue of the next requests stays. */
      set: setChaos,
      /** Same as `faults.next`. */
      next,
    },
    /** Sets up or tears down a provider state. */
    state: (change: StateChange) => {
      const problem = applyProviderState(open().world, change);
      const [place = 'body'] = /^\w+/.exec(problem ?? '') ?? [];
      if (problem !== undefined) throw new Refusal(400, problem, { place });
      emitChange(session, open(), `state ${change.state}`);
    },
    requests,
    /** Whether a request or a change reached this world. A GET of the admin API does not. */
    isUsed: () => name === '' || session.sandboxes.has(name),
    /**
     * Waits for a matching request, one in the journal included.
     *
     * @param options `timeoutMs`: how long to wait, in ms; default 1000
     * @throws Error if none came in time
     */
    waitForRequest: (query: RequestQuery = {}, options: { readonly timeoutMs?: number } = {}) =>
      waitForRequest(session, () => requests(query)[0], options.timeoutMs ?? 1000),
    /** Grades the clients by the requests in this world. */
    scorecard: () => gradeClients(session, [peek()]),
    /**
     * Checks that the clients broke no rule in this world.
     *
     * @throws Error with the broken rules and their requests
     */
    assertKept: async () => {
      const { scorecardFormats } = await import('./scorecard.ts');
      const card = await gradeClients(session, [peek()]);
      const broken = card.rules.filter(({ outcome }) => outcome === 'broken');
      if (broken.length > 0) throw new Error(`\n${scorecardFormats.text.write({ ...card, rules: broken })}`);
    },
    /** Resets this world to the fixture. */
    reset: () => resetWorld(session, name),
  } as const;
}

function waitForRequest(session: Session, find: () => JournalEntry | undefined, timeoutMs: number) {
  return new Promise<JournalEntry>((resolve, reject) => {
    const end = (act: () => void) => {
      session.watchers.delete(look);
      clearTimeout(timer);
      act();
    };
    const look = () => {
      const found = find();
      if (found !== undefined) end(() => resolve(found));
    };
    const fail = () => end(() => reject(new Error(`no such request came in ${timeoutMs} ms`)));
    const timer = setTimeout(fail, timeoutMs);
    session.watchers.add(look);
    look();
  });
}

const deviations = Object.entries({ ...faults, ...variants });

const MAX_QUEUED = 1000;
const TOO_MANY_QUEUED = `${MAX_QUEUED} calls are queued already; use a count instead`;

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

export function shownFaults({ deviation, chaos: { plan, seed, queue } }: Sandbox): ShownFaults {
  const next = queue.map(({ action, ...more }) => ({ kind: chaosName(action), ...more }));
  return { fault: deviation?.id ?? null, chaos: plan.map(ruleSpec), seed, next };
}

/** @throws Refusal with 400 if the value is neither null nor a list of chaos specs */
function checkChaos(value: unknown): readonly string[] {
  const specs = value ?? [];
  if (!Array.isArray(specs) || !specs.every((spec) => typeof spec === 'string'))
    throw badRequest('chaos', 'must be a list of strings such as ["500:0.1", "slow:200ms..2s"], or null');
  orBadRequest('chaos', () => parseChaos(specs));
  return specs;
}

/** Runs `act` and turns a Problem into a Refusal with 400 that names `place`. */
function orBadRequest<Result>(place: string, act: () => Result): Result {
  try {
    return act();
  } catch (error) {
    throw error instanceof Problem ? new Refusal(400, error.message, { place }) : error;
  }
}

function withKeyNames({ apiKeys, ...fixture }: Fixture): Fixture {
  if (apiKeys === undefined) return fixture;
  const names = keyNames(apiKeys);
  return { ...fixture, apiKeys: apiKeys.map((apiKey, index) => ({ ...apiKey, key: names[index]! })) };
}
