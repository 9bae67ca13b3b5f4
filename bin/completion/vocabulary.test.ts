import assert from 'node:assert/strict';
import { test } from 'node:test';
import { faults } from '../../mock/faults.ts';
import { variants } from '../../mock/variants.ts';
import { catalogue, suites } from '../../suites/index.ts';
import { wordsOf } from './vocabulary.ts';

const namesOf = async (name: Parameters<typeof wordsOf>[0]) => (await wordsOf(name)).map(({ word }) => word);

test('the words are those of the registries, in their order', async () => {
  assert.deepEqual(await namesOf('suites'), Object.keys(suites));
  assert.deepEqual(
    await namesOf('requirements'),
    catalogue.map(({ id }) => id),
  );
  assert.deepEqual(await namesOf('faults'), [...Object.keys(faults), 'list']);
  assert.deepEqual(await namesOf('variants'), [...Object.keys(variants), 'list']);
});

test('each says what it means, in one line', async () => {
  for (const name of ['suites', 'requirements', 'faults', 'variants'] as const)
    for (const { word, what } of await wordsOf(name)) assert.match(what, /^[^\t\n]+$/, word);
  const [valid] = await wordsOf('suites');
  assert.equal(valid!.what, `${suites.valid.length} requirements`);
});
