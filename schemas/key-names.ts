import type { Fixture } from './generated/types.ts';

/**
 * The names that outputs show in the place of keys, in their order: `<key northwind/active>`. Two keys
 * of one partner and state are told apart by a number.
 */
export function keyNames(apiKeys: NonNullable<Fixture['apiKeys']>): readonly string[] {
  const seen = new Map<string, number>();
  return apiKeys.map(({ partner, state }) => {
    const described = `${partner ?? 'non-partner'}/${state}`;
    const nth = (seen.get(described) ?? 0) + 1;
    seen.set(described, nth);
    return `<key ${described}${nth > 1 ? `/${nth}` : ''}>`;
  });
}
