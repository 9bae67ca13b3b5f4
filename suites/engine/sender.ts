import { perEndpoint, type Endpoint } from '../../schemas/endpoints.ts';
import { NOT_SENT, trouble, type Trouble } from '../answer.ts';
import { findableId, unknownIds } from '../inputs/uuids.ts';
import type { Known, KnownKey } from '../known.ts';
import { askedBy, isCounted, type Asked } from '../limits/limit.ts';
import {
  admit,
  allowRetry,
  compareWithStated,
  endPause,
  firstKey,
  longestWindowMs,
  recordReply,
  turnOf,
  untilReply,
  waitForQuiet,
  type Turn,
} from '../limits/limiter.ts';
import { learnScope } from '../limits/scope.ts';
import { idOf, lookupOf, type Request } from '../request.ts';
import type { Exchange } from '../rules/scenario-context.ts';
import { createLoad } from './budget.ts';
import { createTraces, withCookies } from '../client/fields.ts';
import { createLosses, gate, troubleAt, troubleOf, type Losses } from './losses.ts';
import {
  isTargetGone,
  MAX_TRIES,
  transmit,
  type SenderOptions,
  type Sending,
  type SendOptions,
} from './sending.ts';

export type Sender = ReturnType<typeof createSender>;

/** Sends requests to the target, waits for rate limits, and retries lost requests. */
export function createSender(setup: SenderOptions) {
  const { present, limiter } = setup;
  const sending: Sending = {
    ...setup,
    losses: createLosses({
      ...setup,
      untilQuiet: async () => {
        while (sending.load.inFlight() > 0) await untilReply(limiter);
      },
      askOnce: (request) => {
        setup.client.renew?.();
        return transmit(sending, request, { isUnjudged: true }, 1);
      },
      askAgain: async (exchange) => {
        const { request, of, lookup } = exchange;
        const { reply } = await send(request, { of, lookup, isAhead: true });
        if (reply.kind === 'trouble') setup.leaveOpen(exchange, reply);
      },
    }),
    rateLimited: 0,
    lostInARow: 0,
    silentInARow: 0,
    silence: { from: Infinity, to: 0, answeredAt: 0, longestMs: 0 },
    answered: perEndpoint(() => 0),
    load: createLoad(),
    cookies: new Map(),
    // One of the user stays.
    traceOf: setup.headers['traceparent'] === undefined ? createTraces() : undefined,
    refusals: new Map(),
    keyWorks: undefined,
  };
  /** Waits after 429 and retries lost requests. */
  const send = (request: Request, options?: SendOptions) => attempt(sending, request, false, options);
  return {
    send,
    /** When a request may be sent, by what is known now. */
    turnOf: (request: Request): Turn =>
      turnOf(limiter, askedBy(present.known, withKey(sending, request) ?? request)),
    /** Never retries: a 429 is an answer like any other. */
    sendOnce: (request: Request, options?: SendOptions) => attempt(sending, request, true, options),
    waitForQuiet: (endpoint: Endpoint, ms: number) => waitForQuiet(limiter, endpoint, ms),
    longestWindowMs: (endpoint: Endpoint) => longestWindowMs(limiter, endpoint),
    losses: sending.losses,
    /** Whether requests have a traceparent. */
    isTracing: (): boolean => sending.traceOf !== undefined,
    trace: (isOn: boolean): void => void (sending.traceOf = isOn ? createTraces() : undefined),
    rateLimited: () => sending.rateLimited,
    /** Whether the key under test was ever accepted; undefined before it was used. */
    keyWorks: () => sending.keyWorks,
    /** Whether the target answers nobody: neither what was sent last, nor plain lookups now. */
    isTargetLost: async (): Promise<boolean> => {
      const isSilent = () => sending.silentInARow > 0;
      for (let nth = 0; nth < MAX_TRIES && isSilent(); nth++)
        await send(plainLookup(present.known), { isAgain: true });
      const { from, to, longestMs } = sending.silence;
      return sending.silentInARow >= MAX_TRIES || to - from > Math.max(SILENT_MS, 3 * longestMs);
    },
  };
}

/** A lookup that every server answers, whatever its limits. */
const plainLookup = (known: Known, endpoint: Endpoint = 'user-status') =>
  lookupOf(endpoint, findableId(endpoint, known), { credential: { as: 'none' } });

/** A target that did not answer for so many ms when the run ended stopped answering. */
const SILENT_MS = 2000;

/** Chooses the key of the partner that may send first; undefined without an active one. */
function withKey({ present: { known }, limiter, losses }: Sending, request: Request): Request | undefined {
  if (request.credential.as !== 'caller') return request;
  if (known.callerKeys.length === 0) return undefined;
  const keys = known.callerKeys.map(({ key }) => key);
  const kept = keys.filter((key) => troubleAt(losses, request.endpoint, key) === undefined);
  const usable = kept.length === 0 ? keys : kept;
  const before = keyed.get(request) ?? withCallerKey(request, known.callerKeys[0]!);
  const first = firstKey(limiter, askedBy(known, before), usable);
  return first === before.credential.key.key
    ? before
    : withCallerKey(
        request,
        known.callerKeys.find((one) => one.key === first)!,
      );
}

type Keyed = Request & { readonly credential: { readonly as: 'key'; readonly key: KnownKey } };

function withCallerKey(request: Request, key: KnownKey): Keyed {
  const made: Keyed = { ...request, credential: { as: 'key', key } };
  keyed.set(request, made);
  return made;
}

/** Each request with the key that was chosen last: its facts are read once. */
const keyed = new WeakMap<Request, Keyed>();

/** Sends a request when its turn comes, and again after 429 unless `isOnce`. */
async function attempt(
  sending: Sending,
  asked: Request,
  isOnce: boolean,
  options: SendOptions = {},
): Promise<Exchange> {
  const { present, clock, budget, limiter, signal, losses } = sending;
  const { until, isNow = false, isReserved, onRefused, isAhead = false } = options;
  if (onRefused !== undefined) allowRetry(limiter, askedBy(present.known, asked));
  for (;;) {
    if (!isAhead) await untilOpen(losses);
    const withOne = withKey(sending, asked);
    const request = withOne && withCookies(sending, withOne);
    if (request === undefined)
      return { request: asked, reply: trouble('no-fixture', 'the fixture has no active key of a partner') };
    const account = askedBy(present.known, request);
    const refusal =
      troubleOf(losses, request) ??
      budget.ended(until) ??
      (isTargetGone(sending)
        ? trouble('outage', NOT_SENT)
        : isOnce
          ? undefined
          : await admit(limiter, account, isNow ? clock.now() : until, isReserved));
    if (refusal !== undefined) return { request, reply: refusal };
    const reply = await transmit(sending, request, options, isOnce ? 1 : MAX_TRIES).catch(
      (error: unknown) => {
        // Others may wait for it.
        recordReply(limiter, account, undefined, { counted: false, isAdmitted: !isOnce });
        throw error;
      },
    );
    const answer = reply.kind === 'answer' ? reply : undefined;
    // A key whose revocation is under way may still be accepted: the answer tells.
    const counted = answer === undefined ? account.cost > 0 : isCounted(account, answer);
    const isPause = recordReply(limiter, account, answer, { counted, isAdmitted: !isOnce });
    // Another partner's key may have the same limit: only ours tell.
    if (isPause && present.known.callerKeys.some(({ key }) => key === account.key)) {
      if (onRefused === undefined) await learnWhoseLimit(sending, request, account);
      compareWithStated(limiter, account, answer!);
    }
    if (answer === undefined && signal.aborted)
      return { request, reply: trouble('interrupted', 'the run was interrupted') };
    if (answer !== undefined && answer.status !== 429) sending.refusals.delete(idName(request));
    if (isOnce || answer?.status !== 429) return { request, reply };
    sending.rateLimited++;
    onRefused?.(answer);
    const ofId = isPause && onRefused === undefined ? await troubleOfId(sending, request) : undefined;
    if (ofId !== undefined) return { request, reply: ofId };
    if (isNow) return { request, reply };
  }
}

async function untilOpen(losses: Losses): Promise<void> {
  for (let open = gate(losses); open !== undefined; open = gate(losses)) await open;
}

/** Asks for an unknown id with other keys, once for each endpoint. */
async function learnWhoseLimit(sending: Sending, { endpoint }: Request, asked: Asked): Promise<void> {
  const { present, limiter } = sending;
  const { callerKeys, otherKeys } = present.known;
  const keys = { own: callerKeys.find(({ key }) => key !== asked.key), other: otherKeys[0] };
  await learnScope(limiter, asked, keys, async (key) => {
    const [id] = unknownIds(present.known, 1);
    const lookup = lookupOf(endpoint, id!, { credential: { as: 'key', key } });
    const { reply } = await attempt(sending, lookup, true, { isAgain: true });
    return reply.kind === 'answer' ? reply.status === 429 : undefined;
  });
}

const idName = (request: Request) => `${request.endpoint} ${idOf(request)}`;

/** So often is an id refused in a row until so many others are asked for: a limiter may let some through. */
const [MAX_REFUSALS, OTHERS] = [3, 3];

/**
 * Tells if a target refuses an id, and not its key: right after one refusal too many, other ids pass with the same key.
 * No limiter is used up then, so that the pause ends.
 */
async function troubleOfId(sending: Sending, request: Request): Promise<Trouble | undefined> {
  const { refusals, present, limiter } = sending;
  const { endpoint, credential } = request;
  const times = (refusals.get(idName(request)) ?? 0) + 1;
  refusals.set(idName(request), times);
  if (times < MAX_REFUSALS) return undefined;
  for (const id of unknownIds(present.known, OTHERS).filter((one) => one !== idOf(request))) {
    const { reply } = await attempt(sending, lookupOf(endpoint, id, { credential }), true, { isAgain: true });
    if (reply.kind !== 'answer' || reply.status === 429 || reply.status >= 500) return undefined;
  }
  endPause(limiter, askedBy(present.known, request));
  return trouble('id-limited', `429 for ${idOf(request)} alone: other ids with its key pass`);
}
