import { presentedKey } from '../catalogue/facts-of-request.ts';
import type { Known, KnownKey } from '../catalogue/known.ts';
import { levelsOfId } from '../model/entities.ts';
import { plainLevels, type Levels } from '../model/factors.ts';
import { fingerprint, idOf, lookupOf, type Request } from '../request.ts';
import { isWhole, shareOf, type Base } from './base.ts';
import type { Prober } from './probe.ts';
import type { Validated } from './validate.ts';
import { probe } from './vary.ts';

/** The key of another partner with which a request was sent. */
export function otherKeyOf(request: Request, known: Known): KnownKey | undefined {
  const { found } = presentedKey(known, request);
  return found && known.otherKeys.find(({ key }) => key === found.key);
}

/** What is known, with this key as the only one of the other partner: "another partner's" is then what it sees. */
export const seenFrom = (key: KnownKey, known: Known): Known => ({
  ...known,
  otherKeys: [key, ...known.otherKeys.filter(({ partner }) => partner !== key.partner)],
});

/** The levels of a lookup by what is known: whose the entity is depends on whose key it is. */
export function levelsSeen(levels: Levels, request: Request, known: Known): Levels {
  const found = levelsOfId(request.endpoint, idOf(request), known);
  return found === undefined || levels.malformation !== 'none'
    ? levels
    : { ...levels, situation: found.situation };
}

/** The levels of a plain lookup that a scenario has sent with this key; undefined for another one. */
export function plainlyAsked(request: Request, key: KnownKey, known: Known): Levels | undefined {
  const { endpoint } = request;
  const plain = lookupOf(endpoint, idOf(request), { credential: { as: 'key', key } });
  const found = levelsOfId(endpoint, idOf(request), known) ?? { situation: 'unknown' };
  return fingerprint(plain) === fingerprint(request)
    ? { ...plainLevels(endpoint), ...found, key: "another partner's" }
    : undefined;
}

/** The condition that the key is one of another partner. */
const ANOTHER = "key: another partner's";

/** Adds whose key it was, if lookups with the key of a further partner, or with another one of the same, pass. */
export async function withOwner(prober: Prober, base: Base, validated: Validated): Promise<Validated> {
  const { otherKey } = prober;
  if (otherKey === undefined || !isWhole(base, base.levels)) return validated;
  const failing: KnownKey[] = [otherKey];
  const passing: { readonly key: KnownKey; readonly of: number }[] = [];
  for (const [key, known] of prober.seenFromOthers()) {
    const { outcome, trials } = await probe(prober, { ...base, known }, base.levels);
    if (outcome === 'fails') failing.push(key);
    if (outcome === 'passes') passing.push({ key, of: shareOf(trials).of });
  }
  if (passing.length === 0) return validated;
  const isOneOfSeveral = passing.some(({ key }) => key.partner === otherKey.partner);
  const names = failing.map(({ name, partner }) => (isOneOfSeveral ? name : `${partner}'s`));
  const words = `key: ${[...new Set(names)].join(' or ')}`;
  const tried = { condition: words, failed: 0, of: passing.reduce((sum, { of }) => sum + of, 0) };
  return {
    ...validated,
    where: [words, ...validated.where.filter((one) => one !== ANOTHER)],
    without: [tried, ...validated.without.filter(({ condition }) => condition !== ANOTHER)],
  };
}
