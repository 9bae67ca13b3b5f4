import { METHODS } from 'node:http';
import { endpoints, type Endpoint } from '../../schemas/endpoints.ts';
import { splitTarget } from '../handler.ts';
import { clearJournal, storedEntries, toJournalEntry, toJournalLine } from '../journal.ts';
import type { JournalLine } from '../journal.ts';
import { addressedWorld, peekSandbox, emitChange, badRequest, Refusal } from '../session.ts';
import type { WorldHandle } from '../session.ts';
import { integer, type Field, type ValuesOf } from './fields.ts';
import { findKeyByName } from './keys.ts';
import { operation } from './operation.ts';

interface Criterion<Value> extends Field<Value> {
  readonly matches: (line: JournalLine, value: string) => boolean;
}

/** A text or a number. Values that nothing can match are refused: a test that expects no request would pass. */
const criterion = <Value extends string | number = string>(
  must: string,
  matches: Criterion<Value>['matches'],
  has: (value: string) => boolean = () => true,
): Criterion<Value> => ({
  schema: { type: ['string', 'integer'], description: must },
  must: `be ${must}`,
  has: (value) => (typeof value === 'string' || typeof value === 'number') && has(`${value}`),
  matches,
});

const isStatus = (value: string) => /^[1-5]\d\d$/.test(value);
const isId = (value: string) => /^\d{1,9}$/.test(value);
const isEndpoint = (value: string) => Object.hasOwn(endpoints, value);
const endpointList = Object.keys(endpoints).join(', ');

const criteria = {
  method: criterion(
    'a method of HTTP, such as GET',
    ({ method }, value) => method === value,
    (value) => METHODS.includes(value),
  ),
  /** Path and query as sent. */
  url: criterion('the path and query as sent', ({ target }, value) => target === value),
  urlPath: criterion('the path as sent', ({ target }, value) => splitTarget(target).path === value),
  endpoint: criterion<Endpoint>(
    `one of ${endpointList}`,
    ({ endpoint }, value) => endpoint === value,
    isEndpoint,
  ),
  /** A key as the client sends it, with or without `~` and a world, or its name: `northwind/active`. */
  key: criterion('a key as the client sends it, or its name', ({ key }, value) => key === value),
  status: criterion<number | string>(
    'a status from 100 to 599',
    ({ status }, value) => `${status}` === value,
    isStatus,
  ),
  /** Text in the reason. */
  reason: criterion('a part of the reason', ({ reason }, value) => reason.includes(value)),
  /** Only requests with a greater id. */
  since: criterion<number | string>('the id of a request', ({ id }, value) => id > Number(value), isId),
};

const byCriteria = {
  body: criteria,
  example: { status: 429, key: 'northwind-key~mine' },
  args: (query: RequestQuery = {}) => [query] as const,
};
const lastFields = {
  limit: integer(0, { description: 'only the last n requests' }),
  since: integer(0, { description: 'only requests with a greater id' }),
};

/** Criteria for requests. All given ones have to match. */
export interface RequestQuery extends ValuesOf<typeof criteria> {}

export const requests = {
  list: operation('GET /requests', 'The last requests, oldest first, each with the reason of its answer.', {
    result: 'requests',
    parameters: lastFields,
    args: (query: ValuesOf<typeof lastFields> = {}) => [undefined, query],
    run: (handle, { limit, since = 0 }) => {
      const all = findRequests(handle, {});
      const later = all.filter(({ id }) => id > since);
      const last = limit === undefined ? later : later.slice(Math.max(0, later.length - limit));
      return { requests: last, dropped: handle.peek().journal.dropped, meta: { total: all.length } };
    },
    gives: (listed) => listed.requests,
  }),
  /** Returns the matching requests in the journal, oldest first. */
  find: operation('POST /requests/find', 'Lists the matching requests.', {
    result: 'requests',
    ...byCriteria,
    run: (handle, query) => ({
      requests: findRequests(handle, query),
      dropped: handle.peek().journal.dropped,
    }),
    gives: (found) => found.requests,
  }),
  /** @throws Refusal with 409 if the journal dropped requests, unless `since` excludes them */
  count: operation('POST /requests/count', 'Counts the matching requests.', {
    result: 'count',
    ...byCriteria,
    run: (handle, query) => {
      const found = findRequests(handle, query);
      const { dropped, droppedTo, size } = searchedWorld(handle, query.key).sandbox.journal;
      if (dropped > 0 && !(Number(query.since) >= droppedTo))
        throw new Refusal(
          409,
          `the journal keeps ${size} requests and dropped ${dropped}: count with "since": ${droppedTo}, or keep more with --journal`,
          { dropped },
        );
      return { count: found.length, dropped: handle.peek().journal.dropped };
    },
    gives: ({ count }) => count,
  }),
  clear: operation('DELETE /requests', 'Clears the journal.', {
    run: ({ session, peek }) => {
      clearJournal(peek().journal);
      emitChange(session, peek(), 'journal cleared');
      return {};
    },
    gives: () => undefined,
  }),
};

function findRequests(handle: WorldHandle, query: RequestQuery) {
  const { redact } = handle.session;
  const { sandbox, key } = searchedWorld(handle, query.key);
  const wanted = Object.entries({ ...query, key }).filter(([, value]) => value !== undefined);
  const matches = (line: JournalLine) =>
    wanted.every(([name, value]) => criteria[name as keyof RequestQuery].matches(line, `${value}`));
  return storedEntries(sandbox.journal)
    .filter((kept) => matches(toJournalLine(kept, redact)))
    .map((kept) => toJournalEntry(kept, redact));
}

/** Returns the world to search, which the key may name, and the name of the key in its journal. */
function searchedWorld({ session, name: world }: WorldHandle, asked: string | undefined) {
  const named = asked === undefined ? undefined : addressedWorld(session, `Bearer ${asked}`);
  if (named?.problem !== undefined) throw badRequest('key', `is invalid: ${named.problem}`);
  if (named !== undefined && world !== '' && world !== named.name)
    throw badRequest('key', 'names another world than the call');
  const sandbox = peekSandbox(session, named?.name ?? world);
  const key = named === undefined ? asked : named.authorization.slice('Bearer '.length);
  return { sandbox, key: key === undefined ? undefined : findKeyByName(sandbox, key, 400).name };
}
