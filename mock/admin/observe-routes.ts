import { endpoints } from '../../schemas/endpoints.ts';
import { gradeOf, tellChange } from '../controls.ts';
import { splitTarget, trimBasePath } from '../handler.ts';
import { clear, entriesOf, type JournalEntry } from '../journal.ts';
import { magicValues } from '../magic-values.ts';
import { scorecardFormats, type ScorecardFormat } from '../scorecard.ts';
import { sandboxSeen, wrongAt, type Watcher } from '../session.ts';
import { answerOf, countIn, ok, route, type AdminRequest, type Route } from './route.ts';

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

const searchRoute = (
  name: 'count' | 'find',
  summary: string,
  shown: (found: readonly JournalEntry[]) => unknown,
) =>
  route(`POST /requests/${name}`, summary, { fields: criteriaFields }, (session, { world, fields }) => {
    const wanted = Object.entries(fields);
    for (const [field, value] of wanted)
      if (typeof value !== 'string' && typeof value !== 'number')
        throw wrongAt(field, 'has to be a text or a number');
    const all = entriesOf(sandboxSeen(session, world).journal, session.redact);
    const fits = (entry: JournalEntry) =>
      wanted.every(([field, value]) => criteria[field]!(entry, String(value)));
    return ok(shown(all.filter(fits)));
  });

const formats = Object.keys(scorecardFormats) as readonly ScorecardFormat[];

/** By `?format=`, or else the first supported media type of Accept. */
function formatFor({ query, accept }: AdminRequest): ScorecardFormat {
  const [accepted] = /application\/json|text\/plain/i.exec(accept) ?? [];
  const asked = query.get('format') ?? (accepted?.toLowerCase() === 'text/plain' ? 'text' : 'json');
  const known = formats.find((name) => name === asked);
  if (known === undefined) throw wrongAt('format', `has to be one of ${formats.join(', ')}`);
  return known;
}

/** What a test reads: the journal, its grades, events, and magic values. */
export const observeRoutes: readonly Route[] = [
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
  searchRoute('count', 'Counts the matching requests.', ({ length }) => ({ count: length })),
  searchRoute('find', 'Lists the matching requests.', (requests) => ({ requests })),
  route(
    'GET /scorecard',
    'Grades the client by the journal: Retry-After, back-off, polling, keys. JSON or text.',
    { query: { format: formats.join(', ') } },
    async (session, request) => {
      const { type, write } = scorecardFormats[formatFor(request)];
      return answerOf(200, type, write(await gradeOf(session, [request.sandbox])));
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
