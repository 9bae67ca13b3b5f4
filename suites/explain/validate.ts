import { factors, plainLevels, situationOf, type Levels } from '../model/factors.ts';
import type { Request } from '../request.ts';
import { idOf } from './history.ts';
import type { Observation, Prober } from './probe.ts';
import {
  drawsWith,
  isAt,
  isSameEntity,
  LATER,
  sharesAt,
  shareWith,
  timesWords,
  tryInTurn,
  type Regime,
  type Times,
  type Trial,
} from './regime.ts';
import { chanceOf, drawsFor, MAX_DRAWS, shareOf, SIGNIFICANT, type Share } from './statistics.ts';
import type { ValueCondition } from './values.ts';
import type { LevelCondition } from './vary.ts';

interface TimesCondition {
  readonly kind: 'times';
  readonly times: Times;
  readonly words: string;
}

/** A part of the condition of a failure. */
export type Part = LevelCondition | TimesCondition | ValueCondition;

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
  return shareOf(await tryInTurn(prober, [levels, ...rows.filter(prober.isComparable)], regime));
}

/** New lookups without a part; undefined if there are too few, or too few different ids. */
async function tryWithout(
  { prober, levels, regime }: Subject,
  parts: readonly Part[],
  part: Part,
): Promise<Share | undefined> {
  if (part.kind === 'times') return tryOtherTimes({ prober, levels, regime }, parts, part);
  const seen = part.kind === 'levels' ? seenWithout(prober, levels, parts, part) : [];
  if (seen.some(({ hasFailed }) => hasFailed)) return shareOf(seen);
  const isDone = (some: readonly Trial[]) => some.some(({ hasFailed }) => hasFailed);
  const rows = part.kind === 'levels' ? part.passing : [levels];
  const outside =
    part.kind === 'levels' ? regime : { ...regime, fits: (one: Request) => part.holds(one) === false };
  const trials = await tryInTurn(prober, rows, outside, { isDone });
  const share = shareOf(trials);
  if (share.failed > 0) return share;
  if (share.of < drawsWith(regime, rows[0]!))
    return part.kind === 'value' ? { failed: 0, of: part.predicted } : undefined;
  if (part.kind === 'value' || rows.every((one) => isSameEntity(one, levels))) return share;
  if (regime.keepsExample === true || separatesIds({ prober, levels }, parts, part, trials)) return share;
  // Few entities failed. The other partner's are more.
  const having = asOtherPartner(prober, [levels]);
  if (having.length > 0) await tryInTurn(prober, having, regime);
  const tried = new Set(trials.map(({ request }) => idOf(request)));
  const fits = regime.fits ?? (() => true);
  const others = { ...regime, fits: (one: Request) => fits(one) && !tried.has(idOf(one)) };
  const until = { enough: MAX_DRAWS, isEachOnce: true, isDone };
  const more = await tryInTurn(prober, [...rows, ...asOtherPartner(prober, rows)], others, until);
  const all = [...trials, ...more];
  return isDone(all) || separatesIds({ prober, levels }, parts, part, all) ? shareOf(all) : undefined;
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
  part: LevelCondition,
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
const seenWithout = (prober: Prober, { key }: Levels, parts: readonly Part[], part: LevelCondition) =>
  prober
    .observations()
    .filter(
      (one) =>
        (one.levels.key === key || part.factor === 'key') &&
        part.passing.some((levels) => levels[part.factor] === one.levels[part.factor]) &&
        parts.every((other) => other === part || holds(other, one)),
    );

type Seen = Pick<Observation, 'request' | 'levels' | 'nth'>;

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
  part: TimesCondition,
): Promise<Share | undefined> {
  const { times } = part;
  const enough = drawsFor(regime.ofSame);
  const others = parts.filter((one) => one !== part);
  const shares = () => sharesAt(times, alike(prober, levels, others));
  const isDone = () => shares().outside.of >= enough || shares().outside.failed > 0;
  await askFresh(prober, levels, { ...regime, isFresh: true, sendings: times.nth }, { times, isDone });
  const { inside, outside } = shares();
  const isClear = outside.of >= enough || (outside.of > 1 && chanceOf(inside, outside) < SIGNIFICANT / 2);
  return outside.failed > 0 || isClear ? outside : undefined;
}

/** Lookups with the same key that have these parts. */
export const alike = (prober: Prober, { key }: Levels, parts: readonly Part[]): readonly Observation[] =>
  prober.observations().filter((one) => one.levels.key === key && parts.every((part) => holds(part, one)));

/** Asks for ids that were hardly asked for with this key, and with the second one, until they fail. */
export async function askFresh(
  prober: Prober,
  levels: Levels,
  regime: Regime,
  { times, isDone = () => false }: { readonly times?: Times; readonly isDone?: () => boolean } = {},
): Promise<void> {
  for (const key of [levels['active key'], 'second']) {
    const some: Levels = { ...levels, 'active key': key };
    const requests = prober.draw(some, regime);
    for (const request of times === undefined ? requests.slice(0, LATER) : requests) {
      if (isDone() || prober.isOver()) break;
      await prober.ask(request, some, regime.sendings);
      if (times?.isOnly === true) await prober.ask(request, some);
    }
  }
}
