import { factors, plainLevels, type FactorName, type Levels } from '../model/factors.ts';
import type { Request } from '../request.ts';
import { idOf, LATER } from './history.ts';
import type { Prober } from './probe.ts';
import {
  drawsWith,
  idsOf,
  isSameEntity,
  sharesAt,
  shareWith,
  tryInTurn,
  type Regime,
  type Times,
  type Trial,
} from './regime.ts';
import { chanceOf, drawsFor, MAX_DRAWS, shareOf, SIGNIFICANT, type Share } from './statistics.ts';
import { alike, holds, type LevelCondition, type Part, type TimesCondition } from './parts.ts';
import { comparable } from './vary.ts';

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
  // New lookups have shown what it predicts.
  if (part.kind === 'value') return { failed: 0, of: part.predicted };
  const seen = seenWithout(prober, levels, parts, part);
  if (seen.some(({ hasFailed }) => hasFailed)) return shareOf(seen);
  const isSure = regime.keepsExample === true || part.passing.every((one) => isSameEntity(one, levels));
  const isClear = (some: readonly Trial[]) => isSure || separatesIds({ prober, levels }, parts, part, some);
  const isDone = (some: readonly Trial[]) => some.some(({ hasFailed }) => hasFailed);
  let trials = await tryInTurn(prober, part.passing, regime, { isDone });
  if (!isDone(trials) && trials.length < drawsWith(regime, part.passing[0]!)) return undefined;
  if (!isDone(trials) && !isClear(trials)) {
    // Few entities failed. The other partner's are more.
    const isKey = part.factor === 'key';
    const having = isKey ? [] : asOtherPartner(prober, [levels]);
    const others = isKey ? [] : asOtherPartner(prober, part.passing);
    if (having.length > 0) await tryInTurn(prober, having, regime);
    const until = { enough: MAX_DRAWS, isDone };
    trials = [...trials, ...(await tryInTurn(prober, [...part.passing, ...others], regime, until))];
  }
  return isDone(trials) || isClear(trials) ? shareOf(trials) : undefined;
}

/** The same lookups of the other partner's data with its own key. */
const asOtherPartner = (prober: Prober, rows: readonly Levels[]): readonly Levels[] =>
  rows.flatMap((row) => {
    if (row.key !== plainLevels(prober.endpoint).key) return [];
    const { names } = factors[prober.endpoint].find(({ name }) => name === 'situation')!;
    const other = comparable(prober, { ...row, key: "another partner's" }, row, names);
    return other?.data === row.data ? [other] : [];
  });

/** Whether lookups with and without a condition differ in more ids than by chance. */
function separatesIds(
  { prober, levels }: Pick<Subject, 'prober' | 'levels'>,
  parts: readonly Part[],
  part: LevelCondition,
  trials: readonly Trial[],
): boolean {
  const having = prober.observations().filter((one) => parts.every((each) => holds(each, one)));
  const ids = idsOf(having);
  const failed = idsOf(having.filter((one) => one.hasFailed)).size;
  const others = idsOf([...trials, ...seenWithout(prober, levels, parts, part)]);
  const chance = chanceOf({ failed, of: ids.size }, { failed: 0, of: others.size });
  // If some ids pass anyway, others may pass by chance.
  return failed < ids.size ? chance < SIGNIFICANT / 5 : chance <= SIGNIFICANT;
}

/** Lookups that were sent before, with all parts but one. A gate that is no part may explain another answer. */
function seenWithout(prober: Prober, levels: Levels, parts: readonly Part[], part: LevelCondition) {
  const { factor, passing } = part;
  const others = parts.filter((one) => one !== part);
  const isFree = (name: FactorName) =>
    name === factor || (name !== 'key' && others.some((one) => one.kind === 'levels' && one.factor === name));
  const gates = factors[prober.endpoint].flatMap(({ name, isGate }) =>
    isGate && !isFree(name) ? [name] : [],
  );
  return alike(prober, levels, others, gates).filter((one) =>
    passing.some(({ [factor]: level }) => level === one.levels[factor]),
  );
}

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
  await askFresh(prober, levels, { ...regime, maxAsked: 0, sendings: times.nth }, { times, isDone });
  const { inside, outside } = shares();
  const isClear = outside.of >= enough || (outside.of > 1 && chanceOf(inside, outside) < SIGNIFICANT / 2);
  return outside.failed > 0 || isClear ? outside : undefined;
}

/** Asks for new ids in another way before: what fails then shows whether the id, the URL or the request counts. */
export async function askOtherwise(
  prober: Prober,
  levels: Levels,
  regime: Regime,
  { nth }: Times,
): Promise<void> {
  const ways: readonly (readonly [Partial<Levels>, (request: Request) => Request])[] = [
    [{ query: 'extra parameter after' }, (one) => ({ ...one, target: `${one.target}&_=2` })],
    [{ fields: 'Accept: */*' }, (one) => ({ ...one, headers: { ...one.headers, accept: '*/*' } })],
  ];
  for (const [some, change] of ways) {
    let shown = 0;
    for (const request of prober.draw(levels, { ...regime, maxAsked: 0 }).slice(0, MAX_OTHERWISE)) {
      if (idOf(request) === '' || shown === OTHERWISE) break;
      for (let left = Math.max(1, nth - 1); left > 0; left--)
        await prober.ask(change(request), { ...levels, ...some });
      if ((await prober.ask(request, levels, nth)).outcome === 'fails') shown++;
    }
  }
}

/** Ids that fail in the end, for each other way to ask for them; of so many. */
const [OTHERWISE, MAX_OTHERWISE] = [3, 8];

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
