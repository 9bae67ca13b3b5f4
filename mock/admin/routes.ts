import packageJson from '../../package.json' with { type: 'json' };
import description from '../../schemas/openapi.json' with { type: 'json' };
import type { Time } from '../controls/clock.ts';
import { inputs } from '../controls/inputs.ts';
import type { Endpoint } from '../../schemas/endpoints.ts';
import { worldLists, readPart } from '../controls/data.ts';
import { criteria, type RequestQuery } from '../controls/requests.ts';
import { trimBasePath } from '../handler.ts';
import { loadPage, policyOf } from '../page/asset.ts';
import { scorecardFormats, type ScorecardFormat } from '../scorecard.ts';
import { worldHandle, replaceFixture, badRequest } from '../session.ts';
import { openapiOf, ref } from './openapi.ts';
import { adminAnswer, countParameter, json, operation } from './operation.ts';
import type { AdminRequest, Operation, Route } from './operation.ts';

const PAGE = 1000;

const listQuery = {
  contains: 'only items with this text in an id, a partner, a name or a state, in any letter case',
  offset: 'how many items to skip',
  limit: `maximum number of items (${PAGE})`,
} as const;

/** Declares a list of a world, with the total number of matching items. */
const list = (name: 'deposits' | 'users' | 'keys', query: Readonly<Record<string, string>> = {}) =>
  json({ gives: name, query: { ...query, ...listQuery } }, (_, { session, world, query: given }) => {
    const { state, contains } = Object.fromEntries(given);
    const [offset, limit] = [countParameter(given, 'offset', 0), countParameter(given, 'limit', PAGE)];
    const listed = worldLists(worldHandle(session, world))[name];
    const { items, total } = listed({ state, contains, offset, limit });
    return { [name]: items, meta: { total } };
  });

const formats = Object.keys(scorecardFormats) as readonly ScorecardFormat[];

/** Returns the format in `?format=`, or else the first supported media type of Accept. */
function formatFor({ query, accept }: AdminRequest): ScorecardFormat {
  const [accepted] = /application\/json|text\/plain/i.exec(accept) ?? [];
  const requested = query.get('format') ?? (accepted?.toLowerCase() === 'text/plain' ? 'text' : 'json');
  const format = formats.find((name) => name === requested);
  if (format === undefined) throw badRequest('format', `must be one of ${formats.join(', ')}`);
  return format;
}

const criteriaFields = Object.fromEntries(criteria.map((name) => [name, { type: ['string', 'integer'] }]));
const stateFields = {
  state: { enum: ['key revoked', 'deposit executed'] },
  params: { type: 'object' },
  action: { enum: ['setup', 'teardown'] },
};

/** All operations as `GET /path: summary`, in the order of the OpenAPI document. */
const operations: Readonly<Record<string, Operation>> = {
  // The page is public: it contains no data and loads them by calls with the token.
  'GET /: The admin page (HTML).': operation({ isPublic: true }, async () => {
    const text = await loadPage();
    const headers = { 'Content-Security-Policy': policyOf(text), 'Referrer-Policy': 'no-referrer' };
    return adminAnswer(200, 'text/html; charset=utf-8', text, headers);
  }),
  'GET /health: Says that the mock is running. Needs no token.': json(
    { isGlobal: true, isPublic: true },
    () => ({ status: 'healthy' }),
  ),
  'GET /version: Name and version of the mock.': json({ isGlobal: true }, () => ({
    name: packageJson.name,
    version: packageJson.version,
  })),
  'POST /reset: Resets data, clock, rate limits, faults and journal of one world (?world=) or of all.': json(
    {},
    (controls, { world, query, mock }) => {
      const isOne = query.has('world');
      if (isOne) controls.reset();
      else mock.reset();
      return { reset: isOne ? world : 'all' };
    },
  ),
  'GET /worlds: Names of the worlds other than main, least recently used first.': json(
    { gives: 'worlds', isGlobal: true },
    (_, { mock }) => ({ worlds: mock.worlds() }),
  ),
  'GET /requests: The last requests, oldest first, each with the reason of its answer.': json(
    {
      gives: 'requests',
      query: { limit: 'only the last n requests', since: 'only requests with a greater id' },
    },
    (controls, { query }) => {
      const all = controls.requests();
      const since = countParameter(query, 'since', 0);
      const limit = countParameter(query, 'limit', all.length);
      const requests = limit === 0 ? [] : all.filter(({ id }) => id > since).slice(-limit);
      return { requests, dropped: controls.requests.dropped(), meta: { total: all.length } };
    },
  ),
  'DELETE /requests: Clears the journal.': json({}, ({ requests }) => {
    requests.clear();
    return {};
  }),
  'POST /requests/count: Counts the matching requests.': json(
    { gives: 'count', fields: criteriaFields },
    ({ requests }, { fields }) => ({
      count: requests.count(fields as RequestQuery),
      dropped: requests.dropped(),
    }),
  ),
  'POST /requests/find: Lists the matching requests.': json(
    { gives: 'requests', fields: criteriaFields },
    ({ requests }, { fields }) => ({
      requests: requests(fields as RequestQuery),
      dropped: requests.dropped(),
    }),
  ),
  'GET /scorecard: Grades the client from the journal: Retry-After, back-off, polling, keys. JSON or text.':
    operation(
      { gives: 'scorecard', query: { format: formats.join(', ') } },
      async ({ scorecard }, request) => {
        const { type, write } = scorecardFormats[formatFor(request)];
        return adminAnswer(200, type, write(await scorecard()));
      },
    ),
  'GET /magic-values: An id and a key for each state that the fixture can show; `port` is that of the service, if it has its own.':
    json({ gives: 'magicValues', isGlobal: true }, (_, { session: { servicePort: port }, mock }) => {
      return { ...(port !== undefined && { port }), values: mock.magicValues() };
    }),
  'GET /events: Server-sent events `request`, `clock` and `change` of one world (?world=) or of all.':
    operation({}, (_, { world, query, mock }) => ({
      status: 200,
      headers: { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' },
      subscribe: (send) => {
        send(': watching\n\n');
        return mock.watch(({ kind, ...event }) => {
          const shown = 'entry' in event ? event.entry : event;
          if (query.has('world') && shown.world !== world) return;
          send(`event: ${kind}\ndata: ${JSON.stringify(shown)}\n\n`);
        });
      },
    })),
  'GET /clock: Shows the time and the speed of the clock.': json({ gives: 'clock' }, ({ clock }) =>
    clock.get(),
  ),
  'POST /clock/advance: Moves the clock forward.': json(
    { gives: 'clock', fields: inputs.advance },
    ({ clock }, { fields: { seconds, ms } }) => {
      if ((seconds === undefined) === (ms === undefined))
        throw badRequest('', 'the body needs either "seconds" or "ms", such as {"seconds": 60}');
      return seconds === undefined ? clock.advance(ms ?? 0) : clock.advance(seconds * 1000, 'seconds');
    },
  ),
  'POST /clock/set: Sets the clock, forward or back.': json(
    { gives: 'clock', fields: inputs.setClock },
    ({ clock }, { fields }) => clock.set(fields.now as Time),
  ),
  'POST /clock/freeze: Stops the clock, at a given time or now.': json(
    { gives: 'clock', fields: inputs.freeze },
    ({ clock }, { fields }) => clock.freeze(fields.now as Time | undefined),
  ),
  'POST /clock/scale: Sets how fast the clock runs: 1 is normal speed, 0 stops it.': json(
    { gives: 'clock', fields: inputs.scale },
    ({ clock }, { fields }) => clock.scale(fields.rate),
  ),
  'GET /faults: The active fault, the chaos, and all faults and variants.': json(
    { gives: 'faults' },
    ({ faults }) => ({ ...faults.get(), faults: faults.list() }),
  ),
  'PUT /faults: Sets the fault or variant by its id, the chaos by specs such as "500:0.1", or its seed. null switches off.':
    json(
      {
        gives: 'faults',
        fields: inputs.faults,
      },
      ({ faults }, { fields, body }) => {
        if (Object.keys(fields).length === 0)
          throw badRequest('', 'the body needs "fault", "chaos" or "seed", such as {"chaos": ["500:0.1"]}');
        return faults.set(body);
      },
    ),
  'POST /faults/next: Sets chaos for the next requests: a status, reset, timeout, truncate, or slow with a time (slow:2s).':
    json({ gives: 'faults', fields: inputs.nextFault }, ({ faults }, { fields: { kind, count, endpoint } }) =>
      faults.next(kind as string | number, count, endpoint as Endpoint | undefined),
    ),
  // Follows Pact's provider states. `verify` can use it as its state hook.
  'POST /state: Sets up a provider state, or tears it down.': json(
    { body: { type: 'object', required: ['state'], properties: stateFields } },
    ({ state }, { body }) => state(body),
  ),
  'GET /deposits: The deposits in their current state, with what they become.': list('deposits', {
    state: 'EXECUTED, pending or failed',
  }),
  'POST /deposits: Adds a deposit in the format of the fixture; afterSeconds counts from now.': json(
    { gives: 'shownDeposit', body: ref('deposit'), status: 201 },
    ({ deposits }, { body }) => deposits.add(body),
  ),
  'GET /deposits/{id}: One deposit.': json({ gives: 'shownDeposit' }, ({ deposits }, { id }) =>
    deposits.get(id),
  ),
  'POST /deposits/{id}/execute: Executes a pending deposit, by default as in the fixture or with 100 USD; 409 if its state is final.':
    json(
      {
        gives: 'shownDeposit',
        fields: inputs.execute,
      },
      ({ deposits }, { id, fields }) => deposits.execute(id, fields),
    ),
  'POST /deposits/{id}/fail: Makes a pending deposit fail; 409 if its state is final.': json(
    { gives: 'shownDeposit', fields: {} },
    ({ deposits }, { id }) => deposits.fail(id),
  ),
  'GET /users: The users.': list('users'),
  'POST /users: Adds a user in the format of the fixture.': json(
    { gives: 'user', body: ref('user'), status: 201 },
    ({ users }, { body }) => users.add(body),
  ),
  'GET /fixture: The fixture that is served, with names instead of keys that are not public.': json(
    { gives: 'shownFixture', isGlobal: true },
    (_, { mock }) => mock.fixture(),
  ),
  'PUT /fixture: Replaces the fixture until a reset, and resets all worlds.': json(
    { body: ref('fixture'), isGlobal: true },
    (_, { session, body }) => {
      const fixture = readPart(body ?? null);
      replaceFixture(session, fixture, false);
      const { partners = [], apiKeys = [], users = [], deposits = [] } = fixture;
      const counts = Object.entries({ partners, apiKeys, users, deposits });
      return Object.fromEntries(counts.map(([name, { length }]) => [name, length]));
    },
  ),
  'GET /keys: The names of the keys, and their current state. Keys of the built-in fixture are public, and shown.':
    list('keys'),
  'POST /keys: Adds a key in the format of the fixture; expiresAfterSeconds counts from now.': json(
    { gives: 'shownKey', body: ref('apiKey'), status: 201 },
    ({ keys }, { body }) => keys.add(body),
  ),
  'POST /keys/revoke: Makes a key revoked from now on; 409 if it is already.': json(
    { gives: 'shownKey', fields: inputs.key },
    ({ keys }, { fields }) => keys.revoke(fields.key),
  ),
  'POST /keys/expire: Makes a key expired from now on; 409 if it is already.': json(
    { gives: 'shownKey', fields: inputs.key },
    ({ keys }, { fields }) => keys.expire(fields.key),
  ),
  'GET /limits: The limits for all keys, and the state of each limiter, with ms until it frees a request.':
    json({ gives: 'shownLimits' }, ({ limits }) => limits.get()),
  'PUT /limits: Sets the limits of the given endpoints for all keys, as in a fixture; null removes one, {} all.':
    json({ gives: 'shownLimits', body: { type: 'object' } }, ({ limits }, { body }) => limits.set(body)),
  'GET /interface.json: The two lookups as an OpenAPI document; its server is this one, unless the service has its own port.':
    json({ isGlobal: true }, (_, { session: { options, servicePort } }) => {
      if (servicePort !== undefined) return description;
      return { ...description, servers: [{ url: trimBasePath(options.basePath ?? '/') || '/' }] };
    }),
  'GET /openapi.json: This description.': json({ isGlobal: true }, () => openapiOf(routes)),
};

/** The whole admin API. */
export const routes: readonly Route[] = Object.entries(operations).map(([row, declared]) => {
  const [, method = '', path = '', summary = ''] = /^(\w+) (\S+): (.*)$/.exec(row) ?? [];
  return { method, path, summary, ...declared };
});
