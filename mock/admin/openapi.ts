import packageJson from '../../package.json' with { type: 'json' };
import fixtureSchema from '../../schemas/fixture.schema.json' with { type: 'json' };
import type { Route } from './route.ts';

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

const parameter = (name: string, where: 'query' | 'path', description: string) => ({
  name,
  in: where,
  required: where === 'path',
  description,
  schema: { type: 'string' },
});

function operationOf({ summary, path, query = {}, body, isForAll, isOpen }: Route) {
  const parameters = [
    ...[...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => parameter(name!, 'path', 'whose it is')),
    ...Object.entries(query).map(([name, what]) => parameter(name, 'query', what)),
    ...(isForAll ? [] : [parameter('world', 'query', 'name of a world: what stands behind the ~ of a key')]),
  ];
  return {
    summary,
    ...(parameters.length > 0 && { parameters }),
    ...(body && { requestBody: { content: { 'application/json': { schema: body } } } }),
    ...(isOpen && { security: [] }),
    responses: { '2XX': { description: 'Done.' }, '4XX': problem },
  };
}

/** The parts of a fixture, under the names by which bodies refer to them. */
function fixtureSchemas(): unknown {
  const { $schema: _, $id: __, $defs, ...fixture } = fixtureSchema;
  const text = JSON.stringify({ ...$defs, fixture });
  return JSON.parse(text.replaceAll('#/$defs/', '#/components/schemas/'));
}

/** The description of the admin API, made of the table that serves it. */
export function openapiOf(routes: readonly Route[]) {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const route of routes)
    (paths[`/__admin${route.path}`] ??= {})[route.method.toLowerCase()] = operationOf(route);
  return {
    openapi: '3.1.0',
    info: { title: 'Admin API of the ib-conformance mock', version: packageJson.version },
    security: [{}, { token: [] }],
    paths,
    components: { schemas: fixtureSchemas(), securitySchemes: { token: { type: 'http', scheme: 'bearer' } } },
  };
}
