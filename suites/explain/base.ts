import { defined } from '../../schemas/values.ts';
import type { Share, Levels } from '../rules/requirement.ts';
import { idOf, type Request } from '../request.ts';
import type { Prober, Probe, Wanted } from './probe.ts';

/** Lookups that fail like the first failure: how to draw them, and how many of them fail. */
export interface Base extends Wanted {
  readonly levels: Levels;
  /** New lookups with these levels. */
  readonly probes: readonly Probe[];
  /** The share of them that fails; of equal lookups, if one fails now and then. */
  readonly share: Share;
  /** Whether the same lookup fails now and then. */
  readonly isRandom: boolean;
  /** The ids that failed, if not all do. */
  readonly only?: ReadonlySet<string>;
}

/** How many of these lookups failed. */
export const shareOf = (probes: readonly Probe[]): Share => ({
  failed: probes.filter(({ hasFailed }) => hasFailed).length,
  of: probes.length,
});

/** The different ids of lookups. */
export const idsOf = (probes: readonly { readonly request: Request }[]): ReadonlySet<string> =>
  new Set(probes.map(({ request }) => idOf(request)));

/** Which entity a lookup finds depends on these factors. */
const ofEntity = ['situation', 'data', 'id version'] as const;

export const isSameEntity = (one: Levels, other: Levels): boolean =>
  ofEntity.every((name) => one[name] === other[name]);

/** New lookups that show how many fail: if all do, if some do, if none does, and if it failed only once. */
const [LEAST, ENOUGH, MOST, ONCE] = [10, 24, 40, 3];

/** Whether so few fail that even `MOST` lookups that pass show nothing. */
const isRare = ({ failed, of }: Share): boolean => failed < 0.1 * of;

/**
 * Sends new lookups with these levels. If few fail, it keeps what may matter: the example of a malformed value, or the
 * entities.
 */
export async function baseOf(
  prober: Prober,
  levels: Levels,
  { isRandom, isFresh }: Pick<Base, 'isRandom' | 'isFresh'>,
  repeats: Share,
): Promise<Base> {
  const wanted = defined({ isRandom, isFresh });
  const measured = async (more: Wanted = {}): Promise<Base> => {
    const probes = await tryNew(prober, levels, { ...wanted, ...more });
    return { ...wanted, ...more, levels, probes, share: isRandom ? repeats : shareOf(probes) };
  };
  const base = await measured();
  const { failed, of } = shareOf(base.probes);
  if (isRandom || (of > 0 && failed === of)) return base;
  if (prober.hasExample && isRare(base.share)) {
    const kept = await measured({ keepsExample: true });
    if (kept.share.of > 0 && kept.share.failed === kept.share.of) return kept;
  }
  if (prober.factsOf(levels).entity === 'unknown') return base;
  const { start, failure } = prober;
  const failing = base.probes.filter(({ hasFailed }) => hasFailed);
  const isSame = isSameEntity(levels, start!);
  return { ...base, only: idsOf(isSame ? [...failing, failure.exchange] : failing) };
}

async function tryNew(prober: Prober, levels: Levels, how: Wanted & Pick<Base, 'isRandom'>) {
  const probes: Probe[] = [];
  const tried = new Set<string>();
  for (const request of prober.draw(levels, how)) {
    const { failed, of } = shareOf(probes);
    const most = failed === 0 ? (how.isFresh === true ? ONCE : MOST) : failed === of ? LEAST : ENOUGH;
    if (prober.isOver() || of >= most) break;
    // Once more, the same value would show nothing new.
    const value = idOf(request) || request.target;
    if (!how.isRandom && how.keepsExample !== true && tried.has(value)) break;
    tried.add(value);
    const { outcome } = await prober.ask(request, levels);
    if (outcome !== 'unknown') probes.push({ request, hasFailed: outcome === 'fails' });
  }
  return probes;
}

/** Whether so few fail that nothing can be said about conditions. */
export const isTooRare = ({ share, only }: Base): boolean =>
  share.failed === 0 || (only === undefined && isRare(share));

const keepsEntities = ({ only, levels }: Base, others: Levels) =>
  only !== undefined && isSameEntity(levels, others);

/** Whether all lookups with these levels fail if the levels do not matter. */
export const isWhole = (base: Base, levels: Levels): boolean =>
  !base.isRandom && (keepsEntities(base, levels) || base.share.failed === base.share.of);

/** The probability that lookups pass by chance, and how many are sent at least. */
const [CHANCE, MIN_DRAWS] = [0.01, 6];

/** How many lookups must pass to show that none fails, if this share of them failed before. */
export const drawsFor = ({ failed, of }: Share): number =>
  Math.min(MOST, Math.max(MIN_DRAWS, Math.ceil(Math.log(CHANCE) / Math.log(1 - failed / of))));

/** How many lookups must pass to show that the levels matter. */
export const drawsWith = (base: Base, levels: Levels): number =>
  isWhole(base, levels) ? MIN_DRAWS : drawsFor(base.share);

/** Sends new lookups, with some levels in turn, until enough of them show something. */
export async function tryInTurn(
  prober: Prober,
  base: Base,
  rows: readonly Levels[],
  isDone: (probes: readonly Probe[]) => boolean = () => false,
): Promise<readonly Probe[]> {
  const enough = drawsWith(base, rows[0]!);
  const draws = rows.map((levels) => {
    const fits = keepsEntities(base, levels) ? (one: Request) => base.only!.has(idOf(one)) : undefined;
    const isFresh = base.isFresh === true || base.levels.repetition !== levels.repetition;
    return prober.draw(levels, { ...base, isFresh, ...(fits && { fits }) });
  });
  const probes: Probe[] = [];
  for (let nth = 0; nth < 2 * enough * rows.length && probes.length < enough; nth++) {
    const requests = draws[nth % rows.length]!;
    const place = Math.floor(nth / rows.length);
    // What must be fresh cannot be sent again.
    const isUsedUp =
      place >= requests.length && base.levels.repetition !== rows[nth % rows.length]!.repetition;
    if (requests.length === 0 || isUsedUp) continue;
    const request = requests[place % requests.length]!;
    const { outcome } = await prober.ask(request, rows[nth % rows.length]!);
    if (outcome !== 'unknown') probes.push({ request, hasFailed: outcome === 'fails' });
    if (prober.isOver() || isDone(probes)) break;
  }
  return probes;
}
