import packageJson from '../../package.json' with { type: 'json' };
import fixtureSchema from '../../schemas/fixture.schema.json' with { type: 'json' };
import type { Fields, Schema } from '../controls/fields.ts';
import { isBySchema, type Route } from '../controls/operation.ts';

/** Results of calls: each field has a JSON type or the name of a schema. `?` marks optional fields. */
const shapes = {
  clock: 'now: integer, iso: string, mode: string, rate: number, frozen: boolean, due?: due',
  count: 'count: integer, dropped: integer, unused?: boolean',
  deposits: 'deposits: shownDeposit[], meta: total',
  due: 'deposits: string[], keys: string[], limiters: limiter[]',
  fault: 'id: string, what: string',
  faults: 'fault: string|null, chaos: string[], seed: integer, next: queued[], faults?: fault[]',
  gauge: `endpoint: string, key: string, counted: integer, most: integer, windowSeconds: number,
    isLimited: boolean, freesInMs: number`,
  keys: 'keys: shownKey[], meta: total',
  limiter: 'endpoint: string, key: string',
  magicValue: 'shows: string, endpoint: string, id: string, target: string, keyName?: string, key?: string',
  magicValues: 'values: magicValue[]',
  queued: 'kind: string, count: integer, endpoint?: string',
  request: `id: integer, at: integer, world: string, key?: string, credentialDigest?: string, method: string,
    target: string, endpoint?: string, status: integer, reason: string, retryAfterSeconds?: integer,
    keyInTarget: boolean, chaos?: string, elapsedMs?: integer, durationMs?: number,
    requestHeaders: object, responseHeaders: object, responseBody: string`,
  requests: 'requests: request[], dropped: integer, meta?: total, unused?: boolean',
  shownDeposit: `reference_id: referenceId, user_id: userId, partner: partnerOrNone, state: string,
    amountInUsd?: amountInUsd, executedAt?: executedAt, dueInMs?: number, pollsLeft?: integer`,
  shownFixture: `$schema?: string, partners?: object[], apiKeys?: object[], users?: user[], deposits?: deposit[],
    limits?: limits`,
  shownKey: `name: string, key?: string, partner: partnerOrNone, state: string, expiresAt?: number,
    limits?: keyLimits`,
  shownLimits: 'limits: limits, gauges: gauge[]',
  total: 'total: integer',
  users: 'users: user[], meta: total',
  worlds: 'worlds: string[]',
};

const { $schema: _schema, $id: _id, $defs, ...fixture } = fixtureSchema;
const fromFixture = JSON.stringify({ ...$defs, fixture }).replaceAll('#/$defs/', '#/components/schemas/');

/** Returns a reference to a schema of the document. */
const ref = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` });

function typeOf(name: string): Schema {
  if (name.endsWith('[]')) return { type: 'array', items: typeOf(name.slice(0, -2)) };
  if (name.includes('|')) return { type: name.split('|') };
  return /^(?:string|number|integer|boolean|object)$/.test(name) ? { type: name } : ref(name);
}

function schemaOfShape(shape: string): Schema {
  const fields = shape.split(/,\s+/).map((field) => field.split(': '));
  const required = fields.flatMap(([name = '']) => (name.endsWith('?') ? [] : name));
  const properties = fields.map(([name = '', type = '']) => [name.replace('?', ''), typeOf(type)]);
  return { type: 'object', required, properties: Object.fromEntries(properties) };
}

/** All schemas of the document: those of the fixture and of results. */
const schemas: Readonly<Record<string, Schema>> = {
  ...(JSON.parse(fromFixture) as Readonly<Record<string, Schema>>),
  ...Object.fromEntries(Object.entries(shapes).map(([name, shape]) => [name, schemaOfShape(shape)])),
};

const json = (schema: Schema, example?: unknown) => ({
  content: { 'application/json': { schema, ...(example !== undefined && { example }) } },
});
const text = { type: 'string' };
const problem = json({ type: 'object', required: ['error'], properties: { error: text, place: text } });

function parametersOf({ path, parameters = {}, isGlobal }: Route) {
  const own = Object.entries(parameters).map(
    ([
      name,
      {
        schema: { description, ...schema },
      },
    ]) => {
      const isInPath = path.includes(`{${name}}`);
      return { name, in: isInPath ? 'path' : 'query', required: isInPath, description, schema };
    },
  );
  const description = 'name of a world: the text after the ~ of a key';
  const world = { name: 'world', in: 'query', required: false, description, schema: text };
  return isGlobal === true ? own : [...own, world];
}

function schemaOf(fields: Fields): Schema {
  const all = Object.entries(fields);
  const required = all.filter(([, field]) => field.isRequired).map(([name]) => name);
  const properties = Object.fromEntries(all.map(([name, { schema }]) => [name, schema]));
  return { type: 'object', additionalProperties: false, ...(required[0] && { required }), properties };
}

function operationOf(route: Route) {
  const { summary, body, example, result, isPublic } = route;
  const schema = body && (isBySchema(body) ? body.schema : schemaOf(body));
  return {
    summary,
    parameters: parametersOf(route),
    ...(schema && { requestBody: json(schema, example) }),
    ...(isPublic && { security: [] }),
    responses: {
      '2XX': { description: 'Done.', ...(result && json(ref(result))) },
      '4XX': { description: 'The problem; `place` names the field.', ...problem },
    },
  };
}

/** Creates the OpenAPI document of the admin API. */
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
