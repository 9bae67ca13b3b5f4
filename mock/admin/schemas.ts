import fixtureSchema from '../../schemas/fixture.schema.json' with { type: 'json' };

/** A JSON Schema. */
export type Schema = Readonly<Record<string, unknown>>;

/** What calls answer: fields with a type of JSON, or the name of a schema. `?` stands behind those that may be missing. */
const shapes = {
  clock: 'now: integer, iso: string, mode: string, rate: number, frozen: boolean, due?: due',
  count: 'count: integer',
  deposits: 'deposits: shownDeposit[], meta: total',
  due: 'deposits: string[], keys: string[], limiters: limiter[]',
  fault: 'id: string, what: string',
  faults: 'fault: string|null, chaos: string[], seed: integer, next: queued[], faults?: fault[]',
  gauge: `endpoint: string, key: string, counted: integer, most: integer, windowSeconds: number,
    isLimited: boolean, freesInMs: number`,
  keys: 'keys: shownKey[], meta: total',
  limiter: 'endpoint: string, key: string',
  queued: 'kind: string, count: integer',
  request: `id: integer, at: integer, world: string, key?: string, credentialDigest?: string, method: string,
    target: string, endpoint?: string, status: integer, reason: string, retryAfterSeconds?: integer,
    keyInTarget: boolean, chaos?: string, preferred?: integer, elapsedMs?: integer, durationMs?: number,
    requestHeaders: object, responseHeaders: object, responseBody: string`,
  requests: 'requests: request[], meta?: total',
  shownDeposit: `reference_id: referenceId, user_id: userId, partner: partnerOrNone, state: string,
    amountInUsd?: amountInUsd, executedAt?: executedAt, dueInMs?: number, pollsLeft?: integer`,
  shownKey: `name: string, key?: string, partner: partnerOrNone, state: string, expiresAt?: number,
    limits?: keyLimits`,
  shownLimits: 'limits: limits, gauges: gauge[]',
  total: 'total: integer',
  users: 'users: user[], meta: total',
  worlds: 'worlds: string[]',
};

const { $schema: _, $id: __, $defs, ...fixture } = fixtureSchema;
const fromFixture = JSON.stringify({ ...$defs, fixture }).replaceAll('#/$defs/', '#/components/schemas/');

export type SchemaName = keyof typeof shapes | keyof typeof $defs | 'fixture';

/** A schema of the description, by its name. */
export const ref = (name: SchemaName): Schema => ({ $ref: `#/components/schemas/${name}` });

function typeOf(name: string): Schema {
  if (name.endsWith('[]')) return { type: 'array', items: typeOf(name.slice(0, -2)) };
  if (name.includes('|')) return { type: name.split('|') };
  return /^(?:string|number|integer|boolean|object)$/.test(name) ? { type: name } : ref(name as SchemaName);
}

function schemaOf(shape: string): Schema {
  const fields = shape.split(/,\s+/).map((field) => field.split(': '));
  const required = fields.flatMap(([name = '']) => (name.endsWith('?') ? [] : name));
  const properties = fields.map(([name = '', type = '']) => [name.replace('?', ''), typeOf(type)]);
  return { type: 'object', required, properties: Object.fromEntries(properties) };
}

/** The schemas of the description: those of the fixture, and of what calls answer. */
export const schemas: Readonly<Record<string, Schema>> = {
  ...(JSON.parse(fromFixture) as Readonly<Record<string, Schema>>),
  ...Object.fromEntries(Object.entries(shapes).map(([name, shape]) => [name, schemaOf(shape)])),
};
