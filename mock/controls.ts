import type { FixtureDeposit } from '../schemas/generated/types.ts';
import { addDeposit, executeDeposit, failDeposit, knownDeposit } from './change-deposit.ts';
import { queueChaos, setChaos, type ShownChaos } from './change-chaos.ts';
import { depositNow, type DepositNow } from './deposit-now.ts';
import type { Execution } from './exchange.ts';
import { entryOf, notesOf, type JournalEntry } from './journal.ts';
import { advanceClock, resetClock, scaleClock, setClock, type Moved } from './move-clock.ts';
import { valuesOf } from './overlay.ts';
import type { Scorecard } from './scorecard.ts';
import {
  resetAll,
  resetWorld,
  sandboxNamed,
  sandboxSeen,
  timeIn,
  type Sandbox,
  type Session,
} from './session.ts';

/** What a test may do to one world of a mock. All of it is done when it returns. */
export interface Controls {
  /** Each change says what fell due by it: deposits, keys, limiters. Times are Unix ms. */
  readonly clock: {
    readonly now: () => number;
    /** Moves the clock on by so many ms. */
    readonly advance: (ms: number) => Moved;
    readonly set: (at: number | Date) => Moved;
    readonly freeze: () => Moved;
    /** 1: as fast as usual, 0: not at all. */
    readonly scale: (rate: number) => Moved;
    readonly reset: () => Moved;
  };
  /** By reference_id; a Refusal is thrown where there is none, or where its state is final. */
  readonly deposits: {
    readonly list: () => readonly DepositNow[];
    readonly get: (id: string) => DepositNow;
    readonly add: (deposit: FixtureDeposit) => DepositNow;
    readonly execute: (id: string, execution?: Partial<Execution>) => DepositNow;
    readonly fail: (id: string) => DepositNow;
  };
  /** What befalls requests on purpose, by specs such as `500:0.1`; a Problem is thrown where one is wrong. */
  readonly chaos: {
    /** What is drawn for each request; the draws begin anew. */
    readonly set: (specs: readonly string[], seed?: number) => ShownChaos;
    /** What befalls the next requests: `503`, `reset`, `timeout`, `truncate`, `slow:2s`. */
    readonly next: (kind: string, count?: number) => ShownChaos;
  };
  /** The last requests, oldest first, each with the reason of its answer. */
  readonly requests: () => readonly JournalEntry[];
  /** How the client did by these requests; that of the mock itself grades all worlds. */
  readonly scorecard: () => Promise<Scorecard>;
  /** Everything as the fixture has it; that of the mock itself resets all worlds. */
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
    scorecard: () => graded(session, [session.main, ...session.sandboxes.values()]),
    reset: () => resetAll(session),
    world: (name) => controlsIn(session, name),
  };
}

/** The rules are loaded when somebody asks: most mocks start for nothing but answers. */
async function graded(session: Session, sandboxes: readonly Sandbox[]): Promise<Scorecard> {
  const { gradeOf } = await import('./grade.ts');
  return gradeOf(session, sandboxes);
}

function controlsIn(session: Session, name: string): Controls {
  // A reset makes another sandbox: it is looked up each time.
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
        const now = timeIn(session, sandbox);
        return valuesOf(sandbox.world.deposits).map((deposit) => depositNow(sandbox.world, deposit, now));
      },
      get: (id) => {
        const sandbox = seen();
        return depositNow(sandbox.world, knownDeposit(sandbox, id), timeIn(session, sandbox));
      },
      add: (deposit) => addDeposit(session, here(), deposit),
      execute: (id, execution) => executeDeposit(session, here(), id, execution),
      fail: (id) => failDeposit(session, here(), id),
    },
    chaos: {
      set: (specs, seed) => setChaos(session, here(), specs, seed),
      next: (kind, count) => queueChaos(session, here(), kind, count),
    },
    requests: () => notesOf(seen().journal).map((note) => entryOf(note, session.redact)),
    scorecard: () => graded(session, [seen()]),
    reset: () => resetWorld(session, name),
  };
}
