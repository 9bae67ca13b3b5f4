import { endpoints } from '../../schemas/endpoints.ts';
import { gradeOf, tellChange } from '../controls.ts';
import { splitTarget, trimBasePath } from '../handler.ts';
import { clear, entriesOf, type JournalEntry } from '../journal.ts';
import { magicValues } from '../magic-values.ts';
import { scorecardFormats, type ScorecardFormat } from '../scorecard.ts';
import { sandboxSeen, wrongAt, type Session, type Watcher } from '../session.ts';
import { countIn, ok, route, type AdminRequest, type Route } from './route.ts';

/** What requests can be searched by; all given criteria have to match. */
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

function found(session: Session, { world, fields }: AdminRequest): readonly JournalEntry[] {
  const wanted = Object.entries(fields).map(([name, value]) => {
    if (typeof value !== 'string' && typeof value !== 'number')
      throw wrongAt(name, 'has to be a text or a number');
    return [criteria[name]!, `${value}`] as const;
  });
  return entriesOf(sandboxSeen(session, world).journal, session.redact).filter((entry) =>
    wanted.every(([matches, value]) => matches(entry, value)),
  );
}

const requestRoutes: readonly Route[] = [
  route(
    'GET /requests',
    'The last requests, oldest first, each with the reason of its answer.',
    { query: { limit: 'only the last n requests', since: 'only requests with a greater id' } },
    ({ redact }, { sandbox, query }) => {
      const all = entriesOf(sandbox.journal, redact);
      const since = countIn(query, 'since', 0);
      const limit = countIn(query, 'limit', all.length);
      const requests = limit === 0 ? [] : all.filter(({ id }) => id > since).slice(-limit);
      return ok({ requests, meta: { total: all.length } });
    },
  ),
  route('DELETE /requests', 'Clears the journal.', {}, (session, { world }) => {
    const sandbox = sandboxSeen(session, world);
    clear(sandbox.journal);
    tellChange(session, sandbox, 'journal cleared');
    return ok({});
  }),
  route(
    'POST /requests/count',
    'Counts the matching requests.',
    { fields: criteriaFields },
    (session, request) => ok({ count: found(session, request).length }),
  ),
  route(
    'POST /requests/find',
    'Lists the matching requests.',
    { fields: criteriaFields },
    (session, request) => ok({ requests: found(session, request) }),
  ),
];

const formats = Object.keys(scorecardFormats) as readonly ScorecardFormat[];

/** By `?format=`, or else the first supported media type of Accept. */
function formatFor({ query, accept }: AdminRequest): ScorecardFormat {
  const asked = query.get('format');
  if (asked === null) {
    const types = accept.split(',').map((type) => type.replace(/;.*/s, '').trim().toLowerCase());
    const supported = types.find((type) => type === 'application/json' || type === 'text/plain');
    return supported === 'text/plain' ? 'text' : 'json';
  }
  const known = formats.find((name) => name === asked);
  if (known === undefined) throw wrongAt('format', `has to be one of ${formats.join(', ')}`);
  return known;
}

/** What a test reads: the journal, its grades, events, and magic values. */
export const observeRoutes: readonly Route[] = [
  ...requestRoutes,
  route(
    'GET /scorecard',
    'Grades the client by the journal: Retry-After, back-off, polling, keys. JSON or text.',
    { query: { format: formats.join(', ') } },
    async (session, request) => {
      const { type, write } = scorecardFormats[formatFor(request)];
      return { status: 200, type, text: write(await gradeOf(session, [request.sandbox])) };
    },
  ),
  route(
    'GET /magic-values',
    'An id and a key for each state that the fixture can show; `port` is that of the service, if it has its own.',
    { isForAll: true },
    ({ fixture, facts, options, arePublicKeys, servicePort }) => {
      const basePath = trimBasePath(options.basePath ?? '/');
      const values = magicValues(fixture, facts).map(({ shows, endpoint, id, key }) => {
        const { path, parameter } = endpoints[endpoint];
        const target = `${basePath}${path}?${parameter}=${id}`;
        return { shows, target, keyName: key.name, ...(arePublicKeys && { key: key.key }) };
      });
      return ok({ ...(servicePort !== undefined && { port: servicePort }), values });
    },
  ),
  route(
    'GET /events',
    'Server-sent events `request`, `clock` and `change`: of one world with ?world=, else of all.',
    {},
    ({ watchers }, { world, query }) => ({
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
  ),
];
