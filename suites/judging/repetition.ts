import { authorizationOf } from '../rules/facts-of-request.ts';
import type { Cover, Finding } from '../rules/table.ts';
import type { Known } from '../known.ts';
import { fingerprint, idOf, type Request } from '../request.ts';
import { pass } from '../rules/verdict.ts';

/** How often an id was asked for, or whether an answer to a request was right. */
interface Entry {
  asked: number;
  wasRight: boolean;
}

/** A run keeps at least so many of the names that it used last. */
const MAX_NAMES = 10_000;

/** What a run has asked for. */
export type History = ReturnType<typeof createHistory>;

/** Notes how often a run asked for each id, and which requests had a right answer. */
export function createHistory({ callerKeys }: Known, most = MAX_NAMES) {
  let entries = new Map<string, Entry>();
  let older: ReadonlyMap<string, Entry> = new Map();
  const entryOf = (name: string): Entry => {
    let entry = entries.get(name);
    if (entry !== undefined) return entry;
    entry = older.get(name) ?? { asked: 0, wasRight: false };
    if (entries.size >= most) [entries, older] = [new Map(), entries];
    entries.set(name, entry);
    return entry;
  };
  /** The key as it is presented. */
  const whoAsks = ({ credential }: Request) => authorizationOf(credential, callerKeys[0]);
  const idName = (request: Request) =>
    `${whoAsks(request)} ${request.endpoint} ${idOf(request) || request.target}`;
  return {
    /** Notes that a request was sent. Returns how often its id was asked for with this key, this time included. */
    add: (request: Request): number => ++entryOf(idName(request)).asked,
    /** How often its id was asked for with this key. Lost requests count. */
    asked: (request: Request): number => entryOf(idName(request)).asked,
    /**
     * Notes whether an answer was right. Returns whether one to an equal request was right before.
     *
     * @param state of the target, if it has changed
     */
    wasRight: (request: Request, isRight: boolean, state = ''): boolean => {
      const sent = fingerprint({ ...request, credential: { as: 'none' } });
      const entry = entryOf(`${whoAsks(request)} ${sent} ${state}`);
      const before = entry.wasRight;
      entry.wasRight ||= isRight;
      return before;
    },
  };
}

/** A lookup that was answered correctly before is judged as repeated: what is wrong now is not the lookup. */
export function asRepetition(
  all: readonly Finding[],
  { repetition }: Cover,
  isCorrect: boolean,
): readonly Finding[] {
  const row = repetition!;
  return isCorrect
    ? [...all, { row, verdict: pass }]
    : all.map((one) => (one.verdict.kind === 'failed' ? { row, verdict: one.verdict } : one));
}
