import { endpoints, type Endpoint } from '../../schemas/endpoints.ts';
import type { JournalEntry } from '../journal.ts';
import { splitTarget } from '../handler.ts';

/**
 * A request and its answer, as the mock's journal keeps them. Without `elapsedMs`, which tells what was
 * in flight from what came later, `at` has to. Answers that were asked for are no reason to judge anybody.
 */
export type Entry = JournalEntry;

/** Time in ms from one entry to a later one, as the client lived it. */
const lived = (from: Entry, to: Entry) =>
  from.elapsedMs === undefined || to.elapsedMs === undefined
    ? to.at - from.at
    : to.elapsedMs - from.elapsedMs;

/** Whether an entry came so long after an answer that its request was not in flight when the client got that. */
export const clearlyAfter = (entry: Entry, answer: Entry, graceMs: number) => lived(answer, entry) > graceMs;

/** Time in ms that a client has waited by the clock that is kinder to it: the mock's may have been moved. */
export const waited = (from: Entry, to: Entry) => Math.max(to.at - from.at, lived(from, to));

/** Whether the client got the answer whole and in time: any chaos but a status spoils it. */
export const arrived = ({ chaos }: Entry) => chaos === undefined || /^\d{3}$/.test(chaos);

/** The endpoint that an entry's path leads to, whatever its method. */
export function endpointOf({ endpoint, target }: Entry): Endpoint | undefined {
  const { path } = splitTarget(target);
  return (
    endpoint ?? (Object.keys(endpoints) as Endpoint[]).find((name) => path.endsWith(endpoints[name].path))
  );
}

/** Who asked, as far as the journal tells; undefined where no credential was sent. */
export const callerOf = ({ credentialDigest, key }: Entry) => credentialDigest ?? key;

/**
 * Entries that belong together by `of`, in their order. Those for which a part is undefined are left
 * out, and so are answers that were asked for. Where a world's
 * clock goes back, whatever was promised before is void: what follows belongs to another group.
 */
export function grouped(
  entries: readonly Entry[],
  of: (entry: Entry) => readonly (string | undefined)[],
): readonly (readonly Entry[])[] {
  const groups = new Map<string, Entry[]>();
  const latest = new Map<string, { readonly at: number; readonly turn: number }>();
  for (const entry of entries.toSorted((one, other) => one.id - other.id)) {
    const { at = entry.at, turn = 0 } = latest.get(entry.world) ?? {};
    const now = { at: entry.at, turn: entry.at < at ? turn + 1 : turn };
    latest.set(entry.world, now);
    const parts = of(entry);
    if (parts.includes(undefined) || entry.preferred !== undefined) continue;
    const name = JSON.stringify([entry.world, now.turn, ...parts]);
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [entry]);
    else group.push(entry);
  }
  return [...groups.values()];
}
