import { defined } from '../../schemas/values.ts';
import { factors, plainLevels } from '../plan/factors.ts';
import { isFeasible } from '../plan/lookup-levels.ts';
import { idOf } from '../request.ts';
import type { LookupRow, Share, Levels } from '../rules/requirement.ts';
import type { Exchange } from '../rules/scenario-context.ts';
import type { Counterexample, Failure, Judgement } from '../judging/tally.ts';
import { baseOf, isSameEntity, isTooRare, type Base } from './base.ts';
import { createProber, type ExplainContext, type Prober } from './probe.ts';
import { reduceFields, shrink, simplify, withField } from './smallest.ts';
import { valuesOf } from './values.ts';
import { maskedBy, minimise, validate, vary, type Validated, type Varied } from './conditions.ts';

/**
 * Confirms a failure, finds its conditions, and shrinks its value.
 *
 * @returns what to add to the judgement of the requirement
 */
export async function explain(
  row: LookupRow,
  failure: Failure,
  context: ExplainContext,
): Promise<Partial<Judgement>> {
  const prober = createProber(row, failure, context);
  const { start } = prober;
  const repeats = await repeat(prober);
  const isSteady = repeats.failed === repeats.of;
  const often = { ...(repeats.of > 1 && { repeats }), ...(!isSteady && { intermittent: repeats }) };
  if (prober.isOver()) return often;
  if (start === undefined) return { ...often, ...(await explainForm(prober, repeats)) };
  const base = await firstBase(prober, start, repeats);
  const isSeen = base.share.failed > 0 && base.probes.length > 0;
  if (isSeen && !isTooRare(base)) return { ...often, ...(await explainLevels(prober, base, repeats)) };
  const found = isSeen ? recorded(prober, base, onlyIts(base)) : {};
  return { ...often, ...found, ...(isSteady && (await smallestOf(prober, base, found.where))) };
}

/** Finds the conditions of a failure that new lookups show too, and shrinks its value. */
async function explainLevels(prober: Prober, first: Base, repeats: Share): Promise<Partial<Judgement>> {
  let base = first;
  const levels = await minimise(prober, base);
  const isSame = isSameEntity(levels, base.levels) && levels.malformation === base.levels.malformation;
  const moved = isSame ? { ...base, levels } : await baseOf(prober, levels, base, repeats);
  // Of plainer levels, one that failed by chance shows nothing.
  if (moved.share.failed > 0) base = moved;
  const varied = isTooRare(base) ? onlyIts(base) : await vary(prober, base);
  const validated = await validate(prober, base, varied.conditions);
  const found = recorded(prober, base, varied, validated);
  const shrunk = await shrink(prober, base, plainOf(prober, base.levels));
  return { ...found, ...(await smallestOf(prober, base, found.where, shrunk)) };
}

/** The plainest lookup that fails, with what is wrong with its answer, and the conditions with the field that matters. */
async function smallestOf(
  prober: Prober,
  { levels, isRandom }: Base,
  where: readonly string[] = [],
  shrunk?: Counterexample,
): Promise<Partial<Judgement>> {
  const { isReplayable, isRepetition, failure } = prober;
  // What fails now and then would get plainer by chance.
  if (isRandom) return { ...shrunk, ...(shrunk && !isReplayable && { lookup: undefined }) };
  // With other keys, the same levels draw other requests.
  if (shrunk === undefined && !isReplayable) return {};
  const { verdict, exchange: evidence, lookup } = failure;
  const conditions = where.map((one) => one.split(':')[0]!);
  const first = shrunk ?? { verdict, evidence, lookup };
  const repeated = await simplify(prober, first, [...conditions, 'repetition']);
  const isByTimes =
    levels.repetition !== 'once' && hasPassed(prober, repeated.lookup?.levels ?? levels, repeated.evidence);
  const plain = isByTimes ? repeated : await simplify(prober, repeated, conditions);
  const { smallest, fields } = await reduceFields(prober, plain, levels);
  const named = fields === undefined ? where : withField(where, fields, levels);
  // What a lookup shows that is sent three times is a failure of the row about repetition.
  const isReplayed = isReplayable && (isRepetition || !isByTimes);
  return { ...smallest, ...(!isReplayed && { lookup: undefined }), where: named };
}

/** Whether a lookup of the same id has passed that has these levels, where they are not plain, however often it was sent. */
const hasPassed = (prober: Prober, levels: Levels, { request }: Exchange): boolean =>
  prober
    .observations()
    .some(
      (one) =>
        !one.hasFailed &&
        idOf(one.request) === idOf(request) &&
        factors[prober.endpoint].every(
          ({ name, names: [plain] }) =>
            name === 'repetition' || levels[name] === plain || one.levels[name] === levels[name],
        ),
    );

/** What another form of a request shows, to which no levels belong. */
async function explainForm(prober: Prober, { failed, of }: Share): Promise<Partial<Judgement>> {
  if (failed < of) return {};
  const { verdict, exchange: evidence, lookup } = prober.failure;
  const plain = await simplify(prober, { verdict, evidence, lookup }, ['repetition']);
  const { smallest, fields } = await reduceFields(prober, plain, plainLevels(prober.endpoint));
  return { ...smallest, ...(fields !== undefined && { where: [fields] }) };
}

/** If other levels would show nothing. */
const onlyIts = ({ probes }: Base): Varied => ({ conditions: [], probes, isMixed: false });

const REPEATS = 10;

/** Sends the same request again. Says how often it failed, the first time included. */
async function repeat({ failure, start, endpoint, ask }: Prober): Promise<Share> {
  const levels: Levels = { ...(start ?? plainLevels(endpoint)), repetition: 'once' };
  let [failed, of] = [1, 1];
  for (let left = REPEATS; left > 0; left--) {
    const { outcome } = await ask(failure.exchange.request, levels);
    if (outcome !== 'unknown') of++;
    if (outcome === 'fails') failed++;
  }
  return { failed, of };
}

/** New lookups like the first failure, repeated ones if no id fails the first time. */
async function firstBase(prober: Prober, origin: Levels, repeats: Share): Promise<Base> {
  const isOnce = repeats.failed === 1;
  const how = { isRandom: !isOnce && repeats.failed < repeats.of, ...(isOnce && { isFresh: true }) };
  const found = async (repetition: string) => {
    const levels = { ...origin, repetition };
    const first = startOf(prober, levels);
    const base = await baseOf(prober, first, how, repeats);
    return base.share.failed > 0 || first === levels ? base : baseOf(prober, levels, how, repeats);
  };
  const base = await found('once');
  const failsAtOnce =
    isOnce || how.isRandom || prober.observations().some((one) => one.hasFailed && one.asked === 1);
  return failsAtOnce ? base : found('three times');
}

/** The levels with unknown ids, if the entity cannot matter: there are always more of them. */
function startOf(prober: Prober, levels: Levels): Levels {
  const isMasked = maskedBy(prober, levels).includes('situation');
  return isMasked ? { ...levels, situation: 'unknown', data: plainLevels(prober.endpoint).data } : levels;
}

/** The levels with plain ones where they cannot matter, if the fixture has such an entity. */
function plainOf(prober: Prober, levels: Levels): Levels {
  const { endpoint, known } = prober;
  const plain = plainLevels(endpoint);
  const masked = maskedBy(prober, levels);
  const moved = { ...levels, ...Object.fromEntries(masked.map((name) => [name, plain[name]])) };
  return isFeasible(endpoint, moved, known) ? moved : levels;
}

/** What to add to the judgement. */
function recorded(
  { known, failure }: Prober,
  base: Base,
  varied: Varied,
  { where, with: having, without }: Validated = { where: [], without: [] },
): Partial<Judgement> {
  const { words, ids } = valuesOf(base, varied, known, failure.exchange.request);
  const shares = having === undefined ? {} : { with: having, without };
  return {
    where: [...where, ...(words === undefined ? [] : [words])],
    ...((ids !== undefined || having !== undefined) && { separation: defined({ ...shares, ids }) }),
  };
}
