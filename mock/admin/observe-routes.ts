import { endpoints } from '../../schemas/endpoints.ts';
import { gradeOf } from '../controls.ts';
import { splitTarget, trimBasePath } from '../handler.ts';
import { clear, entriesOf, type JournalEntry } from '../journal.ts';
import { magicValues } from '../magic-values.ts';
import { scorecardFormats, type ScorecardFormat } from '../scorecard.ts';
import { sandboxSeen, tell, wrongAt, type Session, type Watcher } from '../session.ts';
import { countIn, ok, type AdminRequest, type Route } from './route.ts';

/** What requests can be looked for by; all that are given have to hold. */
const criteria: Readonly<Record<string, (entry: JournalEntry, value: string) => boolean>> = {
  method: ({ method }, value) => method === value,
  url: ({ target }, value) => target === value,
  urlPath: ({ target }, value) => splitTarget(target).path === value,
  endpoint: ({ endpoint }, value) => endpoint === value,
  key: ({ key }, value) => key === value || key === `<key ${value}>`,
  status: ({ status }, value) => `${status}` === value,
  reason: ({ reason }, value) => reason.includes(value),
};
const criteriaFields = Object.fromEntries(
  Object.keys(criteria).map((name) => [name, { type: ['string', 'integer'] }]),
);

const entriesIn = (session: Session, world: string) =>
  entriesOf(sandboxSeen(session, world).journal, session.redact);

function found(session: Session, { world, fields }: AdminRequest): readonly JournalEntry[] {
  const wanted = Object.entries(fields).map(([name, value]) => {
    if (typeof value !== 'string' && typeof value !== 'number')
      throw wrongAt(name, 'has to be a text or a number');
    return [criteria[name]!, `${value}`] as const;
  });
  return entriesIn(session, world).filter((entry) =>
    wanted.every(([matches, value]) => matches(entry, value)),
  );
}

const requestRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/requests',
    summary: 'The last requests, oldest first, each with the reason of its answer.',
    query: { limit: 'only so many of the last', since: 'only those with a greater id' },
    handle: (session, { world, query }) => {
      const all = entriesIn(session, world);
      const since = countIn(query, 'since', 0);
      const limit = countIn(query, 'limit', all.length);
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
    fields: criteriaFields,
    handle: (session, request) => ok({ count: found(session, request).length }),
  },
  {
    method: 'POST',
    path: '/requests/find',
    summary: 'Those of them that fit.',
    fields: criteriaFields,
    handle: (session, request) => ok({ requests: found(session, request) }),
  },
];

const formats = Object.keys(scorecardFormats) as readonly ScorecardFormat[];

/** By `?format=`, or else the first media type of Accept that there is. */
function formatFor({ query, accept }: AdminRequest): ScorecardFormat {
  const asked = query.get('format');
  if (asked === null) {
    const types = accept.split(',').map((type) => type.replace(/;.*/s, '').trim().toLowerCase());
    const byType = { 'application/json': 'json', 'text/plain': 'text' } as const;
    const named = types.find((type): type is keyof typeof byType => Object.hasOwn(byType, type));
    return named === undefined ? 'json' : byType[named];
  }
  const known = formats.find((name) => name === asked);
  if (known === undefined) throw wrongAt('format', `has to be one of ${formats.join(', ')}`);
  return known;
}

/** What was seen and what can be asked for: the journal, its grades, events, and magic values. */
export const observeRoutes: readonly Route[] = [
  ...requestRoutes,
  {
    method: 'GET',
    path: '/scorecard',
    summary: 'Grades the client by the journal: Retry-After, back-off, polling, keys. JSON or text.',
    query: { format: formats.join(', ') },
    handle: async (session, request) => {
      const { type, write } = scorecardFormats[formatFor(request)];
      const card = await gradeOf(session, [sandboxSeen(session, request.world)]);
      return { status: 200, type, text: write(card) };
    },
  },
  {
    method: 'GET',
    path: '/magic-values',
    summary:
      'An id and a key for each state that the fixture can show; `port` is that of the service where it is another than this one.',
    isForAll: true,
    handle: ({ fixture, facts, options, arePublicKeys, servicePort }) => {
      const basePath = trimBasePath(options.basePath ?? '/');
      const values = magicValues(fixture, facts).map(({ shows, endpoint, id, key }) => {
        const { path, parameter } = endpoints[endpoint];
        return {
          shows,
          target: `${basePath}${path}?${parameter}=${id}`,
          keyName: key.name,
          ...(arePublicKeys && { key: key.key }),
        };
      });
      return ok({ ...(servicePort !== undefined && { port: servicePort }), values });
    },
  },
  {
    method: 'GET',
    path: '/events',
    summary:
      'Server-sent events: `request` with a journal entry, `clock` with what fell due, `change` with what was done. Of one world with ?world=, of all without.',
    handle: ({ watchers }, { world, query }) => ({
      status: 200,
      headers: { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' },
      follow: (send) => {
        send(': watching\n\n');
        const watch: Watcher = ({ kind, ...event }) => {
          const where = 'entry' in event ? event.entry.world : event.world;
          if (query.has('world') && where !== world) return;
          send(`event: ${kind}\ndata: ${JSON.stringify('entry' in event ? event.entry : event)}\n\n`);
        };
        watchers.add(watch);
        return () => void watchers.delete(watch);
      },
    }),
  },
];
