import packageJson from '../../package.json' with { type: 'json' };
import fixtureSchema from '../../schemas/fixture.schema.json' with { type: 'json' };
import description from '../../schemas/openapi.json' with { type: 'json' };
import { trimBasePath } from '../handler.ts';
import { loadPage, policyOf } from '../page/asset.ts';
import { controlRoutes } from './control-routes.ts';
import { dataRoutes } from './data-routes.ts';
import { observeRoutes } from './observe-routes.ts';
import { answerOf, ok, route, type Route } from './route.ts';

/** The whole admin API, in the order in which its description lists it. */
export const routes: readonly Route[] = [
  // The page holds no data: it requests them, with the token if one is needed.
  route('GET /', 'The admin page (HTML).', { isOpen: true }, async () => {
    const text = await loadPage();
    const headers = { 'Content-Security-Policy': policyOf(text), 'Referrer-Policy': 'no-referrer' };
    return answerOf(200, 'text/html; charset=utf-8', text, headers);
  }),
  route(
    'GET /health',
    'Says that the mock is running. Needs no token.',
    { isForAll: true, isOpen: true },
    () => ok({ status: 'healthy' }),
  ),
  route('GET /version', 'Name and version of the mock.', { isForAll: true }, () =>
    ok({ name: packageJson.name, version: packageJson.version }),
  ),
  route(
    'POST /reset',
    'Resets data, clock, rate limits, faults and journal of one world (?world=) or of all.',
    {},
    (_, { world, query, controls, mock }) => {
      if (query.has('world')) controls.reset();
      else mock.reset();
      return ok({ reset: query.has('world') ? world : 'all' });
    },
  ),
  route(
    'GET /worlds',
    'Names of the worlds other than main, least recently used first.',
    { isForAll: true },
    (_, { mock }) => ok({ worlds: mock.worlds() }),
  ),
  ...observeRoutes,
  ...controlRoutes,
  ...dataRoutes,
  route(
    'GET /interface.json',
    'The two lookups as an OpenAPI document; its server is this one, unless the service has its own port.',
    { isForAll: true },
    ({ options, servicePort }) => {
      if (servicePort !== undefined) return ok(description);
      return ok({ ...description, servers: [{ url: trimBasePath(options.basePath ?? '/') || '/' }] });
    },
  ),
  route('GET /openapi.json', 'This description.', { isForAll: true }, () => ok(openapi())),
];

const json = (schema: unknown) => ({ content: { 'application/json': { schema } } });
const text = { type: 'string' };
const problem = json({ type: 'object', required: ['error'], properties: { error: text, place: text } });

function parameter(name: string, where: 'query' | 'path', words: string) {
  return { name, in: where, required: where === 'path', description: words, schema: text };
}

function schemaOf(fields: NonNullable<Route['fields']>) {
  const all = Object.entries(fields);
  const required = all.filter(([, field]) => field.required).map(([name]) => name);
  const properties = Object.fromEntries(all.map(([name, { required: _, ...schema }]) => [name, schema]));
  return { type: 'object', additionalProperties: false, ...(required[0] && { required }), properties };
}

function operationOf({ summary, path, query = {}, fields, body, isForAll, isOpen }: Route) {
  const schema = fields === undefined ? body : schemaOf(fields);
  const parameters = [
    ...(path.includes('{id}') ? [parameter('id', 'path', 'the reference_id')] : []),
    ...Object.entries(query).map(([name, what]) => parameter(name, 'query', what)),
    ...(isForAll ? [] : [parameter('world', 'query', 'name of a world: the text after the ~ of a key')]),
  ];
  return {
    summary,
    parameters,
    ...(schema && { requestBody: json(schema) }),
    ...(isOpen && { security: [] }),
    responses: {
      '2XX': { description: 'Done.' },
      '4XX': { description: 'The problem; `place` names the field.', ...problem },
    },
  };
}

function openapi() {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const one of routes)
    (paths[`/__admin${one.path}`] ??= {})[one.method.toLowerCase()] = operationOf(one);
  const { $schema: _, $id: __, $defs, ...fixture } = fixtureSchema;
  const schemas = JSON.stringify({ ...$defs, fixture }).replaceAll('#/$defs/', '#/components/schemas/');
  const token = { type: 'http', scheme: 'bearer' };
  return {
    openapi: '3.1.0',
    info: { title: 'Admin API of the ib-conformance mock', version: packageJson.version },
    security: [{}, { token: [] }],
    paths,
    components: { schemas: JSON.parse(schemas) as unknown, securitySchemes: { token } },
  };
}
