import packageJson from '../../package.json' with { type: 'json' };
import { ref, schemas, type Schema } from './schemas.ts';
import type { Route } from './route.ts';

const json = (schema: Schema) => ({ content: { 'application/json': { schema } } });
const text = { type: 'string' };
const problem = json({ type: 'object', required: ['error'], properties: { error: text, place: text } });

function parameter(name: string, where: 'query' | 'path', words: string) {
  return { name, in: where, required: where === 'path', description: words, schema: text };
}

function schemaOf(fields: NonNullable<Route['fields']>): Schema {
  const all = Object.entries(fields);
  const required = all.filter(([, field]) => field.required).map(([name]) => name);
  const properties = Object.fromEntries(all.map(([name, { required: _, ...schema }]) => [name, schema]));
  return { type: 'object', additionalProperties: false, ...(required[0] && { required }), properties };
}

function operationOf({ summary, path, query = {}, fields, body, gives, isForAll, isOpen }: Route) {
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
      '2XX': { description: 'Done.', ...(gives && json(ref(gives))) },
      '4XX': { description: 'The problem; `place` names the field.', ...problem },
    },
  };
}

/** The OpenAPI document of the admin API. */
export function openapiOf(routes: readonly Route[]) {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const one of routes)
    (paths[`/__admin${one.path}`] ??= {})[one.method.toLowerCase()] = operationOf(one);
  const token = { type: 'http', scheme: 'bearer' };
  return {
    openapi: '3.1.0',
    info: { title: 'Admin API of the ib-conformance mock', version: packageJson.version },
    security: [{}, { token: [] }],
    paths,
    components: { schemas, securitySchemes: { token } },
  };
}
