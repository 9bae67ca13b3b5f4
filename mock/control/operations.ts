import packageJson from '../../package.json' with { type: 'json' };
import type {
  DataFilter,
  Fixture,
  FixtureLimits,
  NextAnswer,
  RequestFilter,
  ResetBody,
  StateChange,
} from '../../schemas/generated/types.ts';
import { changeClock, shownClock } from './clock.ts';
import { applyState, findKey, pageOf, readPart, setDeposit, setKey, setUser, shownKey } from './entities.ts';
import { listExamples } from '../server/examples.ts';
import { faults } from '../deviations/faults.ts';
import type { DeviationId } from '../deviations/generated/ids.ts';
import { splitTarget } from '../server/handler.ts';
import { clearJournal, readJournal, type JournalEntry } from './journal.ts';
import { checkNext, shownNext } from './next.ts';
import { gaugesOf } from '../server/limiter.ts';
import { badRequest, checkInput, Refusal, type Schema } from '../server/refusal.ts';
import {
  addressedWorld,
  checkWorldName,
  keepSandbox,
  newService,
  peekSandbox,
  resetAll,
  resetWorld,
  timeIn,
  type ControlContext,
  type Sandbox,
  type Session,
} from './session.ts';
import { variants } from '../deviations/variants.ts';
import { depositNow, valuesOf } from '../server/world.ts';

/** An operation of the mock. Its arguments are the `{id}` of the path, if there is one, and then query or body. */
export interface Operation<Args extends readonly never[] = readonly never[], Result = unknown> {
  /** Method, and path below `/__admin`. */
  readonly call: string;
  /** The schema of query or body. Without one, the operation itself checks them. */
  readonly input?: Schema;
  /** Applies to all worlds and has no `?world=`. */
  readonly isGlobal?: true;
  /** Needs neither a token nor a loopback name. */
  readonly isPublic?: true;
  /** Changes its world, which is kept from then on. */
  readonly isChange?: true;
  /** Changes only data. */
  readonly isData?: true;
  readonly run: (context: ControlContext, ...args: Args) => Result;
}

const operation = <Args extends readonly unknown[], Result>(
  call: string,
  run: (context: ControlContext, ...args: Args) => Result,
  more: Pick<Operation, 'input' | 'isGlobal' | 'isPublic' | 'isData'> = {},
) => ({ call, run, ...more });

const change = <Args extends readonly unknown[], Result>(
  ...given: Parameters<typeof operation<Args, Result>>
) => ({ ...operation(...given), isChange: true as const });

const deviations = Object.values({ ...faults, ...variants });

/** The operations of the mock. HTTP and JavaScript are derived from this table. */
export const operations = {
  /** Says that the mock is running, and its version. Needs no token. */
  health: operation(
    'GET /health',
    () => ({ status: 'healthy', name: packageJson.name, version: packageJson.version }),
    { isGlobal: true, isPublic: true },
  ),
  /** The requests of the journal, oldest first, each with its answer and the reason. */
  requests: operation('GET /requests', findRequests, { input: 'requestFilter' }),
  /** Clears the journal. */
  clearRequests: operation('DELETE /requests', ({ sandbox }) => clearJournal(sandbox.journal)),
  /** Users, deposits as they are now, keys by name, limits and how full they are, fault, next answers, requests to try, and the worlds. */
  data: operation(
    'GET /data',
    ({ session, sandbox }, filter: DataFilter = {}) => {
      const { world, service, deviation, next } = sandbox;
      const now = timeIn(session, sandbox);
      const users = pageOf(valuesOf(world.users), filter, (user) => user);
      const deposits = pageOf(valuesOf(world.deposits), filter, (one) => depositNow(world, one, now));
      const keys = pageOf(valuesOf(world.keys), filter, (key) => shownKey(session, sandbox, key));
      return {
        users: users.items,
        deposits: deposits.items,
        keys: keys.items,
        totals: { users: users.total, deposits: deposits.total, keys: keys.total },
        fault: deviation?.id ?? null,
        next: shownNext(next),
        limits: world.limits,
        limiters: gaugesOf(service.behaviour, world, now),
        examples: listExamples(session),
        worlds: [...session.sandboxes.keys()],
      };
    },
    { input: 'dataFilter' },
  ),
  /** Serves another fixture until a reset, and resets all worlds. */
  setData: operation(
    'PUT /data',
    ({ session }, given: Fixture) => {
      const fixture = readPart(given ?? null);
      if (Object.keys(fixture).length === 0)
        throw badRequest('', 'the fixture is empty; a reset restores the initial one');
      resetAll(session, { fixture, arePublicKeys: false });
      const { partners = [], apiKeys = [], users = [], deposits = [] } = fixture;
      const counts = Object.entries({ partners, apiKeys, users, deposits });
      return Object.fromEntries(counts.map(([name, { length }]) => [name, length]));
    },
    { isGlobal: true },
  ),
  /** Changes a user, or adds one. */
  setUser: change('PUT /users/{id}', setUser, { isData: true }),
  /** Changes a deposit, or adds one; afterSeconds and afterPolls count from now. */
  setDeposit: change('PUT /deposits/{id}', setDeposit, { isData: true }),
  /** Changes a key by its value or name; a new one needs "key". expiresAfterSeconds counts from now. */
  setKey: change('PUT /keys/{id}', setKey, { isData: true }),
  /** Sets the limits for all keys, as in a fixture. An endpoint that is not given has none. */
  setLimits: change('PUT /limits', ({ sandbox }, given: FixtureLimits) => {
    const { limits } = readPart({ limits: given ?? null }, 'limits');
    sandbox.world = { ...sandbox.world, limits: limits! };
    return { limits: limits! };
  }),
  /** The time and the speed of the clock. */
  clock: operation('GET /clock', ({ session, sandbox }) => shownClock(session, sandbox)),
  /** Sets the time, moves it, sets the speed. Set back, it keeps remaining times: what was due in 3 s stays due in 3 s. */
  setClock: change('PUT /clock', changeClock, { input: 'clockChange' }),
  /** The active fault or variant, and all that there are. */
  fault: operation('GET /fault', ({ sandbox }) => ({
    fault: sandbox.deviation?.id ?? null,
    faults: deviations.map(({ id, what }) => ({ id, what })),
  })),
  /** Sets the fault or variant; null switches it off. */
  setFault: change(
    'PUT /fault',
    ({ session, sandbox }, { fault }: { readonly fault: DeviationId | null }) => {
      const found = deviations.find(({ id }) => id === fault);
      if (fault !== null && found === undefined)
        throw badRequest('fault', 'is not an id that GET /__admin/fault lists');
      sandbox.deviation = found;
      sandbox.service = newService(session.options, found);
      return { fault };
    },
    { input: 'faultChange' },
  ),
  /** Sets what happens to the next requests: an answer, or a list of them. */
  next: change('POST /next', ({ sandbox: { next } }, given: NextAnswer | readonly NextAnswer[]) => {
    next.push(...checkNext(given, next.length));
    return { next: shownNext(next) };
  }),
  /** Resets one world (?world=) or all to what the mock started with. */
  reset: operation(
    'POST /reset',
    ({ session, sandbox, isAll }, _body: ResetBody = {}) => {
      if (isAll) resetAll(session);
      else resetWorld(session, sandbox.name);
    },
    { input: 'reset' },
  ),
  /** Sets up a provider state as in Pact, or tears it down. `verify` can use it as its state hook. */
  state: change('POST /state', ({ sandbox }, state: StateChange) => applyState(sandbox.world, state), {
    input: 'stateChange',
    isData: true,
  }),
};

/**
 * Runs an operation in a world. HTTP and JavaScript both call it, so they refuse the same input with the same words.
 *
 * @param name of the world; undefined: the main world, or all
 * @throws Refusal with 400 and the first wrong place, or what the operation throws
 */
export function perform(
  one: Operation,
  session: Session,
  name: string | undefined,
  args: readonly unknown[],
) {
  const hasId = one.call.includes('{id}');
  const [id, input] = hasId ? args : [undefined, ...args];
  const what = one.call.startsWith('GET') ? 'query' : 'body';
  try {
    checkWorldName(session, name ?? '');
    if (one.isGlobal && name !== undefined)
      throw badRequest('world', 'is unknown here: the call is about all worlds');
    if (hasId && typeof id !== 'string') throw badRequest('id', 'must be a text');
    if (args.length > Number(hasId) + 1) throw badRequest('', `${one.call} takes one ${what}`);
    if (one.input !== undefined) checkInput(one.input, what, input === undefined ? {} : input);
    else if (one.run.length < 2 && input !== undefined && !isEmpty(input))
      throw badRequest('', `${one.call} takes no ${what}`);
    const sandbox = peekSandbox(session, name ?? '');
    const context = { session, sandbox, isAll: name === undefined };
    const result = one.run(context, ...(args as readonly never[]));
    // Not before: a refused call creates no world.
    if (one.isChange) {
      keepSandbox(session, sandbox);
      // Data from before the first request are like a fixture.
      if (!one.isData || sandbox.journal.noted > 0) sandbox.world.isSetUp = true;
    }
    return result;
  } catch (error) {
    throw error instanceof Refusal ? withoutKeys(session, error) : error;
  }
}

const isEmpty = (input: unknown) =>
  typeof input === 'object' && input !== null && Object.keys(input).length === 0;

/** The message and the place of a refusal may repeat a part of the input, which may be a key. */
export function withoutKeys(
  { redactor: { redact } }: Session,
  { status, message, details }: Refusal,
): Refusal {
  const { place } = details;
  return new Refusal(status, redact(message), {
    ...details,
    ...(place !== undefined && { place: redact(place) }),
  });
}

function findRequests(context: ControlContext, filter: RequestFilter = {}) {
  const { sandbox, key } = searchedWorld(context, filter.key);
  const { kept, dropped, droppedTo } = readJournal(sandbox.journal);
  const { method, path, target, endpoint, status, reason, since = 0, limit } = filter;
  if (dropped > 0 && since < droppedTo && limit === undefined)
    throw new Refusal(
      409,
      `the journal keeps ${sandbox.journal.size} requests and dropped ${dropped}: ask for those since ${droppedTo}, give a limit, or keep more with --journal`,
      { place: 'since', dropped },
    );
  const is = <Value>(wanted: Value | undefined, value: Value | undefined) =>
    wanted === undefined || wanted === value;
  const matches = (one: JournalEntry) =>
    one.id > since &&
    is(method, one.method) &&
    is(path, splitTarget(one.target).path) &&
    is(target, one.target) &&
    is(endpoint, one.endpoint) &&
    is(key, one.key) &&
    is(status, one.status) &&
    one.reason.includes(reason ?? '');
  const found = kept.filter(matches);
  const requests = limit === undefined ? found : found.slice(Math.max(0, found.length - limit));
  // A mistyped world would make every check true that no request came.
  const isUnused = sandbox.name !== '' && !context.session.sandboxes.has(sandbox.name);
  return { requests, dropped, ...(isUnused && { unused: true }) };
}

/** Returns the world to search, which the key may name, and the name of the key in its journal. */
function searchedWorld({ session, sandbox }: ControlContext, asked: string | undefined) {
  if (asked === undefined) return { sandbox, key: undefined };
  const named = addressedWorld(session, asked);
  if (named === undefined) return { sandbox, key: nameOf(sandbox, asked) };
  if (named.problem !== undefined) throw badRequest('key', `is invalid: ${named.problem}`);
  if (sandbox.name !== '' && sandbox.name !== named.name)
    throw badRequest('key', 'names another world than the call');
  const found = peekSandbox(session, named.name);
  return { sandbox: found, key: nameOf(found, named.key) };
}

/** A key that there is not is refused: a test that expects no such request would always pass. */
function nameOf(sandbox: Sandbox, asked: string): string {
  const { name } = findKey(sandbox, asked) ?? {};
  if (name !== undefined) return name;
  throw badRequest('key', 'is not a key or a name that GET /__admin/data lists');
}
