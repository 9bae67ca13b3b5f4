import { tell, sandboxSeen, type Session, wrongAt } from '../session.ts';
import { clear, entriesOf, type JournalEntry } from '../journal.ts';
import { splitTarget } from '../handler.ts';
import { countIn, fieldsOf } from './fields.ts';
import { ok, type AdminRequest, type Route } from './route.ts';

type Matches = (entry: JournalEntry, value: string) => boolean;

/** What requests can be looked for by; all that are given have to hold. */
const criteria: Readonly<Record<string, Matches>> = {
  method: ({ method }, value) => method === value,
  url: ({ target }, value) => target === value,
  urlPath: ({ target }, value) => splitTarget(target).path === value,
  endpoint: ({ endpoint }, value) => endpoint === value,
  key: ({ key }, value) => key === value || key === `<key ${value}>`,
  status: ({ status }, value) => `${status}` === value,
  reason: ({ reason }, value) => reason.includes(value),
};

const names = Object.keys(criteria);
const body = {
  type: 'object',
  additionalProperties: false,
  properties: Object.fromEntries(names.map((name) => [name, { type: ['string', 'integer'] }])),
};

function requestsOf(session: Session, { world }: AdminRequest): readonly JournalEntry[] {
  return entriesOf(sandboxSeen(session, world).journal, session.redact);
}

function found(session: Session, request: AdminRequest): readonly JournalEntry[] {
  const wanted = Object.entries(fieldsOf(request.body, names)).map(([name, value]) => {
    if (typeof value !== 'string' && typeof value !== 'number')
      throw wrongAt(name, 'has to be a text or a number');
    return [criteria[name]!, `${value}`] as const;
  });
  return requestsOf(session, request).filter((entry) =>
    wanted.every(([matches, value]) => matches(entry, value)),
  );
}

/** The journal: what was asked, and why it was answered as it was. */
export const requestRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/requests',
    summary: 'The last requests, oldest first, each with the reason of its answer.',
    query: { limit: 'only so many of the last', since: 'only those with a greater id' },
    handle: (session, request) => {
      const all = requestsOf(session, request);
      const since = countIn(request.query, 'since', 0);
      const limit = countIn(request.query, 'limit', all.length);
      const requests = limit === 0 ? [] : all.filter(({ id }) => id > since).slice(-limit);
      return ok({ requests, meta: { total: all.length } });
    },
  },
  {
    method: 'DELETE',
    path: '/requests',
    summary: 'Forgets them.',
    handle: (session, { world }) => {
      clear(sandboxSeen(session, world).journal);
      tell(session.watchers, () => ({ kind: 'change', world, what: 'journal cleared' }));
      return ok({});
    },
  },
  {
    method: 'POST',
    path: '/requests/count',
    summary: 'How many of them fit.',
    body,
    handle: (session, request) => ok({ count: found(session, request).length }),
  },
  {
    method: 'POST',
    path: '/requests/find',
    summary: 'Those of them that fit.',
    body,
    handle: (session, request) => ok({ requests: found(session, request) }),
  },
];
