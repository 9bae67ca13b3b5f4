import { METHODS } from 'node:http';
import { endpoints, type Endpoint } from '../../schemas/endpoints.ts';
import { splitTarget } from '../handler.ts';
import { clearJournal, storedEntries, toJournalEntry, toJournalLine } from '../journal.ts';
import type { JournalEntry, JournalLine } from '../journal.ts';
import { addressedWorld, peekSandbox, emitChange, badRequest, Refusal } from '../session.ts';
import type { Sandbox, Session } from '../session.ts';
import { findKeyByName } from './data.ts';

/** Criteria for requests. All given ones have to match. */
export interface RequestQuery {
  readonly method?: string | undefined;
  /** Path and query as sent. */
  readonly url?: string | undefined;
  readonly urlPath?: string | undefined;
  readonly endpoint?: Endpoint | undefined;
  /** A key as the client sends it, with or without `~` and a world, or its name: `northwind/active`. */
  readonly key?: string | undefined;
  readonly status?: number | string | undefined;
  /** Text in the reason. */
  readonly reason?: string | undefined;
  /** Only requests with a greater id. */
  readonly since?: number | string | undefined;
}

type Criterion = keyof RequestQuery;

const matchers: Readonly<Record<Criterion, (line: JournalLine, value: string) => boolean>> = {
  method: ({ method }, value) => method === value,
  url: ({ target }, value) => target === value,
  urlPath: ({ target }, value) => splitTarget(target).path === value,
  endpoint: ({ endpoint }, value) => endpoint === value,
  key: ({ key }, value) => key === value,
  status: ({ status }, value) => `${status}` === value,
  reason: ({ reason }, value) => reason.includes(value),
  since: ({ id }, value) => id > Number(value),
};
export const criteria = Object.keys(matchers) as readonly Criterion[];

/** Allowed values. Others are refused: they match nothing, so a test that expects no request would pass. */
type Choice = readonly [words: string, has: (value: string) => boolean];
const allowedValues: Partial<Record<Criterion, Choice>> = {
  method: ['a method of HTTP, such as GET', (value) => METHODS.includes(value)],
  endpoint: [`one of ${Object.keys(endpoints).join(', ')}`, (value) => Object.hasOwn(endpoints, value)],
  since: ['the id of a request', (value) => /^\d{1,9}$/.test(value)],
  status: ['a status from 100 to 599', (value) => /^[1-5]\d\d$/.test(value)],
};

/** The journal of a world. */
export interface RequestControls {
  /**
   * Returns the matching requests in the journal, oldest first, each with the reason of its answer.
   *
   * @throws Refusal with 400 for an unknown key, endpoint, method or status
   */
  (query?: RequestQuery): readonly JournalEntry[];
  /**
   * Counts the matching requests.
   *
   * @throws Refusal with 409 if the journal dropped requests, unless `since` excludes them
   */
  readonly count: (query?: RequestQuery) => number;
  /** Returns how many requests the journal dropped, because it was full. */
  readonly dropped: () => number;
  readonly clear: () => void;
}

export function requestControls(session: Session, world: string): RequestControls {
  const find = (query: RequestQuery = {}) => {
    const given = Object.entries(query).filter(([, value]) => value !== undefined);
    const wanted = given.map(([name, value]: [string, unknown]) => {
      const criterion = criteria.find((one) => one === name);
      if (criterion === undefined) throw badRequest(name, `is unknown; known: ${criteria.join(', ')}`);
      if (typeof value !== 'string' && typeof value !== 'number')
        throw badRequest(name, 'must be a string or a number');
      const [description, has] = allowedValues[criterion] ?? [];
      if (has?.(String(value)) === false) throw badRequest(name, `must be ${description}`);
      return [criterion, String(value)] as const;
    });
    const asked = wanted.find(([name]) => name === 'key')?.[1];
    const { sandbox, key } = searchedWorld(session, world, asked);
    return storedEntries(sandbox.journal)
      .filter((kept) => {
        const line = toJournalLine(kept, session.redact);
        return wanted.every(([name, value]) => matchers[name](line, name === 'key' ? key! : value));
      })
      .map((kept) => toJournalEntry(kept, session.redact));
  };
  const journal = () => peekSandbox(session, world).journal;
  return Object.assign(find, {
    count: (query: RequestQuery = {}) => {
      const found = find(query);
      const { dropped, droppedTo, size } = searchedWorld(session, world, query.key).sandbox.journal;
      if (dropped > 0 && !(Number(query.since) >= droppedTo))
        throw new Refusal(
          409,
          `the journal keeps ${size} requests and dropped ${dropped}: count with "since": ${droppedTo}, or keep more with --journal`,
          { dropped },
        );
      return found.length;
    },
    dropped: () => journal().dropped,
    clear: () => {
      const sandbox = peekSandbox(session, world);
      clearJournal(sandbox.journal);
      emitChange(session, sandbox, 'journal cleared');
    },
  });
}

/** Returns the world to search, which the key may name, and the name of the key in its journal. */
function searchedWorld(session: Session, world: string, asked: string | undefined) {
  const named = asked === undefined ? undefined : addressedWorld(session, `Bearer ${asked}`);
  if (named?.problem !== undefined) throw badRequest('key', `is invalid: ${named.problem}`);
  if (named !== undefined && world !== '' && world !== named.name)
    throw badRequest('key', 'names another world than the call');
  const sandbox = peekSandbox(session, named?.name ?? world);
  const key = named === undefined ? asked : named.authorization.slice('Bearer '.length);
  return { sandbox, key: key === undefined ? undefined : findKeyByName(sandbox, key, 400).name };
}

/** Grades the clients of some worlds. Loads the rules on first use. */
export async function gradeClients({ redact }: Session, sandboxes: readonly Sandbox[]) {
  const { scorecardOf } = await import('../scorecard.ts');
  const stored = sandboxes.flatMap(({ journal }) => storedEntries(journal));
  const dropped = sandboxes.reduce((sum, { journal }) => sum + journal.dropped, 0);
  return scorecardOf(
    stored.map((kept) => toJournalLine(kept, redact)),
    dropped,
  );
}
