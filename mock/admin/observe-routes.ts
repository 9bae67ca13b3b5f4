import { criteria, type RequestQuery } from '../controls/requests.ts';
import type { JournalEntry } from '../journal.ts';
import { scorecardFormats, type ScorecardFormat } from '../scorecard.ts';
import { wrongAt } from '../session.ts';
import { answerOf, countIn, ok, route, type AdminRequest, type Route } from './route.ts';

const criteriaFields = Object.fromEntries(criteria.map((name) => [name, { type: ['string', 'integer'] }]));

const searchRoute = (
  name: 'count' | 'find',
  summary: string,
  shown: (found: readonly JournalEntry[]) => unknown,
) =>
  route(`POST /requests/${name}`, summary, { fields: criteriaFields }, (_, { controls, fields }) =>
    ok(shown(controls.requests(fields as RequestQuery))),
  );

const formats = Object.keys(scorecardFormats) as readonly ScorecardFormat[];

/** By `?format=`, or else the first supported media type of Accept. */
function formatFor({ query, accept }: AdminRequest): ScorecardFormat {
  const [accepted] = /application\/json|text\/plain/i.exec(accept) ?? [];
  const asked = query.get('format') ?? (accepted?.toLowerCase() === 'text/plain' ? 'text' : 'json');
  const known = formats.find((name) => name === asked);
  if (known === undefined) throw wrongAt('format', `must be one of ${formats.join(', ')}`);
  return known;
}

/** What a test reads: the journal, its grades, events, and magic values. */
export const observeRoutes: readonly Route[] = [
  route(
    'GET /requests',
    'The last requests, oldest first, each with the reason of its answer.',
    { query: { limit: 'only the last n requests', since: 'only requests with a greater id' } },
    (_, { controls, query }) => {
      const all = controls.requests();
      const since = countIn(query, 'since', 0);
      const limit = countIn(query, 'limit', all.length);
      const requests = limit === 0 ? [] : all.filter(({ id }) => id > since).slice(-limit);
      return ok({ requests, meta: { total: all.length } });
    },
  ),
  route('DELETE /requests', 'Clears the journal.', {}, (_, { controls }) => {
    controls.requests.clear();
    return ok({});
  }),
  searchRoute('count', 'Counts the matching requests.', ({ length }) => ({ count: length })),
  searchRoute('find', 'Lists the matching requests.', (requests) => ({ requests })),
  route(
    'GET /scorecard',
    'Grades the client from the journal: Retry-After, back-off, polling, keys. JSON or text.',
    { query: { format: formats.join(', ') } },
    async (_, request) => {
      const { type, write } = scorecardFormats[formatFor(request)];
      return answerOf(200, type, write(await request.controls.scorecard()));
    },
  ),
  route(
    'GET /magic-values',
    'An id and a key for each state that the fixture can show; `port` is that of the service, if it has its own.',
    { isForAll: true },
    ({ servicePort }, { mock }) =>
      ok({ ...(servicePort !== undefined && { port: servicePort }), values: mock.magicValues() }),
  ),
  route(
    'GET /events',
    'Server-sent events `request`, `clock` and `change` of one world (?world=) or of all.',
    {},
    (_, { world, query, mock }) => ({
      status: 200,
      headers: { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' },
      follow: (send) => {
        send(': watching\n\n');
        return mock.watch(({ kind, ...event }) => {
          const where = 'entry' in event ? event.entry.world : event.world;
          if (query.has('world') && where !== world) return;
          send(`event: ${kind}\ndata: ${JSON.stringify('entry' in event ? event.entry : event)}\n\n`);
        });
      },
    }),
  ),
];
