import { factors, plainLevels, situationOf, type Levels } from '../model/factors.ts';
import type { Request } from '../request.ts';
import { idOf } from './history.ts';
import type { Prober } from './probe.ts';
import {
  drawsWith,
  isAt,
  isSameEntity,
  shareWith,
  timesWords,
  wantedOf,
  type Regime,
  type Times,
  type Trial,
} from './regime.ts';
import { chanceOf, drawsFor, MAX_DRAWS, shareOf, SIGNIFICANT, type Share } from './statistics.ts';
import type { ValueCondition } from './values.ts';
import type { LevelCondition } from './vary.ts';

/** A part of the condition of a failure. */
export type Part =
  | ({ readonly kind: 'levels' } & LevelCondition)
  | { readonly kind: 'times'; readonly times: Times; readonly words: string }
  | ({ readonly kind: 'value' } & ValueCondition);

/** What new lookups showed about a condition. */
export interface Validated {
  readonly where: readonly Part[];
  readonly suspected: readonly Part[];
  readonly with?: Share;
  readonly without: readonly (Share & { readonly condition: string })[];
}

/** What the parts are about. */
export interface Subject {
  readonly prober: Prober;
  readonly levels: Levels;
  readonly regime: Regime;
}

export const timesPart = (times: Times): Part => ({ kind: 'times', times, words: timesWords(times) });

/**
 * Sends new lookups with the whole condition, and without each of its parts. A part without which one fails is no
 * condition: it is left out, and the others are tried again. What cannot be tried is only suspected.
 */
export async function validate(subject: Subject, parts: readonly Part[]): Promise<Validated> {
  if (parts.length === 0) return { where: [], suspected: [], without: [] };
  const { regime, prober } = subject;
  const withAll = await tryWith(subject, parts);
  const before = shareWith(regime, subject.levels);
  const isSame = withAll.failed > 0 && chanceOf(withAll, before) > SIGNIFICANT;
  if (!isSame) return { where: [], suspected: parts, without: [] };
  const where: Part[] = [];
  const suspected: Part[] = [];
  const without: Validated['without'][number][] = [];
  for (const part of parts) {
    const share = prober.isOver() ? undefined : await tryWithout(subject, parts, part);
    if (share !== undefined && share.failed > 0)
      return validate(
        subject,
        parts.filter((one) => one !== part),
      );
    if (share === undefined) suspected.push(part);
    else {
      where.push(part);
      without.push({ condition: part.words, ...share });
    }
  }
  return { where, suspected, with: withAll, without };
}

/** New lookups with each part, their levels in turn. */
async function tryWith({ prober, levels, regime }: Subject, parts: readonly Part[]): Promise<Share> {
  const rows = parts.flatMap((part) =>
    part.kind === 'levels' ? part.failing.map((level): Levels => ({ ...levels, [part.factor]: level })) : [],
  );
  const all = [levels, ...rows.filter(prober.isComparable)];
  return shareOf(await tryInTurn(prober, all, regime, false));
}

/** New lookups without a part; undefined if there are too few, or too few different ids. */
async function tryWithout(
  { prober, levels, regime }: Subject,
  parts: readonly Part[],
  part: Part,
): Promise<Share | undefined> {
  if (part.kind === 'times') return tryOtherTimes({ prober, levels, regime }, parts, part.times);
  const seen = part.kind === 'levels' ? seenWithout(prober, levels, parts, part) : [];
  if (seen.some(({ hasFailed }) => hasFailed)) return shareOf(seen);
  const trials = await (part.kind === 'levels'
    ? tryInTurn(prober, part.passing, regime, true)
    : tryInTurn(prober, [levels], { ...regime, fits: (one) => part.holds(one) === false }, true));
  const share = shareOf(trials);
  if (share.failed > 0) return share;
  const [some = levels] = part.kind === 'levels' ? part.passing : [];
  if (share.of < drawsWith(regime, some))
    return part.kind === 'value' ? { failed: 0, of: part.predicted } : undefined;
  if (part.kind !== 'levels' || part.passing.every((one) => isSameEntity(one, levels))) return share;
  if (regime.keepsExample === true || separatesIds({ prober, levels }, parts, part, trials)) return share;
  // Few entities failed. The other partner's are more.
  const having = asOtherPartner(prober, [levels]);
  if (having.length > 0) await tryInTurn(prober, having, regime, false);
  const rows = [...part.passing, ...asOtherPartner(prober, part.passing)];
  const tried = new Set(trials.map(({ request }) => idOf(request)));
  const fits = regime.fits ?? (() => true);
  const others = { ...regime, fits: (one: Request) => fits(one) && !tried.has(idOf(one)) };
  const all = [...trials, ...(await tryInTurn(prober, rows, others, true, MAX_DRAWS))];
  const shareOfAll = shareOf(all);
  return shareOfAll.failed > 0 || separatesIds({ prober, levels }, parts, part, all) ? shareOfAll : undefined;
}

/** The same lookups of the other partner's data with its own key. */
function asOtherPartner({ endpoint, isComparable }: Prober, rows: readonly Levels[]): readonly Levels[] {
  const { names } = factors[endpoint].find(({ name }) => name === 'situation')!;
  return rows.flatMap((levels) => {
    const { owner, state } = situationOf(endpoint, levels.situation);
    if (owner !== 'own' || levels.key !== plainLevels(endpoint).key) return [];
    const key = "another partner's";
    const situation = names.find((name) => {
      const one = situationOf(endpoint, name);
      return one.owner === key && one.state === state;
    })!;
    const other: Levels = { ...levels, key, situation };
    return isComparable(other) ? [other] : [];
  });
}

/** Whether lookups with and without a condition differ in more ids than by chance. */
function separatesIds(
  { prober, levels: base }: Pick<Subject, 'prober' | 'levels'>,
  parts: readonly Part[],
  part: Part & { readonly kind: 'levels' },
  trials: readonly Trial[],
): boolean {
  const failing = new Map<string, boolean>();
  for (const { request, levels, nth, hasFailed } of prober.observations()) {
    if (!parts.every((one) => holds(one, { request, levels, nth }))) continue;
    failing.set(idOf(request), failing.get(idOf(request)) === true || hasFailed);
  }
  const having = { failed: [...failing.values()].filter(Boolean).length, of: failing.size };
  const seen = seenWithout(prober, base, parts, part);
  const others = new Set([...trials, ...seen].map(({ request }) => idOf(request)));
  const chance = chanceOf(having, { failed: 0, of: others.size });
  // If some ids pass anyway, others may pass by chance.
  if (having.failed < having.of) return chance < SIGNIFICANT / 5;
  return chance <= SIGNIFICANT;
}

/** Lookups that were sent before, with all parts but one. */
const seenWithout = (
  prober: Prober,
  { key }: Levels,
  parts: readonly Part[],
  part: Part & { readonly kind: 'levels' },
) =>
  prober
    .observations()
    .filter(
      (one) =>
        (one.levels.key === key || part.factor === 'key') &&
        part.passing.some((levels) => levels[part.factor] === one.levels[part.factor]) &&
        parts.every((other) => other === part || holds(other, one)),
    );

type Seen = Pick<ReturnType<Prober['observations']>[number], 'request' | 'levels' | 'nth'>;

/** Whether a lookup has a part of a condition. */
export const holds = (part: Part, seen: Seen): boolean =>
  part.kind === 'levels'
    ? part.failing.includes(seen.levels[part.factor])
    : part.kind === 'times'
      ? isAt(part.times, seen)
      : part.holds(seen.request) === true;

/** Lookups at other times of asking: those of the run, and new ones. */
async function tryOtherTimes(
  { prober, levels, regime }: Subject,
  parts: readonly Part[],
  times: Times,
): Promise<Share | undefined> {
  const enough = drawsFor(regime.ofSame);
  const seen = () => {
    const known = prober
      .observations()
      .filter((one) => one.nth[times.what] !== undefined)
      .filter((one) => one.levels.key === levels.key)
      .filter((one) => parts.every((part) => part.kind === 'times' || holds(part, one)));
    // Values that never fail show nothing.
    const failing = new Set(known.flatMap((one) => (one.hasFailed ? [idOf(one.request)] : [])));
    const shown = known.filter(({ request }) => failing.has(idOf(request)));
    return {
      inside: shareOf(shown.filter((one) => isAt(times, one))),
      outside: shareOf(shown.filter((one) => !isAt(times, one))),
    };
  };
  for (const key of [levels['active key'], 'second']) {
    const some: Levels = { ...levels, 'active key': key };
    for (const request of prober.draw(some, { ...regime, isFresh: true })) {
      const { outside } = seen();
      if (outside.of >= enough || outside.failed > 0 || prober.isOver()) break;
      await prober.ask(request, some, times.nth);
      if (times.isOnly) await prober.ask(request, some);
    }
  }
  const { inside, outside } = seen();
  const isClear = outside.of >= enough || (outside.of > 1 && chanceOf(inside, outside) < SIGNIFICANT / 2);
  return outside.failed > 0 || isClear ? outside : undefined;
}

/** Sends new lookups, with some levels in turn. */
async function tryInTurn(
  prober: Prober,
  rows: readonly Levels[],
  regime: Regime,
  isUntilFailure: boolean,
  most?: number,
): Promise<readonly Trial[]> {
  const isEachOnce = most !== undefined;
  const enough = most ?? drawsWith(regime, rows[0]!);
  const draws = rows.map((levels) => prober.draw(levels, wantedOf(regime, levels)));
  const trials: Trial[] = [];
  for (let nth = 0; nth < 2 * enough * rows.length && trials.length < enough; nth++) {
    const requests = draws[nth % rows.length]!;
    if (requests.length === 0) continue;
    const turn = Math.floor(nth / rows.length);
    // The same id again shows nothing new.
    if (isEachOnce && turn >= requests.length) continue;
    const request = requests[turn % requests.length]!;
    const { outcome } = await prober.ask(request, rows[nth % rows.length]!, regime.sendings);
    if (outcome !== 'unknown') trials.push({ request, hasFailed: outcome === 'fails' });
    if (prober.isOver() || (isUntilFailure && outcome === 'fails')) break;
  }
  return trials;
}
