import packageJson from '../../package.json' with { type: 'json' };
import type { Fixture } from '../../schemas/generated/types.ts';
import description from '../../schemas/openapi.json' with { type: 'json' };
import { mockOperations, watchEvents, worldOperations } from '../controls.ts';
import { answerOf } from '../controls/answer.ts';
import { readPart } from '../controls/data.ts';
import { operation, routesOf, bySchema, type Route } from '../controls/operation.ts';
import { trimBasePath } from '../handler.ts';
import { loadPage, policyOf } from '../page/asset.ts';
import { replaceFixture } from '../session.ts';
import { openapiOf } from './openapi.ts';

/** Operations that only HTTP needs. JavaScript has its own `watch` and `replaceFixture`. */
const served = {
  replaceFixture: operation('PUT /fixture', 'Replaces the fixture until a reset, and resets all worlds.', {
    body: bySchema<Fixture>('fixture'),
    isGlobal: true,
    run: ({ session }, given) => {
      const fixture = readPart(given ?? null);
      replaceFixture(session, fixture);
      const { partners = [], apiKeys = [], users = [], deposits = [] } = fixture;
      const counts = Object.entries({ partners, apiKeys, users, deposits });
      return Object.fromEntries(counts.map(([name, { length }]) => [name, length]));
    },
  }),
  watch: operation(
    'GET /events',
    'Server-sent events `request`, `clock` and `change` of one world (?world=) or of all.',
    {
      run:
        ({ session, name, isAll }) =>
        (send: (text: string) => void) => {
          send(': watching\n\n');
          return watchEvents(session, ({ kind, ...event }) => {
            const shown = 'entry' in event ? event.entry : event;
            if (!isAll && shown.world !== name) return;
            send(`event: ${kind}\ndata: ${JSON.stringify(shown)}\n\n`);
          });
        },
      respond: (subscribe) => ({
        status: 200,
        headers: { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' },
        subscribe,
      }),
    },
  ),
  // The page is public: it contains no data and loads them by calls with the token.
  page: operation('GET /', 'The admin page (HTML).', {
    isPublic: true,
    run: loadPage,
    respond: (html) => {
      const headers = { 'Content-Security-Policy': policyOf(html), 'Referrer-Policy': 'no-referrer' };
      return answerOf(200, 'text/html; charset=utf-8', html, headers);
    },
  }),
  health: operation('GET /health', 'Says that the mock is running. Needs no token.', {
    isGlobal: true,
    isPublic: true,
    run: () => ({ status: 'healthy' }),
  }),
  version: operation('GET /version', 'Name and version of the mock.', {
    isGlobal: true,
    run: () => ({ name: packageJson.name, version: packageJson.version }),
  }),
  interface: operation(
    'GET /interface.json',
    'The two lookups as an OpenAPI document; its server is this one.',
    {
      isGlobal: true,
      run: ({ session: { options } }) => ({
        ...description,
        servers: [{ url: trimBasePath(options.basePath ?? '/') || '/' }],
      }),
    },
  ),
  openapi: operation('GET /openapi.json', 'This API as an OpenAPI document, with types of its answers.', {
    isGlobal: true,
    run: (): object => openapiOf(routes),
  }),
};

/** The whole admin API. */
export const routes: readonly Route[] = [worldOperations, mockOperations, served].flatMap((table) =>
  routesOf(table),
);
