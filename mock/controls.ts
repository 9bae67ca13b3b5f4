import { randomUUID } from 'node:crypto';
import type { FixtureDeposit } from '../schemas/generated/types.ts';
import { wrongUsage } from '../schemas/problem.ts';
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
  wrongAt,
} from './session.ts';
import type { Sandbox, Session } from './session.ts';
import type { Scorecard } from './scorecard.ts';
import {
  depositNow,
  lookIn,
  valuesOf,
  wrongWorldName,
  type Deposit,
  type DepositNow,
  type Execution,
} from './world.ts';

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
  /** By reference_id. They throw a Refusal: 404 where there is no such deposit, 409 where its state is final. */
  readonly deposits: {
    readonly list: () => readonly DepositNow[];
    readonly get: (id: string) => DepositNow;
    /** `afterSeconds` counts from now. */
    readonly add: (deposit: FixtureDeposit) => DepositNow;
    /** Executes it with what is given, or what the fixture plans, or 100 USD now. */
    readonly execute: (
      id: string,
      execution?: { readonly [Name in keyof Execution]?: number | undefined },
    ) => DepositNow;
    readonly fail: (id: string) => DepositNow;
  };
  /** Chaos by specs such as `500:0.1`. They throw a Problem where one is wrong. */
  readonly chaos: {
    /** Sets the chaos; its draws begin anew. What is queued stays. */
    readonly set: (specs: readonly string[], seed?: number) => ShownChaos;
    /** Queues chaos for the next requests: `503`, `reset`, `timeout`, `truncate`, `slow:2s`. */
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
  /**
   * The world that keys open with `~` and its name; a new one without a name.
   *
   * @throws Refusal, 400 for a name that no world can have
   */
  readonly world: (name?: string) => Controls & { readonly name: string };
}

/** The controls of a session. */
export function controlsOf(session: Session): ControlledMock {
  return {
    ...controlsIn(session, ''),
    scorecard: () => gradeOf(session, [session.main, ...session.sandboxes.values()]),
    reset: () => resetAll(session),
    world: (name = randomUUID()) => {
      const wrong = wrongWorldName(name);
      if (wrong !== undefined) throw wrongAt('world', wrong);
      return { name, ...controlsIn(session, name) };
    },
  };
}

/** The controls of the world of a name. A reset makes another sandbox: they look it up each time. */
export function controlsIn(session: Session, name: string): Controls {
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
    deposits: depositsIn(session, here, seen),
    chaos: {
      set: (specs, seed = seen().chaos.seed) => {
        const { queue } = here().chaos;
        here().chaos = { ...newChaos(parseChaos(specs), seed), queue };
        const shown = shownChaos(here());
        tellChange(session, here(), specs.length === 0 ? 'no chaos' : `chaos ${shown.chaos.join(', ')}`);
        return shown;
      },
      next: (kind, count = 1) => {
        const { chaos } = here();
        const queued = queuedChaos(kind, count);
        if (chaos.queue.length >= MAX_QUEUED) throw wrongUsage(`chaos ${kind}: ${TOO_MANY}`);
        chaos.queue = [...chaos.queue, queued];
        tellChange(session, here(), `chaos ${kind} for the next ${count}`);
        return shownChaos(here());
      },
    },
    requests: () => entriesOf(seen().journal, session.redact),
    scorecard: () => gradeOf(session, [seen()]),
    reset: () => resetWorld(session, name),
  };
}

/** Amount (USD) of an executed deposit where neither the call nor the fixture gives one. */
const DEFAULT_AMOUNT = 100;

function depositsIn(session: Session, here: () => Sandbox, seen: () => Sandbox): Controls['deposits'] {
  const shown = (sandbox: Sandbox, deposit: Deposit) =>
    depositNow(sandbox.world, deposit, timeIn(session, sandbox));
  const known = ({ world }: Sandbox, id: string) => {
    const deposit = lookIn(world.deposits, id.toLowerCase());
    if (deposit !== undefined) return deposit;
    throw new Refusal(404, `there is no deposit ${id} here; GET /__admin/deposits lists them`);
  };
  const pending = (id: string) => {
    const deposit = known(here(), id);
    const { state } = shown(here(), deposit);
    if (state === 'pending') return deposit;
    throw new Refusal(409, `the deposit is ${state}, which is final; a reset begins anew`, { state });
  };
  const put = (what: string, deposit: Deposit) => {
    const sandbox = here();
    sandbox.world.deposits.changed.set(deposit.reference_id.toLowerCase(), deposit);
    tellChange(session, sandbox, `deposit ${deposit.reference_id} ${what}`);
    return shown(sandbox, deposit);
  };
  return {
    list: () => {
      const sandbox = seen();
      return valuesOf(sandbox.world.deposits).map((deposit) => shown(sandbox, deposit));
    },
    get: (id) => {
      const sandbox = seen();
      return shown(sandbox, known(sandbox, id));
    },
    add: (deposit) => {
      const { reference_id, user_id } = deposit;
      const { users, deposits } = here().world;
      if (lookIn(users, user_id.toLowerCase()) === undefined)
        throw wrongAt('user_id', `${user_id} is not among the users; POST /__admin/users adds one`);
      if (lookIn(deposits, reference_id.toLowerCase()) !== undefined)
        throw new Refusal(409, `there is a deposit ${reference_id} already`, { place: 'reference_id' });
      return put('added', { ...deposit, since: timeIn(session, here()) });
    },
    execute: (id, given = {}) => {
      const { reference_id, user_id, ...deposit } = pending(id);
      const planned = deposit.state === 'pending' ? deposit.becomes : undefined;
      const amountInUsd = given.amountInUsd ?? planned?.amountInUsd ?? DEFAULT_AMOUNT;
      const at = given.executedAt ?? planned?.executedAt ?? timeIn(session, here());
      const executedAt = Math.trunc(at);
      return put('executed', { reference_id, user_id, state: 'EXECUTED', amountInUsd, executedAt });
    },
    fail: (id) => {
      const { reference_id, user_id } = pending(id);
      return put('failed', { reference_id, user_id, state: 'failed' });
    },
  };
}

const MAX_QUEUED = 1000;
const TOO_MANY = `${MAX_QUEUED} calls are queued already; use a count instead`;

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

/** Grades the clients of some worlds. The rules are loaded when somebody asks. */
export async function gradeOf({ options, redact }: Session, sandboxes: readonly Sandbox[]) {
  const { GRACE, scorecardOf } = await import('./scorecard.ts');
  return scorecardOf(
    sandboxes.flatMap(({ journal }) => entriesOf(journal, redact)),
    GRACE + (options.delayMs ?? 0),
  );
}

export function tellChange(session: Session, { name }: Sandbox, what: string): void {
  tell(session, { kind: 'change', world: name, what });
}
