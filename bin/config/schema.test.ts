import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { mock } from '../commands/mock.ts';
import { verify } from '../commands/verify.ts';
import { commands } from '../commands/index.ts';
import { configSchema } from './schema.ts';
import { sectionsOf } from './sections.ts';

const { properties } = configSchema(sectionsOf(commands)) as {
  readonly properties: Readonly<
    Record<string, { readonly properties?: Readonly<Record<string, { readonly default?: unknown }>> }>
  >;
};
const namesIn = (section: string) => Object.keys(properties[section]!.properties!);

test('the schema in schemas/ is that of the commands', () => {
  const file = new URL('../../schemas/config.schema.json', import.meta.url);
  assert.deepEqual(JSON.parse(readFileSync(file, 'utf8')), configSchema(sectionsOf(commands)));
});

test('it has every flag of verify and mock, the URL too, but those of one run and secrets', () => {
  assert.deepEqual(Object.keys(properties), ['$schema', 'verify', 'mock']);
  const missing = (section: string, flags: object) =>
    Object.keys(flags).filter((name) => !namesIn(section).includes(name));
  assert.deepEqual(missing('verify', { ...verify.positionals, ...verify.flags }), [
    'plan',
    'update-baseline',
    'replay',
    'config',
  ]);
  assert.deepEqual(missing('mock', mock.flags), ['admin-token', 'config']);
});

test('it shows defaults as the values that they would be in a file', () => {
  const { cases, strict } = properties['verify']!.properties!;
  assert.deepEqual([cases!.default, strict!.default], [100, false]);
});
