import { randomUUID } from 'node:crypto';
// Not the global timers: a test runner may replace them with fake ones.
import { clearTimeout, setTimeout } from 'node:timers';
import type { Duration, RequestFilter } from '../schemas/generated/types.ts';
import { perform } from './admin.ts';
import type { JournalEntry } from './journal.ts';
import { msOf } from './next.ts';
import { operations } from './operations.ts';
import { worldHandle, type Session, type WorldHandle } from './session.ts';

/** The JavaScript method of an operation: its `{id}`, and then its query or body. */
type Method<Row> = Row extends { run: (world: WorldHandle, ...args: infer Args) => infer Result }
  ? (...args: Args) => Result
  : never;
type Methods = { readonly [Name in keyof typeof operations]: Method<(typeof operations)[Name]> };

/**
 * The operations of one world, with the same input and results as the admin API. A call that is refused throws a
 * Refusal with the status of the admin API.
 */
export interface WorldControls extends Omit<Methods, 'requests'> {
  /**
   * Returns the requests of the journal, oldest first.
   *
   * @throws Refusal with 409 if the journal dropped some of them
   */
  readonly requests: (filter?: RequestFilter) => readonly JournalEntry[];
  /**
   * Waits for a matching request, one in the journal included.
   *
   * @param options `timeout`: how long to wait, in ms or as a text; default 1 s
   * @throws Error if none came in time
   */
  readonly waitForRequest: (
    filter?: RequestFilter,
    options?: { readonly timeout?: Duration },
  ) => Promise<JournalEntry>;
}

/** The operations of the main world, and access to the others. `reset` is about all worlds. */
export interface Controls extends WorldControls {
  /**
   * Returns the operations of the world that requests choose with `~` and its name after the key. The default is a
   * new name.
   *
   * @throws Refusal with 400 for an invalid name
   */
  readonly world: (name?: string) => WorldControls & { readonly name: string };
}

export function createControls(session: Session): Controls {
  return {
    ...worldControls(session, worldHandle(session, '', true)),
    world: (name = randomUUID()) => ({ name, ...worldControls(session, worldHandle(session, name)) }),
  };
}

/** Creates the operations of a world. */
function worldControls(session: Session, world: WorldHandle): WorldControls {
  const methods = Object.fromEntries(
    Object.entries(operations).map(([name, one]) => [
      name,
      (...args: readonly unknown[]) => perform(one, world, args),
    ]),
  ) as Methods;
  const requests = (filter?: RequestFilter) => methods.requests(filter).requests;
  return {
    ...methods,
    requests,
    waitForRequest: (filter, { timeout = 1000 } = {}) =>
      waitFor(session, () => requests({ limit: 1, ...filter })[0], msOf(timeout)),
  };
}

function waitFor({ waiting }: Session, find: () => JournalEntry | undefined, timeoutMs: number) {
  return new Promise<JournalEntry>((resolve, reject) => {
    const end = (act: () => void) => {
      waiting.delete(look);
      clearTimeout(timer);
      act();
    };
    const look = () => {
      const found = find();
      if (found !== undefined) end(() => resolve(found));
    };
    const fail = () => end(() => reject(new Error(`no such request came in ${timeoutMs} ms`)));
    const timer = setTimeout(fail, timeoutMs);
    waiting.add(look);
    look();
  });
}
