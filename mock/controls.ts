import { randomUUID } from 'node:crypto';
// Not the global timers: a test runner may replace them with fake ones.
import { clearTimeout, setTimeout } from 'node:timers';
import { checkFixture } from '../schemas/fixture.ts';
import { namedKeys, type Environment } from '../schemas/fixture-keys.ts';
import type { Fixture } from '../schemas/generated/types.ts';
import { clock } from './controls/clock.ts';
import { users } from './controls/data.ts';
import { deposits } from './controls/deposits.ts';
import { faults } from './controls/faults.ts';
import { keys, limits } from './controls/keys.ts';
import { methodsOf, operation, bySchema } from './controls/operation.ts';
import { requests, type RequestQuery } from './controls/requests.ts';
import type { JournalEntry } from './journal.ts';
import { listMagicValues } from './magic-values.ts';
import { applyProviderState } from './provider-state.ts';
import { worldHandle, replaceFixture, resetAll, resetWorld, emitChange } from './session.ts';
import type { WorldHandle, Session, Watcher } from './session.ts';

/** A provider state, as in Pact. */
export interface StateChange {
  readonly state: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly action?: 'setup' | 'teardown';
}

const stateSchema = {
  type: 'object',
  required: ['state'],
  properties: {
    state: { enum: ['key revoked', 'deposit executed'] },
    params: { type: 'object' },
    action: { enum: ['setup', 'teardown'] },
  },
};

/** Operations on one world. */
export const worldOperations = {
  clock,
  deposits,
  users,
  keys,
  limits,
  faults,
  requests,
  // Follows Pact's provider states. `verify` can use it as its state hook.
  state: operation('POST /state', 'Sets up a provider state, or tears it down.', {
    body: bySchema<StateChange>(stateSchema),
    example: { state: 'key revoked', params: { key: 'northwind-key' } },
    args: (change: StateChange) => [change],
    run: ({ session, open }, change) => {
      applyProviderState(open().world, change);
      emitChange(session, open(), `state ${change.state}`);
    },
  }),
  reset: operation(
    'POST /reset',
    'Resets data, clock, rate limits, faults and journal of one world (?world=) or of all, to what the mock started with.',
    {
      run: ({ session, name, isAll }) => {
        if (isAll) resetAll(session);
        else resetWorld(session, name);
        return { reset: isAll ? 'all' : name };
      },
      gives: () => undefined,
    },
  ),
};

/** Operations on the whole mock. */
export const mockOperations = {
  worlds: operation('GET /worlds', 'Names of the worlds other than main, oldest first.', {
    result: 'worlds',
    isGlobal: true,
    run: ({ session }) => ({ worlds: [...session.sandboxes.keys()] }),
    gives: ({ worlds }): readonly string[] => worlds,
  }),
  magicValues: operation('GET /magic-values', 'An id and a key for each state that the fixture can show.', {
    result: 'magicValues',
    isGlobal: true,
    run: ({ session }) => ({ values: listMagicValues(session) }),
    gives: ({ values }) => values,
  }),
  fixture: operation(
    'GET /fixture',
    'The fixture that is served, with names instead of keys that are not public.',
    {
      result: 'shownFixture',
      isGlobal: true,
      run: ({ session }) => (session.arePublicKeys ? session.fixture : withKeyNames(session.fixture)),
    },
  ),
};

function withKeyNames({ apiKeys, ...fixture }: Fixture): Fixture {
  if (apiKeys === undefined) return fixture;
  return { ...fixture, apiKeys: namedKeys(apiKeys).map(({ name, ...apiKey }) => ({ ...apiKey, key: name })) };
}

/**
 * The controls of one world, with the same effects and results as the admin API. A call that is refused
 * throws a Refusal with the status of the admin API.
 */
export interface Controls extends ReturnType<typeof worldControls> {}

/** A mock in this process: the controls of the main world, and access to the other worlds. */
export interface ControlledMock extends ReturnType<typeof createControls> {}

/**
 * Creates the controls of a session. `reset` is about all worlds.
 *
 * @param env values for `${NAME}` in the keys of a fixture
 */
export function createControls(session: Session, env: Environment = process.env) {
  const main = worldHandle(session, '', true);
  return {
    ...worldControls(session, '', main),
    ...methodsOf(mockOperations, main),
    /**
     * Returns the controls of the world that requests choose with `~` and its name after the key. The default
     * is a new name.
     *
     * @throws Refusal with 400 for an invalid name
     */
    world: (name: string = randomUUID()): Controls & { readonly name: string } => ({
      name,
      ...worldControls(session, name),
    }),
    /**
     * Serves another fixture until the next reset of the mock, and resets everything. Rejects a wrong fixture with
     * a Problem with code `fixture` and keeps the current one.
     */
    replaceFixture: async (fixture: Fixture): Promise<void> =>
      replaceFixture(session, checkFixture(fixture, 'fixture', env)),
    /** Calls `watcher` with all events. Call the returned function to stop. */
    watch: (watcher: Watcher): (() => void) => watchEvents(session, watcher),
  } as const;
}

export function watchEvents({ watchers }: Session, watcher: Watcher): () => void {
  watchers.add(watcher);
  return () => void watchers.delete(watcher);
}

/** Creates the controls of a world. */
export function worldControls(session: Session, name: string, handle = worldHandle(session, name)) {
  const methods = methodsOf(worldOperations, handle);
  return {
    ...methods,
    clock: {
      ...methods.clock,
      /** Returns the time in Unix ms. */
      now: () => methods.clock.get().now,
    },
    /** The journal. `requests(query)` is `requests.find(query)`. */
    requests: Object.assign((query?: RequestQuery) => methods.requests.find(query), methods.requests, {
      /** Returns how many requests the journal dropped, because it was full. */
      dropped: () => handle.peek().journal.dropped,
    }),
    /** Whether a request or a change reached this world. A GET of the admin API does not. */
    isUsed: () => isUsed(handle),
    /**
     * Waits for a matching request, one in the journal included.
     *
     * @param options `timeoutMs`: how long to wait, in ms; default 1000
     * @throws Error if none came in time
     */
    waitForRequest: (query: RequestQuery = {}, { timeoutMs = 1000 }: { readonly timeoutMs?: number } = {}) =>
      waitForRequest(session, () => methods.requests.find(query)[0], timeoutMs),
  } as const;
}

export const isUsed = ({ session, name }: WorldHandle) => name === '' || session.sandboxes.has(name);

function waitForRequest(session: Session, find: () => JournalEntry | undefined, timeoutMs: number) {
  return new Promise<JournalEntry>((resolve, reject) => {
    const end = (act: () => void) => {
      stop();
      clearTimeout(timer);
      act();
    };
    const look = () => {
      const found = find();
      if (found !== undefined) end(() => resolve(found));
    };
    const fail = () => end(() => reject(new Error(`no such request came in ${timeoutMs} ms`)));
    const timer = setTimeout(fail, timeoutMs);
    const stop = watchEvents(session, look);
    look();
  });
}
