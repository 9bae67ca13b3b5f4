import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { createMock } from '../mock/index.ts';
import { findExamples } from '../mock/server/examples.ts';
import { endpoints, type Endpoint } from '../schemas/endpoints.ts';
import errorBody from '../schemas/error-body.schema.json' with { type: 'json' };
import executedDepositResult from '../schemas/executed-deposit-result.schema.json' with { type: 'json' };
import membershipResult from '../schemas/membership-result.schema.json' with { type: 'json' };
import description from '../schemas/openapi.json' with { type: 'json' };
import { mock } from './commands/mock.ts';
import { builtIn as fixture } from './dev/testing/fixtures.ts';
import { version } from './version.ts';

const names = Object.keys(endpoints) as Endpoint[];

interface Shown {
  readonly schema?: object;
  readonly examples?: Readonly<Record<string, { readonly description: string; readonly value: unknown }>>;
}

interface Operation {
  readonly parameters: readonly {
    readonly name: string;
    readonly in: string;
    readonly required: boolean;
    readonly schema: unknown;
    readonly examples: Readonly<Record<string, { readonly value: string }>>;
  }[];
  readonly responses: Readonly<Record<string, { readonly content: { readonly 'application/json': Shown } }>>;
}

const operationOf = (endpoint: Endpoint): Operation =>
  (description.paths as Readonly<Record<string, { readonly get: Operation }>>)[endpoints[endpoint].path]!.get;

/** Asks a new mock with the built-in fixture and a frozen clock. */
function mockOf() {
  const inProcess = createMock({ clock: 'frozen' });
  return async (endpoint: Endpoint, id: string, key: string) => {
    const { path, parameter } = endpoints[endpoint];
    const url = `http://127.0.0.1${path}?${parameter}=${id}`;
    const answer = await inProcess.fetch(url, { headers: { authorization: `Bearer ${key}` } });
    return { status: answer.status, body: await answer.json() };
  };
}

test('it has the endpoints, parameters and statuses of the interface, and no others', () => {
  const paths = names.map((name) => endpoints[name].path);
  assert.deepEqual(Object.keys(description.paths), paths);
  for (const name of names) {
    const { parameters, responses } = operationOf(name);
    assert.deepEqual(
      parameters.map((one) => [one.name, one.in, one.required, one.schema]),
      [[endpoints[name].parameter, 'query', true, { type: 'string', format: 'uuid' }]],
    );
    assert.deepEqual(Object.keys(responses), ['200', ...Object.keys(endpoints[name].messages)]);
  }
});

test('it has our version, our result schemas, and the exact messages', () => {
  assert.equal(description.info.version, version);
  const { MembershipResult, ExecutedDepositResult } = description.components.schemas;
  for (const [embedded, { $schema: _, $id: __, ...keywords }] of [
    [MembershipResult, membershipResult],
    [ExecutedDepositResult, executedDepositResult],
  ] as const)
    assert.deepEqual({ ...embedded, ...keywords }, embedded);
  for (const name of names)
    for (const [status, message] of Object.entries(endpoints[name].messages)) {
      const { schema } = operationOf(name).responses[status]!.content['application/json'];
      const { $schema: _, $id: __, title: ___, ...keywords } = errorBody;
      const error = { ...keywords.properties.error, const: message };
      assert.deepEqual(schema, { ...keywords, properties: { error } });
    }
});

test('it names the URL of the mock, and bearer keys', () => {
  const { host, port } = mock.flags;
  const [server, ...others] = description.servers;
  assert.deepEqual([server!.url, others], [`http://${String(host!.default)}:${String(port!.default)}`, []]);
  assert.deepEqual(description.security, [{ apiKey: [] }]);
  const { type, scheme } = description.components.securitySchemes.apiKey;
  assert.deepEqual([type, scheme], ['http', 'bearer']);
});

test('the answers of the mock to all keys and ids match it, and each documented status occurs', async () => {
  // A document is no schema: only parts of it are.
  const ajv = new Ajv2020({ strictSchema: false, allErrors: true });
  ajv.addSchema(description, 'interface');
  const ask = mockOf();
  const { apiKeys = [], users = [], deposits = [] } = fixture;
  const keys = [...apiKeys.map(({ key }) => key), 'a-key-of-nobody'];
  const inExamples = findExamples(fixture).map(({ id }) => id);
  const inFixture = [...users.map((one) => one.user_id), ...deposits.map((one) => one.reference_id)];
  for (const endpoint of names) {
    const met = new Set<string>();
    const pointer = `interface#/paths/${endpoints[endpoint].path.replaceAll('/', '~1')}/get/responses`;
    for (const key of keys)
      for (const id of new Set([...inFixture, ...inExamples])) {
        const { status, body } = await ask(endpoint, id, key);
        const fits = ajv.getSchema(`${pointer}/${status}/content/application~1json/schema`);
        assert.ok(fits?.(body), `${endpoint} ${id} ${key}: ${JSON.stringify([status, body, fits?.errors])}`);
        met.add(`${status}`);
      }
    assert.deepEqual([...met].toSorted(), Object.keys(operationOf(endpoint).responses));
  }
});

test('its examples are those of the mock, with its answers', async () => {
  for (const { shows, endpoint, id, key } of findExamples(fixture)) {
    // The document has one example of each message.
    if (key === null || shows.endsWith(', of a deposit')) continue;
    const { status, body } = await mockOf()(endpoint, id, key.key);
    const { parameters, responses } = operationOf(endpoint);
    const { examples = {} } = responses[status]!.content['application/json'];
    const name = shows.slice('200, '.length).replaceAll("'", '').replaceAll(/\W+/g, '-');
    assert.deepEqual(examples[name]?.value, body, shows);
    for (const part of [`=${id}\``, `Bearer ${key.key}\``])
      assert.ok(examples[name]?.description.includes(part), shows);
    const values = Object.values(parameters[0]!.examples).map(({ value }) => value);
    assert.equal(values.includes(id), status !== 400, shows);
    assert.ok(description.components.securitySchemes.apiKey.description.includes(`\`${key.key}\``), shows);
  }
});
