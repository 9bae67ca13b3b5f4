import type { EqualAnswers } from '../../schemas/generated/types.ts';
import { defined } from '../../schemas/values.ts';
import type { Answer, Reply, Trouble } from '../answer.ts';
import type { Asking, Bursts, Exchange, Pace } from '../rules/scenario-context.ts';
import { lookupOf, type Request } from '../request.ts';
import { describeMs } from './limit.ts';
import type { Endpoint } from '../../schemas/endpoints.ts';
import { findableId, findableIds, unknownId } from '../inputs/uuids.ts';
import type { Known } from '../known.ts';

/** What a trial can do. */
export type Trying = Bursts & Pick<Asking, 'now' | 'wait'>;

/** An endless supply of requests of one kind, with the key under test: the only key that the suite uses up. */
export interface Supply {
  readonly kind: string;
  readonly next: () => Request;
  /** The status of its answers, if it is not that of the first one. */
  readonly usual?: number;
  /** Set if every second request is one of a member, which is no failed lookup. */
  readonly isMixed?: true;
  /** Set if none of them counts for the key under test. */
  readonly isFree?: true;
}

/** Sends a request with the key under test. */
const withTestKey = (known: Known, request: Request): Request => ({
  ...request,
  credential: { as: 'key', key: known.callerKeys[0]! },
});

export const findableLookup = (endpoint: Endpoint, known: Known) =>
  withTestKey(known, lookupOf(endpoint, findableId(endpoint, known)));

/** The same with a key of another partner, if there is one. */
export const strangersLookup = (endpoint: Endpoint, known: Known): readonly Request[] =>
  known.otherKeys
    .slice(0, 1)
    .map((key) => ({ ...findableLookup(endpoint, known), credential: { as: 'key', key } }));

export type Supplies = ReturnType<typeof suppliesFor>;

/** The kinds of requests that try a limiter. Some limiters count distinct ids, so that a failed lookup never repeats one. */
export function suppliesFor(endpoint: Endpoint, known: Known) {
  let used = 0;
  const supply = (kind: string, make: (nth: number) => Request): Supply => {
    let nth = 0;
    return { kind, next: () => make(nth++) };
  };
  const cycled = (kind: string, ids: readonly string[]) =>
    supply(kind, (nth) => withTestKey(known, lookupOf(endpoint, ids[nth % ids.length]!)));
  const unknown = supply('unknown ids', () =>
    withTestKey(known, lookupOf(endpoint, unknownId(known, used++))),
  );
  const members: Supply = {
    ...cycled('members', findableIds(endpoint, known)),
    isFree: true,
  };
  const foreigners = known.foreigners.map(({ user_id }) => user_id);
  return {
    members,
    unknown,
    mixed: {
      ...supply('unknown users and members in turn', (nth) => (nth % 2 === 0 ? unknown : members).next()),
      isMixed: true,
    } satisfies Supply,
    malformed: supply('malformed ids', (nth) => withTestKey(known, lookupOf(endpoint, `invalid-${nth}`))),
    wrongKeys: {
      ...supply('wrong keys', (nth) => {
        const value = `Bearer nobody-${nth}`;
        return lookupOf(endpoint, unknownId(known), { credential: { as: 'header', value, shell: value } });
      }),
      usual: 401,
      isFree: true,
    } satisfies Supply,
    foreign: cycled('users of other IBs', foreigners),
    /** As many ids as there are users of other IBs: a comparison with those is fair. */
    fewUnknown: cycled(
      'unknown users',
      foreigners.map((_, nth) => unknownId(known, 900_000 + nth)),
    ),
  };
}

/** How a stream is sent: so many failed lookups, so many requests in flight, at most so long. */
interface Bounds extends Pick<Pace, 'most' | 'inFlight' | 'gapMs'> {
  readonly withinMs: number;
}

/** Requests of one kind, up to the first refusal. Times are in ms. */
export interface Stream {
  readonly kind: string;
  readonly sent: number;
  /** Its answers in the order of sending. */
  readonly answers: readonly EqualAnswers[];
  /** Requests that a limiter let pass. */
  readonly passed: number;
  /** Those that count if they are failed lookups: every second one of a mixture. */
  readonly failures: number;
  /** Which part of them counts if failed lookups do. */
  readonly counted: number;
  /** Whether 429 came before any request passed. */
  readonly startsLimited: boolean;
  readonly elapsedMs: number;
  /** The first 429. */
  readonly refusal?: { readonly request: Request; readonly reply: Answer };
  /** Whether a key that must work got 401. */
  readonly isKeyRefused: boolean;
  /** Another answer than before, which ten requests one at a time got too. */
  readonly instead?: { readonly request: Request; readonly reply: Answer };
  /** How many times as long the last answers took as the first. */
  readonly slowdown: number;
  /** Requests that got 503, or whose connection broke: the target may take fewer at once. */
  readonly shed: number;
  /** Why requests got no answer, if most of them did not or the stream ended with it. */
  readonly trouble?: Trouble;
}

/** Whether a reply shows that the target takes no more requests at once. */
export const isShed = (reply: Reply): boolean =>
  reply.kind === 'answer' ? reply.status === 503 : reply.code === 'network';

const isLimited = ({ reply }: Exchange) => reply.kind === 'answer' && reply.status === 429;
const isAnswered = (one: Exchange): one is Exchange & { readonly reply: Answer } =>
  one.reply.kind === 'answer';

/** An answer that refuses what others got before it. A front end may break for a moment: only what recurs counts. */
const [REPEATS, MAX_TRIES, PAUSE_MS] = [10, 3, 5000];

/** Sends new requests of a kind until the first refusal. Never retries. */
export async function stream(context: Trying, supply: Supply, bounds: Bounds): Promise<Stream> {
  const { kind, next, isMixed = false } = supply;
  const { inFlight, gapMs = 0, withinMs } = bounds;
  const wanted = bounds.most * (isMixed ? 2 : 1);
  const startedAt = context.now();
  const endsAt = startedAt + withinMs;
  const sent: Exchange[] = [];
  let usual: number | undefined = supply.usual;
  /** Whether an answer refuses a request. Others of its kind got another answer, or no lookup may get it. */
  const isRefusal = ({ status }: Answer) => {
    if (![401, 403, 429].includes(status) && status < 500) usual ??= status;
    return status === 429 || (status >= 400 && status !== usual);
  };
  let instead: Stream['instead'];
  for (let tries = 0; instead === undefined && tries < MAX_TRIES && sent.length < wanted; tries++) {
    const most = wanted - sent.length;
    const part = await context.stream(next, { most, inFlight, gapMs, endsAt, isLast: isRefusal });
    sent.push(...part);
    const odd = part.filter(isAnswered).find((one) => isRefusal(one.reply));
    if (odd === undefined || part.some(isLimited)) break;
    const slow = { most: REPEATS, inFlight: 1, endsAt: Infinity, isLast: () => false };
    const again = (await context.stream(next, slow)).filter(isAnswered);
    const isAgain = again.length === REPEATS && !again.some(isLimited);
    if (!isAgain || !again.every(({ reply }) => isRefusal(reply))) continue;
    // If nobody gets an answer as before, it is not the limiter: the target restarts, or sheds load.
    const isOutage = usual !== undefined && odd.reply.status >= 500;
    const [anyone] = isOutage ? await context.burst({ ...next(), credential: { as: 'none' } }) : [];
    if (anyone?.kind === 'answer' && anyone.status >= 500) await context.wait(PAUSE_MS, 'lost-target');
    else instead = odd;
  }
  const answered = sent.filter(isAnswered);
  const refusal = answered.find(isLimited);
  // What comes much later may belong to another window.
  const isInTime = ({ reply }: { readonly reply: Answer }) => reply.receivedAt <= endsAt + withinMs / 20;
  const passed = answered.filter((one) => one.reply.status === usual && isInTime(one)).length;
  const times = answered.map(({ reply }) => reply.receivedAt - reply.sentAt);
  const tenth = Math.ceil(times.length / 10);
  const lost = sent.flatMap(({ reply }) => (reply.kind === 'trouble' ? [reply] : []));
  const isCut =
    lost.length > sent.length / 2 || lost.some(({ code }) => code !== 'network' && code !== 'timeout');
  return {
    kind,
    sent: sent.length,
    answers: inRuns(sent),
    shed: sent.filter(({ reply }) => isShed(reply)).length,
    passed,
    failures: isMixed ? Math.ceil(passed / 2) : passed,
    counted: supply.isFree === true ? 0 : isMixed ? 1 / 2 : 1,
    isKeyRefused: usual !== 401 && answered.some(({ reply }) => reply.status === 401),
    startsLimited: refusal !== undefined && passed === 0,
    elapsedMs: (refusal?.reply.receivedAt ?? context.now()) - startedAt,
    slowdown: mean(times.slice(-tenth)) / Math.max(1, mean(times.slice(0, tenth))),
    ...defined({
      refusal,
      instead,
      trouble: isCut ? lost.at(-1) : undefined,
    }),
  };
}

/** The most runs of equal answers that a record has. */
const MAX_RUNS = 200;

/** Equal answers in a row, together. */
function inRuns(sent: readonly Exchange[]): readonly EqualAnswers[] {
  const runs: EqualAnswers[] = [];
  for (const { reply } of sent) {
    // What was not sent got no answer, but not by the target.
    if (reply.kind === 'trouble' && reply.code !== 'network' && reply.code !== 'timeout') continue;
    const status = reply.kind === 'answer' ? reply.status : 0;
    const last = runs.at(-1);
    if (last?.status === status) last.count++;
    else runs.push({ status, count: 1 });
  }
  return runs.slice(0, MAX_RUNS);
}

const mean = (some: readonly number[]) => some.reduce((sum, ms) => sum + ms, 0) / Math.max(1, some.length);

/**
 * Whether more requests passed in one stream than triggered a limiter in another, at no lower pace: then those of the
 * first do not count in the same way.
 */
export const outdoes = (one: Stream, other: Stream): boolean =>
  one.failures > other.failures &&
  (one.failures / Math.max(1, one.elapsedMs)) * Math.max(1, other.elapsedMs) >= other.failures + 1;

export const describeStream = ({ kind, sent, elapsedMs }: Stream): string =>
  `${sent} requests (${kind}) in ${describeMs(elapsedMs)}`;
