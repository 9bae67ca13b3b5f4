import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { createMock } from '../mock/index.ts';
import { findExamples } from '../mock/server/examples.ts';
import { endpoints, type Endpoint } from '../schemas/endpoints.ts';
import description from '../schemas/openapi.json' with { type: 'json' };
import { builtIn as fixture } from './dev/testing/fixtures.ts';

const names = Object.keys(endpoints) as Endpoint[];

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
    assert.deepEqual(
      [...met].toSorted(),
      Object.keys(description.paths[endpoints[endpoint].path].get.responses),
    );
  }
  const isMembership = ajv.getSchema('interface#/components/schemas/MembershipResult')!;
  for (const [is_under_ib, date_joined, isRight] of [
    [true, '2024-02-29T23:59:59.999Z', true],
    [false, null, true],
    [true, null, false],
    [false, '2024-02-29T23:59:59.999Z', false],
  ] as const) {
    assert.equal(isMembership({ is_under_ib, date_joined }), isRight);
  }
});
