import { NOT_SENT, type Reply } from '../answer.ts';
import { table } from '../requirements/catalogue.ts';
import { isLimiterAnswer } from '../rules/expectations.ts';
import type { Facts } from '../rules/facts.ts';
import { factsOf, presentedKey } from '../rules/facts-of-request.ts';
import type { Finding } from '../rules/table.ts';
import type { Known, KnownKey } from '../known.ts';
import type { LookupRow, Levels } from '../rules/requirement.ts';
import { findingsOf, type Failure, type Tally } from '../judging/tally.ts';
import { fingerprint, idOf, lookupOf, type Request } from '../request.ts';
import { levelsOfId } from '../plan/entities.ts';
import { plainLevels } from '../plan/factors.ts';

/** What a lookup shows. `unknown`: nothing, for example because it got no answer. */
export type Outcome = 'fails' | 'passes' | 'unknown';

/** Compares other lookups with a failure. */
export function createComparison(
  row: LookupRow,
  { exchange, verdict }: Failure,
  { known, tally }: { readonly known: Known; readonly tally: Tally },
) {
  const hadNoAnswer = exchange.reply.kind === 'trouble';
  // What is only advised against is no failure of another requirement.
  const isRelevant = (one: Finding) =>
    one.row === row || one.row.kind !== 'answer' || one.row.level === 'required';
  const signatureOf = (of: Facts) => {
    const { right } = table.coverOf(of);
    return (right.find((one) => one.row === row) ?? right[0])?.answer.name;
  };
  const facts = factsOf(known, exchange.request)!;
  const signature = signatureOf(facts);
  const allRight = new Set(table.coverOf(facts).right.map(({ answer }) => answer.name));

  /** Whether the failing answer would also be wrong for another lookup: if not, another answer shows nothing. */
  const isComparable = (request: Request): boolean => {
    const others = factsOf(known, request);
    if (others?.endpoint !== exchange.request.endpoint || signatureOf(others) !== signature) return false;
    if (exchange.reply.kind === 'trouble') return true;
    const found = table.judge(others, exchange.reply, known);
    return found.some((one) => one.verdict.kind === 'failed' && isRelevant(one));
  };

  const outcomeOf = (request: Request, reply: Reply): Outcome => {
    if (reply.kind === 'trouble') {
      const isSilent = (reply.code === 'network' || reply.code === 'timeout') && reply.words !== NOT_SENT;
      return hadNoAnswer && isSilent ? 'fails' : 'unknown';
    }
    const found = findingsOf(tally, reply);
    if (found.length === 0 || isLimiterAnswer(request.endpoint, reply)) return 'unknown';
    const wrong = found.filter((one) => one.verdict.kind === 'failed');
    if (wrong.some((one) => isRelevant(one) && aspectOf(one) === verdict.aspect)) return 'fails';
    // Who gets 401 does not see the value that is wrong: it may be wrong, too.
    const isHidden = wrong.some((one) => isRelevant(one) && stageOf(aspectOf(one)) < stageOf(verdict.aspect));
    if (isHidden || wrong.some((one) => one.row === row)) return 'unknown';
    // Several answers are correct, and this may be one that would be wrong for the failure: it shows nothing.
    const others = factsOf(known, request)!;
    const { right } = table.coverOf(others);
    const isRight = right.some(
      ({ answer }) => allRight.has(answer.name) && answer.expect(others)(reply).kind === 'passed',
    );
    return isRight || right.length === 1 ? 'passes' : 'unknown';
  };

  return { isComparable, outcomeOf };
}

/** Aspects that hide all later ones, in the order in which an answer is read. */
const stages = ['connection', 'status', 'JSON', 'shape'];

const stageOf = (aspect = ''): number => (stages.includes(aspect) ? stages.indexOf(aspect) : stages.length);

const aspectOf = ({ verdict }: Finding) => ('aspect' in verdict ? verdict.aspect : undefined);

/** The key of another partner with which a request was sent. */
function otherKeyOf(request: Request, known: Known): KnownKey | undefined {
  const { found } = presentedKey(known, request);
  return found && known.otherKeys.find(({ key }) => key === found.key);
}

/** What is known, with this key as the only one of the other partner: its data is then that of another partner. */
const seenFrom = (key: KnownKey, known: Known): Known => ({
  ...known,
  otherKeys: [key, ...known.otherKeys.filter(({ partner }) => partner !== key.partner)],
});

/** A failure as its key sees it. */
export type View = ReturnType<typeof viewOf>;

export function viewOf({ exchange: { request, reply }, lookup }: Failure, known: Known) {
  const otherKey = otherKeyOf(request, known);
  const seen = otherKey === undefined ? known : seenFrom(otherKey, known);
  const levelsOf = (levels: Levels, one: Request): Levels => {
    const found = otherKey && levelsOfId(one.endpoint, idOf(one), seen);
    const isSame = found === undefined || levels.malformation !== 'none';
    return isSame ? levels : { ...levels, situation: found.situation };
  };
  const asked = otherKey && plainlyAsked(request, otherKey, seen);
  const [first, ...more] = known.otherKeys;
  const isFirst = first === otherKey && more.every(({ partner }) => partner !== otherKey?.partner);
  return {
    /** The key of another partner with which it was sent. It stays the same, like the key under test. */
    otherKey,
    known: seen,
    /** The levels of the failure; undefined if no lookup with levels has failed, or if each would take its time. */
    start:
      lookup === undefined ? asked : reply.kind === 'trouble' ? undefined : levelsOf(lookup.levels, request),
    /** Whether the run draws the same requests with the same levels. */
    isReplayable: otherKey === undefined || isFirst,
    /** Whether a request of the run has no other key of another partner. */
    hasSameKey: (one: Request): boolean => {
      const other = otherKeyOf(one, known);
      return other === undefined || other.key === otherKey?.key;
    },
    /** The levels of a request of the run. */
    levelsOf,
  };
}

/** The levels of a plain lookup that a scenario has sent with this key; undefined for another one. */
function plainlyAsked(request: Request, key: KnownKey, known: Known): Levels | undefined {
  const { endpoint } = request;
  const plain = lookupOf(endpoint, idOf(request), { credential: { as: 'key', key } });
  const found = levelsOfId(endpoint, idOf(request), known) ?? { situation: 'unknown' };
  return fingerprint(plain) === fingerprint(request)
    ? { ...plainLevels(endpoint), ...found, key: "another partner's" }
    : undefined;
}
