import assert from 'node:assert/strict';
import { test } from 'node:test';
import description from '../../schemas/openapi.json' with { type: 'json' };
import { testAdmin } from './run-admin.ts';

test('the description of the interface is the file, with this server in it', async () => {
  const served = await testAdmin().done('GET', '/interface.json');
  assert.deepEqual(served, { ...description, servers: [{ url: '/' }] });
  const below = await testAdmin({ basePath: '/gateway/' }).done('GET', '/interface.json');
  assert.deepEqual(below['servers'], [{ url: '/gateway' }]);
});

test('where the service has another port, which host it has is not known: the file as it is', async () => {
  const { session, done } = testAdmin();
  session.servicePort = 4010;
  assert.deepEqual(await done('GET', '/interface.json'), description);
});
