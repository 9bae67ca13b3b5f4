import { createHash } from 'node:crypto';
import type { Fixture } from '../../schemas/generated/types.ts';
import { keyNames } from '../../schemas/fixture-keys.ts';

/** A function that puts the placeholder of each key in the place of its name. */
export function unnamer({ apiKeys = [] }: Fixture): (text: string) => string {
  const names = new Map(keyNames(apiKeys).map((name) => [name, placeholder(name)]));
  if (names.size === 0) return (text) => text;
  const literal = (name: string) => name.replace(/[^\w ]/g, String.raw`\$&`);
  const pattern = new RegExp([...names.keys()].map(literal).join('|'), 'g');
  return (text) => text.replace(pattern, (name) => names.get(name)!);
}

/** The fixture with something made of its name in the place of each key. */
export function withKeys({ apiKeys, ...fixture }: Fixture, keyOf: (name: string) => string): Fixture {
  if (apiKeys === undefined) return fixture;
  const names = keyNames(apiKeys);
  return { ...fixture, apiKeys: apiKeys.map((apiKey, at) => ({ ...apiKey, key: keyOf(names[at]!) })) };
}

/** A key of our own: it needs no escape in a URL, JSON or a shell. */
export const placeholder = (name: string) => createHash('sha256').update(name).digest('hex').slice(0, 32);
