import { randomUUID } from 'node:crypto';
// Not the global timers: a test runner may replace them with fake ones.
import { clearTimeout, setTimeout } from 'node:timers';
import type { Duration, RequestFilter } from '../../schemas/generated/types.ts';
import type { JournalEntry } from './journal.ts';
import { msOf } from './next.ts';
import { operations, perform } from './operations.ts';
import { badRequest } from '../server/refusal.ts';
import { checkWorldName, type ControlContext, type Session } from './session.ts';

/** Node's maximum for a timer, in ms. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

/** The JavaScript method of an operation: its `{id}`, and then its query or body. */
type Method<Row> = Row extends { run: (context: ControlContext, ...args: infer Args) => infer Result }
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
   * @throws Error that names the nearest requests if none came in time
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
    ...worldControls(session, undefined),
    world: (name = randomUUID()) => {
      checkWorldName(session, name);
      return { name, ...worldControls(session, name) };
    },
  };
}

/** Creates the operations of a world; undefined: the main world, or all. */
function worldControls(session: Session, world: string | undefined): WorldControls {
  const methods = Object.fromEntries(
    Object.entries(operations).map(([name, one]) => [
      name,
      (...args: readonly unknown[]) => copyOf(perform(one, session, world, args.map(copyOf))),
    ]),
  ) as Methods;
  const requests = (filter?: RequestFilter) => methods.requests(filter).requests;
  return {
    ...methods,
    requests,
    waitForRequest: (filter, options) => waitFor(session, requests, filter, options),
  };
}

/** Copies a JSON value: later changes of what a caller gave or got have no effect. */
function copyOf(value: unknown): unknown {
  if (value === undefined) return undefined;
  try {
    return JSON.parse(JSON.stringify(value) ?? 'null');
  } catch {
    throw badRequest('', 'the input is not a JSON value');
  }
}

async function waitFor(
  { waiting }: Session,
  requests: WorldControls['requests'],
  filter: RequestFilter = {},
  options: { readonly timeout?: Duration } = {},
): Promise<JournalEntry> {
  const { timeout = 1000, ...others } = options;
  const timeoutMs = msOf(timeout);
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw badRequest(unknown, 'is unknown; known: timeout');
  if (!(timeoutMs >= 0 && timeoutMs <= MAX_TIMEOUT_MS))
    throw badRequest('timeout', 'is not a duration in ms, or a text such as 1.5s');
  return new Promise<JournalEntry>((resolve, reject) => {
    const end = (act: () => void) => {
      waiting.delete(look);
      clearTimeout(timer);
      act();
    };
    const look = () => {
      try {
        const [found] = requests({ ...filter, limit: 1 });
        if (found !== undefined) end(() => resolve(found));
      } catch (error) {
        end(() => reject(error));
      }
    };
    const fail = () =>
      end(() => reject(new Error(`no such request came in ${timeoutMs} ms; ${nearest(requests, filter)}`)));
    const timer = setTimeout(fail, timeoutMs);
    waiting.add(look);
    look();
  });
}

/** Maximum of requests that a message names. */
const MAX_NEAREST = 3;

/** Names the requests that match most of a filter, the latest first. */
function nearest(requests: WorldControls['requests'], filter: RequestFilter): string {
  const fields = Object.keys(filter) as (keyof RequestFilter)[];
  const matching = new Map<number, number>();
  for (const field of fields)
    for (const { id } of requests({ limit: 1000, [field]: filter[field] }))
      matching.set(id, (matching.get(id) ?? 0) + 1);
  const score = ({ id }: JournalEntry) => matching.get(id) ?? 0;
  const near = requests({ limit: 1000 })
    .toReversed()
    .toSorted((one, other) => score(other) - score(one));
  const lines = near
    .slice(0, MAX_NEAREST)
    .map(({ method, target, reason }) => `${method} ${target} → ${reason}`);
  return lines.length === 0 ? 'none came at all' : `the nearest: ${lines.join(', ')}`;
}
