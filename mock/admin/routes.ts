import packageJson from '../../package.json' with { type: 'json' };
import fixtureSchema from '../../schemas/fixture.schema.json' with { type: 'json' };
import description from '../../schemas/openapi.json' with { type: 'json' };
import { trimBasePath } from '../handler.ts';
import { resetAll, resetWorld } from '../session.ts';
import { controlRoutes } from './control-routes.ts';
import { dataRoutes } from './data-routes.ts';
import { observeRoutes } from './observe-routes.ts';
import { pageRoutes } from './page.ts';
import { ok, type Route } from './route.ts';

/** The mock itself: whether it is up, what it is, and the way back to the beginning. */
const generalRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/health',
    summary: 'Says that the mock is up. Open to all, on every host.',
    isForAll: true,
    isOpen: true,
    handle: () => ok({ status: 'healthy' }),
  },
  {
    method: 'GET',
    path: '/version',
    summary: 'Name and version of the mock.',
    isForAll: true,
    handle: () => ok({ name: packageJson.name, version: packageJson.version }),
  },
  {
    method: 'POST',
    path: '/reset',
    summary:
      'Everything as the fixture has it: data, clock, limiters, faults, journal. Of one world with ?world=, of all without.',
    handle: (session, { world, query }) => {
      if (query.has('world')) resetWorld(session, world);
      else resetAll(session);
      return ok({ reset: query.has('world') ? world : 'all' });
    },
  },
  {
    method: 'GET',
    path: '/worlds',
    summary: 'Names of the worlds that there are beside the main one, the least recently used first.',
    isForAll: true,
    handle: ({ sandboxes }) => ok({ worlds: [...sandboxes.keys()] }),
  },
];

const descriptionRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/interface.json',
    summary:
      'The two lookups as an OpenAPI document; its server is this one, where the service has no port of its own.',
    isForAll: true,
    handle: ({ options, servicePort }) => {
      if (servicePort !== undefined) return ok(description);
      return ok({ ...description, servers: [{ url: trimBasePath(options.basePath ?? '/') || '/' }] });
    },
  },
  {
    method: 'GET',
    path: '/openapi.json',
    summary: 'This description.',
    isForAll: true,
    handle: () => ok(openapi()),
  },
];

/** The whole admin API, in the order in which its description lists it. */
export const routes: readonly Route[] = [
  ...pageRoutes,
  ...generalRoutes,
  ...observeRoutes,
  ...controlRoutes,
  ...dataRoutes,
  ...descriptionRoutes,
];

const problem = {
  description: 'What was wrong, in words; `place` names the field.',
  content: {
    'application/json': {
      schema: {
        type: 'object',
        required: ['error'],
        properties: { error: { type: 'string' }, place: { type: 'string' } },
      },
    },
  },
} as const;

const parameter = (name: string, where: 'query' | 'path', words: string) => ({
  name,
  in: where,
  required: where === 'path',
  description: words,
  schema: { type: 'string' },
});

function bodyOf({ fields, body }: Route) {
  if (fields === undefined) return body;
  const required = Object.keys(fields).filter((name) => fields[name]!.required);
  return {
    type: 'object',
    additionalProperties: false,
    ...(required.length > 0 && { required }),
    properties: Object.fromEntries(
      Object.entries(fields).map(([name, { required: _, ...schema }]) => [name, schema]),
    ),
  };
}

function operationOf(route: Route) {
  const { summary, path, query = {}, isForAll, isOpen } = route;
  const schema = bodyOf(route);
  const parameters = [
    ...(path.includes('{id}') ? [parameter('id', 'path', 'whose it is')] : []),
    ...Object.entries(query).map(([name, what]) => parameter(name, 'query', what)),
    ...(isForAll ? [] : [parameter('world', 'query', 'name of a world: what stands behind the ~ of a key')]),
  ];
  return {
    summary,
    ...(parameters.length > 0 && { parameters }),
    ...(schema && { requestBody: { content: { 'application/json': { schema } } } }),
    ...(isOpen && { security: [] }),
    responses: { '2XX': { description: 'Done.' }, '4XX': problem },
  };
}

/** The description of the admin API, made from the routes that serve it. */
function openapi() {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const route of routes)
    (paths[`/__admin${route.path}`] ??= {})[route.method.toLowerCase()] = operationOf(route);
  const { $schema: _, $id: __, $defs, ...fixture } = fixtureSchema;
  const schemas = JSON.stringify({ ...$defs, fixture }).replaceAll('#/$defs/', '#/components/schemas/');
  return {
    openapi: '3.1.0',
    info: { title: 'Admin API of the ib-conformance mock', version: packageJson.version },
    security: [{}, { token: [] }],
    paths,
    components: {
      schemas: JSON.parse(schemas) as unknown,
      securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
    },
  };
}
