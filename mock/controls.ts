import type { FixtureDeposit } from '../schemas/generated/types.ts';
import { Problem } from '../schemas/problem.ts';
import { chaosName, newChaos, parseChaos, queuedChaos, specOf } from './chaos.ts';
import { advanceClock, resetClock, scaleClock, setClock, type Moved } from './clock.ts';
import { entriesOf, type JournalEntry } from './journal.ts';
import {
  Refusal,
  resetAll,
  resetWorld,
  sandboxNamed,
  sandboxSeen,
  tell,
  timeIn,
  type Sandbox,
  type Session,
} from './session.ts';
import type { Scorecard } from './scorecard.ts';
import { depositNow, lookIn, valuesOf, type Deposit, type DepositNow, type Execution } from './world.ts';

/** What a test may do to one world of a mock. It is done when the call returns. */
export interface Controls {
  /** Each change returns what fell due: deposits, keys, limiters. Times are Unix ms. */
  readonly clock: {
    readonly now: () => number;
    /** Moves the clock on by so many ms. */
    readonly advance: (ms: number) => Moved;
    readonly set: (at: number | Date) => Moved;
    readonly freeze: () => Moved;
    /** 1: as fast as usual, 0: not at all. */
    readonly scale: (rate: number) => Moved;
    /** As if nobody had moved it. */
    readonly reset: () => Moved;
  };
  /** By reference_id. They throw a Refusal where there is no such deposit, or where its state is final. */
  readonly deposits: {
    readonly list: () => readonly DepositNow[];
    readonly get: (id: string) => DepositNow;
    readonly add: (deposit: FixtureDeposit) => DepositNow;
    readonly execute: (id: string, execution?: Partial<Execution>) => DepositNow;
    readonly fail: (id: string) => DepositNow;
  };
  /** Chaos by specs such as `500:0.1`. They throw a Problem where one is wrong. */
  readonly chaos: {
    /** Sets the chaos; its draws begin anew. */
    readonly set: (specs: readonly string[], seed?: number) => ShownChaos;
    /** Chaos for the next requests: `503`, `reset`, `timeout`, `truncate`, `slow:2s`. */
    readonly next: (kind: string, count?: number) => ShownChaos;
  };
  /** The last requests, oldest first, each with the reason of its answer. */
  readonly requests: () => readonly JournalEntry[];
  /** Grades the client by these requests; the scorecard of the mock itself grades all worlds. */
  readonly scorecard: () => Promise<Scorecard>;
  /** Makes everything what the fixture says; the reset of the mock itself resets all worlds. */
  readonly reset: () => void;
}

/** A mock in this process: the main world, and a way to the others. */
export interface ControlledMock extends Controls {
  /** The world that keys open with `~` and its name. */
  readonly world: (name: string) => Controls;
}

/** The controls of a session. */
export function controlsOf(session: Session): ControlledMock {
  return {
    ...controlsIn(session, ''),
    scorecard: () => gradeOf(session, [session.main, ...session.sandboxes.values()]),
    reset: () => resetAll(session),
    world: (name) => controlsIn(session, name),
  };
}

function controlsIn(session: Session, name: string): Controls {
  // A reset makes another sandbox: look it up each time.
  const here = () => sandboxNamed(session, name);
  const seen = () => sandboxSeen(session, name);
  return {
    clock: {
      now: () => timeIn(session, seen()),
      advance: (ms) => advanceClock(session, here(), ms),
      set: (at) => setClock(session, here(), Number(at)),
      freeze: () => scaleClock(session, here(), 0),
      scale: (rate) => scaleClock(session, here(), rate),
      reset: () => resetClock(session, here()),
    },
    deposits: {
      list: () => {
        const sandbox = seen();
        return valuesOf(sandbox.world.deposits).map((deposit) => depositIn(session, sandbox, deposit));
      },
      get: (id) => depositIn(session, seen(), knownDeposit(seen(), id)),
      add: (deposit) => addDeposit(session, here(), deposit),
      execute: (id, execution) => executeDeposit(session, here(), id, execution),
      fail: (id) => failDeposit(session, here(), id),
    },
    chaos: {
      set: (specs, seed) => setChaos(session, here(), specs, seed),
      next: (kind, count) => queueChaos(session, here(), kind, count),
    },
    requests: () => entriesOf(seen().journal, session.redact),
    scorecard: () => gradeOf(session, [seen()]),
    reset: () => resetWorld(session, name),
  };
}

/** Grades the clients of some worlds. The rules are loaded when somebody asks. */
export async function gradeOf(
  { options, redact }: Session,
  sandboxes: readonly Sandbox[],
): Promise<Scorecard> {
  const { GRACE, scorecardOf } = await import('./scorecard.ts');
  return scorecardOf(
    sandboxes.flatMap(({ journal }) => entriesOf(journal, redact)),
    GRACE + (options.delayMs ?? 0),
  );
}

/** Amount (USD) of an executed deposit where neither the call nor the fixture gives one. */
const DEFAULT_AMOUNT = 100;

/**
 * Adds a deposit, as a fixture would have it; `afterSeconds` counts from now.
 *
 * @throws Refusal, 400 where there is no such user, 409 where there is such a deposit
 */
export function addDeposit(session: Session, sandbox: Sandbox, deposit: FixtureDeposit): DepositNow {
  const { reference_id, user_id } = deposit;
  if (lookIn(sandbox.world.users, user_id.toLowerCase()) === undefined)
    throw new Refusal(400, `user_id ${user_id} is not among the users; POST /__admin/users adds one`, {
      place: 'user_id',
    });
  if (lookIn(sandbox.world.deposits, reference_id.toLowerCase()) !== undefined)
    throw new Refusal(409, `there is a deposit ${reference_id} already`, { place: 'reference_id' });
  const since = timeIn(session, sandbox);
  return putDeposit(session, sandbox, 'added', { ...deposit, since });
}

/**
 * Executes a pending deposit now, with what is given, or what the fixture plans, or 100 USD now.
 *
 * @throws Refusal, 404 where there is none, 409 where its state is final
 */
export function executeDeposit(
  session: Session,
  sandbox: Sandbox,
  id: string,
  given: { readonly [Name in keyof Execution]?: number | undefined } = {},
): DepositNow {
  const { reference_id, user_id, ...deposit } = pendingDeposit(session, sandbox, id);
  const planned = deposit.state === 'pending' ? deposit.becomes : undefined;
  return putDeposit(session, sandbox, 'executed', {
    reference_id,
    user_id,
    state: 'EXECUTED',
    amountInUsd: given.amountInUsd ?? planned?.amountInUsd ?? DEFAULT_AMOUNT,
    executedAt: Math.trunc(given.executedAt ?? planned?.executedAt ?? timeIn(session, sandbox)),
  });
}

/**
 * Lets a pending deposit fail now.
 *
 * @throws Refusal, 404 where there is none, 409 where its state is final
 */
export function failDeposit(session: Session, sandbox: Sandbox, id: string): DepositNow {
  const { reference_id, user_id } = pendingDeposit(session, sandbox, id);
  return putDeposit(session, sandbox, 'failed', { reference_id, user_id, state: 'failed' });
}

/**
 * The deposit of a reference_id.
 *
 * @throws Refusal, 404 where there is none
 */
export function knownDeposit({ world }: Sandbox, id: string): Deposit {
  const deposit = lookIn(world.deposits, id.toLowerCase());
  if (deposit === undefined)
    throw new Refusal(404, `there is no deposit ${id} here; GET /__admin/deposits lists them`);
  return deposit;
}

function pendingDeposit(session: Session, sandbox: Sandbox, id: string): Deposit {
  const deposit = knownDeposit(sandbox, id);
  const { state } = depositIn(session, sandbox, deposit);
  if (state === 'pending') return deposit;
  throw new Refusal(409, `the deposit is ${state}, which is final; a reset begins anew`, { state });
}

function putDeposit(session: Session, sandbox: Sandbox, what: string, deposit: Deposit): DepositNow {
  sandbox.world.deposits.changed.set(deposit.reference_id.toLowerCase(), deposit);
  tellChange(session, sandbox, `deposit ${deposit.reference_id} ${what}`);
  return depositIn(session, sandbox, deposit);
}

/** A deposit as it is now. */
const depositIn = (session: Session, sandbox: Sandbox, deposit: Deposit) =>
  depositNow(sandbox.world, deposit, timeIn(session, sandbox));

/** Most entries of the queue of chaos, each for as many requests as it says. */
const MAX_QUEUED = 1000;

/** The chaos of a world, as it can be set. */
export interface ShownChaos {
  readonly chaos: readonly string[];
  readonly seed: number;
  /** The chaos of the next requests. */
  readonly next: readonly { readonly kind: string; readonly count: number }[];
}

export function shownChaos({ chaos: { plan, seed, queue } }: Sandbox): ShownChaos {
  const next = queue.map(({ action, count }) => ({ kind: chaosName(action), count }));
  return { chaos: plan.map(specOf), seed, next };
}

/**
 * Sets the chaos of a world; its draws begin anew. The queue stays.
 *
 * @throws Problem of code `usage`
 */
export function setChaos(
  session: Session,
  sandbox: Sandbox,
  specs: readonly string[] | undefined,
  seed = sandbox.chaos.seed,
): ShownChaos {
  const { plan, queue } = sandbox.chaos;
  sandbox.chaos = { ...newChaos(specs === undefined ? plan : parseChaos(specs), seed), queue };
  const chaos = sandbox.chaos.plan.map(specOf).join(', ');
  tellChange(session, sandbox, chaos === '' ? 'no chaos' : `chaos ${chaos}`);
  return shownChaos(sandbox);
}

/**
 * Queues chaos for the next `count` requests of a world, behind what is queued.
 *
 * @throws Problem of code `usage`
 */
export function queueChaos(session: Session, sandbox: Sandbox, kind: string, count = 1): ShownChaos {
  const { chaos } = sandbox;
  const queued = queuedChaos(kind, count);
  if (chaos.queue.length >= MAX_QUEUED)
    throw new Problem('usage', `chaos ${kind}: ${MAX_QUEUED} calls are queued already; use a count instead`);
  chaos.queue = [...chaos.queue, queued];
  tellChange(session, sandbox, `chaos ${kind} for the next ${count}`);
  return shownChaos(sandbox);
}

export function tellChange(session: Session, { name }: Sandbox, what: string): void {
  tell(session, { kind: 'change', world: name, what });
}
