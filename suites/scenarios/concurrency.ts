import { countsFailures, endpointNames, type Endpoint } from '../../schemas/endpoints.ts';
import { isFromFrontEnd, type Answer, type Reply } from '../answer.ts';
import { sameAnswer } from '../rules/expectations.ts';
import { evenSample, findableIds, unknownId } from '../inputs/uuids.ts';
import type { Known } from '../known.ts';
import { SHORT_WAIT_MS, statedLimits } from '../limits/limit.ts';
import { fingerprint, lookupOf, type Request } from '../request.ts';
import type { ScenarioResult } from '../rules/requirement.ts';
import type { Asking } from '../rules/scenario-context.ts';
import { inconclusive, judgeReply, pass, type Verdict } from '../rules/verdict.ts';
import { repeated } from '../../schemas/values.ts';

/** Lookups in flight at once. Larger crowds follow only while no answer was lost. */
const SIZES = [16, 32, 64] as const;

/** Different entities in a crowd. Each is asked for by several callers at once. */
const MAX_ENTITIES = 4;

/** Lookups that count, at an endpoint, in the smallest crowd. */
const MIN_COUNTED = 2;

/** How many lookups that count a crowd may have at an endpoint: a stated limit allows few, most of all if its window is long. */
function mostCounted(endpoint: Endpoint, known: Known): number {
  const share = Math.floor(SIZES[0] / endpointNames.length);
  const limit = statedLimits(known)[endpoint];
  if (limit === undefined) return share;
  const part = limit.windowMs > SHORT_WAIT_MS ? 100 : 6;
  return Math.min(share, Math.max(MIN_COUNTED, Math.floor((limit.most * known.callerKeys.length) / part)));
}

/** A crowd: different ids and keys side by side, and the same id with two partners' keys. */
function crowd(known: Known, size: number): readonly Request[] {
  const { callerKeys, otherKeys } = known;
  const ours = callerKeys.slice(0, 2);
  const callers = [...ours.slice(0, 1), ...otherKeys.slice(0, 1), ...ours.slice(1)];
  const asked = (endpoint: Endpoint, ids: readonly string[], keys = callers) =>
    ids.flatMap((id) => keys.map((key) => lookupOf(endpoint, id, { credential: { as: 'key', key } })));
  const idsOf = (endpoint: Endpoint) => evenSample(findableIds(endpoint, known), MAX_ENTITIES);
  const few = endpointNames.flatMap((endpoint) => {
    const most = mostCounted(endpoint, known);
    const isFree = countsFailures(endpoint);
    // Another partner's key, or another deposit, shows a second answer too.
    const hasUnknown = isFree ? statedLimits(known)[endpoint] === undefined : most > MIN_COUNTED;
    return [
      ...(isFree
        ? asked(endpoint, idsOf(endpoint).slice(0, 1))
        : asked(endpoint, idsOf(endpoint)).slice(0, most)),
      ...(hasUnknown ? asked(endpoint, [unknownId(known)], ours.slice(0, 1)) : []),
    ];
  });
  // Members never count for their own partner, so that the rest of a crowd consists of them.
  const members = endpointNames.filter(countsFailures).flatMap((one) => asked(one, idsOf(one), ours));
  return interleaved(few, repeated(members, Math.max(0, size - few.length)));
}

/** Takes from each list in turn. */
const interleaved = <Item>(...lists: readonly (readonly Item[])[]): readonly Item[] =>
  Array.from({ length: Math.max(...lists.map(({ length }) => length)) }).flatMap((_, at) =>
    lists.flatMap((list) => (list[at] === undefined ? [] : [list[at]])),
  );

const WRONG_ALONE = 'not checked because the lookup got a wrong answer alone and another one in a crowd';

/** A wrong answer counts if it comes so often in a crowd, and never in so many lookups alone. */
const [MIN_WRONG, LOOKUPS_ALONE] = [2, 10];

/** How often a crowd with a wrong answer is sent again to see another one. */
const MAX_REPEATS = 3;

/** A lookup that was answered otherwise in a crowd than alone. */
interface Suspect {
  readonly request: Request;
  readonly before: Answer;
  readonly reply: Answer;
  readonly verdict: Verdict;
}

/** Why no crowd can be judged, or what crowds have shown. */
interface Seen {
  readonly alone: Map<string, Reply>;
  readonly suspects: Suspect[];
  cases: number;
  isOverlapping: boolean;
  stop?: { readonly verdict: Verdict; readonly request: Request; readonly reply: Reply };
}

/** Sends a crowd, and each of its lookups alone before. */
async function sendCrowd(context: Asking, requests: readonly Request[], seen: Seen): Promise<void> {
  const { send, sendAtOnce, verdictsOn } = context;
  const { alone } = seen;
  const isWrong = (request: Request, answer: Answer) =>
    verdictsOn(request, answer).some(({ kind }) => kind === 'failed');
  for (const request of requests) {
    if (alone.has(fingerprint(request))) continue;
    alone.set(fingerprint(request), (await send(request))[0]!);
  }
  const together = await sendAtOnce(...requests);
  for (const [at, request] of requests.entries()) {
    const [before, reply] = [alone.get(fingerprint(request))!, together[at]!];
    if (before.kind === 'trouble' || reply.kind === 'trouble') {
      const lost = before.kind === 'trouble' ? before : reply;
      seen.stop ??= { verdict: judgeReply(lost, () => pass), request, reply: lost };
      continue;
    }
    // A front end refuses load.
    if (isFromFrontEnd(reply) && !isFromFrontEnd(before)) {
      const words = `${reply.status} to some of ${requests.length} lookups at once; --concurrency sends fewer`;
      seen.stop ??= { verdict: inconclusive('network', words), request, reply };
      continue;
    }
    seen.cases++;
    seen.isOverlapping ||= together.slice(0, at).some((other) => overlap(other, reply));
    const verdict = sameAnswer(before, reply);
    if (verdict.kind === 'passed') continue;
    // Other requirements report what is wrong without a crowd.
    if (isWrong(request, before))
      seen.stop ??= { verdict: inconclusive('depends', WRONG_ALONE), request, reply: before };
    else seen.suspects.push({ request, before, reply, verdict });
  }
}

/** Whether a lookup gets its answer each time that it is sent alone. */
async function isRightAlone({ send }: Asking, { request, before }: Suspect): Promise<boolean> {
  for (let nth = 0; nth < LOOKUPS_ALONE; nth++) {
    const [again] = await send(request);
    if (again?.kind !== 'answer' || sameAnswer(before, again).kind !== 'passed') return false;
  }
  return true;
}

/**
 * Sends each lookup alone and then in crowds. A difference counts if it recurs, and if it never shows alone. No other
 * lookup may be in flight beside them.
 */
export async function judgeConcurrency(context: Asking, known: Known): Promise<ScenarioResult> {
  const seen: Seen = { alone: new Map(), suspects: [], cases: 0, isOverlapping: false };
  const { suspects } = seen;
  const done = (finding: Verdict) => ({ finding, cases: seen.cases });
  const isScarce = endpointNames.some(
    (one) => !countsFailures(one) && statedLimits(known)[one] !== undefined,
  );
  const sizes = isScarce ? SIZES.slice(0, 2) : SIZES;
  for (const size of sizes) {
    // A crowd is no large part of what --max-requests leaves.
    if (seen.cases > 0 && 4 * size > context.leftRequests()) break;
    const requests = crowd(known, size);
    const passed = seen.cases;
    await sendCrowd(context, requests, seen);
    for (let again = 0; suspects.length > 0 && suspects.length < MIN_WRONG && again < MAX_REPEATS; again++)
      await sendCrowd(context, requests, seen);
    const [suspect] = suspects;
    if (suspect !== undefined) {
      const { request, reply, verdict } = suspect;
      const isShown = suspects.length >= MIN_WRONG && (await isRightAlone(context, suspect));
      const words = 'the same lookup got two different answers, but not only in a crowd, or only once';
      if (!isShown) return { ...done(inconclusive('flaky', words)), request, reply };
      const where = [`meanwhile: ${requests.length - 1} other lookups are sent`];
      return { ...done(verdict), request, reply, where };
    }
    if (seen.stop === undefined) continue;
    // If a rate limit or a lost answer stops the test, the crowds so far are enough.
    const { verdict, request, reply } = seen.stop;
    const isEnough = seen.isOverlapping && (passed > 0 || seen.cases >= size / 2);
    const isDeciding = verdict.kind === 'inconclusive' && verdict.reason === 'depends';
    return isEnough && !isDeciding ? done(pass) : { ...done(verdict), request, reply };
  }
  const words = 'not checked because no two lookups overlapped in time';
  return done(seen.isOverlapping ? pass : inconclusive('timing-window', words));
}

const overlap = (one: Reply, other: Reply) =>
  one.kind === 'answer' &&
  other.kind === 'answer' &&
  one.sentAt <= other.receivedAt &&
  other.sentAt <= one.receivedAt;
