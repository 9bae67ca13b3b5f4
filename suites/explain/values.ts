import { defined } from '../../schemas/values.ts';
import * as fc from 'fast-check';
import type { Known } from '../known.ts';
import { headerLevels, keyLevels } from '../plan/credential-levels.ts';
import { fieldsLevels } from '../plan/levels.ts';
import { idOf, writtenName, type Request } from '../request.ts';
import { shareOf, drawsWith, type Base } from './base.ts';
import type { Trial, Prober } from './probe.ts';
import type { Varied } from './conditions.ts';
import { requestsOf } from '../plan/drawing.ts';
import { lookupAt, seedOf, type Lookup, type Place } from '../plan/lookup.ts';
import type { Levels } from '../rules/requirement.ts';
import type { Exchange } from '../rules/scenario-context.ts';
import type { Judgement } from '../judging/tally.ts';

/** What values fail, and what values pass. */
export interface Values {
  /** `4 of 16 ids`; undefined if their levels may explain it. */
  readonly words?: string;
  /** Ids that fail and ids that pass, with what the fixture knows of them. */
  readonly ids?: { readonly failing: readonly string[]; readonly passing: readonly string[] };
}

/** Values of each outcome that are shown, and their characters at most. */
const [SHOWN, MAX_SHOWN] = [4, 40];

/**
 * Says how many lookups fail, and of what; nothing if all do, or if the same lookup fails now and then.
 *
 * @param failing the lookup that failed first
 */
export function valuesOf(
  { levels, isRandom, share }: Base,
  { trials: tried, isMixed }: Pick<Varied, 'trials' | 'isMixed'>,
  known: Known,
  failing: Request,
): Values {
  // The first failure counts, also if no other lookup failed.
  const isShown = tried.some(({ hasFailed }) => hasFailed);
  const trials = byId(isShown ? tried : [{ request: failing, hasFailed: true }, ...tried]);
  const { failed, of } = shareOf(trials);
  if (isRandom || failed === of) return {};
  const words = (what: string) => `${failed} of ${of} ${what}`;
  const { key, header, malformation } = levels;
  const isOneKey = headerLevels[header]!.forms.length === 1 && keyLevels[key]!.drawn === undefined;
  const shown = (isWanted: boolean) =>
    trials
      .filter(({ hasFailed }) => hasFailed === isWanted)
      .slice(0, SHOWN)
      .map(({ request }) => valueOf(request, known));
  const isOfValues = isMixed || share.failed < share.of;
  if (!isOneKey) return isOfValues ? { words: words('keys or their forms') } : {};
  return {
    ...(isOfValues && { words: words(malformation === 'none' ? 'ids' : 'malformed values') }),
    ids: { failing: shown(true), passing: shown(false) },
  };
}

/** Each value once. It fails if one of its lookups did. */
function byId(trials: readonly Trial[]): readonly Trial[] {
  const found = new Map<string, Trial>();
  for (const one of trials) {
    const value = idOf(one.request) || one.request.target;
    if (one.hasFailed || !found.has(value)) found.set(value, one);
  }
  return [...found.values()];
}

/** An id with its date and amount. */
function valueOf(request: Request, { userById, depositById }: Known): string {
  const id = idOf(request);
  const user = request.endpoint === 'user-status' ? userById.get(id) : undefined;
  const deposit = request.endpoint === 'deposit-check' ? depositById.get(id) : undefined;
  const facts = [
    user?.date_joined,
    ...(deposit?.state === 'EXECUTED'
      ? [new Date(deposit.executedAt).toISOString(), `${deposit.amountInUsd} USD`]
      : []),
  ].filter((one) => one !== undefined);
  return `${id.slice(0, MAX_SHOWN)}${facts.length === 0 ? '' : ` (${facts.join(', ')})`}`;
}

/** The most lookups that are drawn to shrink a value. */
const MAX_SHRINKS = 60;

/** Shrinks the value of a lookup with these levels. The result has the lookup, if a run can repeat it. */
export async function shrink(
  prober: Prober,
  base: Base,
  levels: Levels,
): Promise<Partial<Pick<Judgement, 'evidence' | 'lookup' | 'verdict'>> | undefined> {
  const { endpoint, known, seed } = prober;
  let tries = 0;
  let smallest: Exchange | undefined;
  const failsAgain = async (request: Request): Promise<boolean> => {
    if (tries++ >= MAX_SHRINKS || !prober.canFail(request)) return false;
    const { outcome, sent } = await prober.ask(request, levels);
    if (outcome !== 'fails' || sent?.reply.kind !== 'answer') return false;
    smallest = sent;
    return true;
  };
  const draw = prober.nextDraw();
  const details = await fc.check(
    fc.asyncProperty(requestsOf(endpoint, levels, known), async (request) => !(await failsAgain(request))),
    { seed: seedOf(seed, draw), numRuns: drawsWith(base, levels) },
  );
  let place: Place = defined({ draw, shrunk: details.counterexamplePath ?? undefined });
  // Only an id this close to a known one may fail.
  if (smallest === undefined && prober.nearPick !== undefined) {
    place = { pick: prober.nearPick };
    await failsAgain(lookupAt(endpoint, levels, place, prober).request);
  }
  const verdict = smallest?.reply.kind === 'answer' ? prober.verdictOf(smallest.reply) : undefined;
  if (verdict === undefined || smallest === undefined) return undefined;
  const lookup = (): Lookup => lookupAt(endpoint, levels, place, prober);
  return { verdict, evidence: smallest, ...(prober.isReplayable && { lookup: lookup() }) };
}

/** How often a lookup must fail without a field, and how often it must pass without all. */
const [FAILING, PASSING] = [2, 6];

/** The evidence, and the header fields without which the lookup passes; undefined if they are not known. */
interface Reduced {
  readonly evidence: Exchange;
  readonly fields?: string;
}

/** Leaves out header fields without which the lookup still fails. Fields that go together are sent together. */
export async function reduceFields(prober: Prober, evidence: Exchange, levels: Levels): Promise<Reduced> {
  const names = Object.keys(evidence.request.headers);
  if (names.length < 2) return { evidence };
  let smallest = evidence;
  for (const name of names) {
    const { [name]: _, ...headers } = smallest.request.headers;
    const failed = await askOften(prober, { ...smallest.request, headers }, levels, FAILING, 'fails');
    if (failed?.reply.kind === 'answer') smallest = failed;
  }
  const { request } = smallest;
  const left = Object.entries(request.headers);
  const without = await askOften(prober, { ...request, headers: {} }, levels, PASSING, 'passes');
  if (left.length === 0 || without === undefined) return { evidence: smallest };
  const fields = left.map(([name, value]) => `${writtenName(name, 'capitalized')}: ${value}`);
  return { evidence: smallest, fields: `fields: ${fields.join(' and ')}` };
}

/** Asks so many times. Returns the last exchange if each had this outcome. */
async function askOften(
  prober: Prober,
  request: Request,
  levels: Levels,
  times: number,
  wanted: 'fails' | 'passes',
): Promise<Exchange | undefined> {
  let last: Exchange | undefined;
  for (let left = times; left > 0; left--) {
    const { outcome, sent } = await prober.ask(request, levels);
    if (outcome !== wanted) return undefined;
    last = sent;
  }
  return last;
}

/** Conditions that name a field in place of a level of several fields. */
export function withField(
  where: readonly string[],
  fields: string,
  { fields: level }: Levels,
): readonly string[] {
  const isBundle = Object.keys(fieldsLevels[level]!.changes.headers ?? {}).length > 1;
  const renamed = (one: string) =>
    one.startsWith('fields: ') && isBundle ? one.replace(level, fields.slice('fields: '.length)) : one;
  return where.map(renamed);
}
