import { createHash } from 'node:crypto';
import type { Fixture } from '../../schemas/generated/types.ts';
import { keyNames } from '../../schemas/fixture-keys.ts';

/** The fixture with the name of each key in the place of the key. */
export function withoutKeys(fixture: Fixture): Fixture {
  return replaceKeys(fixture, (name) => name);
}

/** The fixture with a key of our own in the place of each: it needs no escape in a URL, JSON or a shell. */
export function withPlaceholders(fixture: Fixture): Fixture {
  return replaceKeys(fixture, placeholder);
}

/** A function that puts the placeholder of each key in the place of its name. */
export function unnamer({ apiKeys = [] }: Fixture): (text: string) => string {
  const names = new Map(keyNames(apiKeys).map((name) => [name, placeholder(name)]));
  if (names.size === 0) return (text) => text;
  const literal = (name: string) => name.replace(/[^\w ]/g, String.raw`\$&`);
  const pattern = new RegExp([...names.keys()].map(literal).join('|'), 'g');
  return (text) => text.replace(pattern, (name) => names.get(name)!);
}

function replaceKeys(fixture: Fixture, replacement: (name: string) => string): Fixture {
  const { apiKeys } = fixture;
  if (apiKeys === undefined) return fixture;
  const names = keyNames(apiKeys);
  return {
    ...fixture,
    apiKeys: apiKeys.map((apiKey, at) => ({ ...apiKey, key: replacement(names[at]!) })),
  };
}

const placeholder = (name: string) => createHash('sha256').update(name).digest('hex').slice(0, 32);
