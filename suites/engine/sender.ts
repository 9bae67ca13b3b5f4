import { perEndpoint, type Endpoint } from '../../schemas/endpoints.ts';
import { isFromFrontEnd, NOT_SENT, trouble, type Answer, type Reply, type Trouble } from '../answer.ts';
import { authorizationOf, factsOf, showsKey } from '../rules/facts-of-request.ts';
import { findableId, unknownIds } from '../inputs/uuids.ts';
import { Problem } from '../../schemas/problem.ts';
import type { Known, KnownKey } from '../known.ts';
import { pathOf } from '../plan/lookup.ts';
import { idOf, lookupOf, writtenName, type Request } from '../request.ts';
import type { Exchange } from '../rules/scenario-context.ts';
import { createLoad } from './budget.ts';
import type { Client, WireRequest } from './client.ts';
import { keepCookies, withCookies, type Cookies } from './cookies.ts';
import { createLosses, type LossOptions, type Losses } from './losses.ts';
import { askedBy, isCounted } from '../limits/limit.ts';
import {
  admit,
  allowRetry,
  endPause,
  firstKey,
  longestWindowMs,
  recordReply,
  turnOf,
  untilReply,
  waitForQuiet,
  type Turn,
} from '../limits/limiter.ts';
import type { RunExchange } from '../judging/evaluation.ts';
import type { RunOptions } from './run-options.ts';

export interface SendOptions extends Pick<RunExchange, 'of' | 'lookup' | 'isAgain' | 'isAtOnce'> {
  /** As of an exchange; a function says it of a reply. */
  readonly isUnjudged?: boolean | ((reply: Reply) => boolean);
  /** Latest time to wait for a limiter, in ms of the clock. */
  readonly until?: number | undefined;
  /** Whether what lookups leave of a stated limit is for it. */
  readonly isReserved?: boolean;
  /** Whether not to wait: a request that may not be sent now is not sent, and a 429 is its answer. */
  readonly isNow?: boolean;
  /** Gets each 429 before the retry. */
  readonly onRefused?: (answer: Answer) => void;
  /** Whether it is sent before those that wait for the target. */
  readonly isAhead?: boolean;
}

export interface SenderOptions
  extends
    Pick<RunOptions, 'known' | 'signal' | 'headers'>,
    Omit<LossOptions, 'untilQuiet' | 'probe' | 'askAgain'> {
  readonly client: Client;
  /** After so many consecutive requests without an answer, the target counts as gone. */
  readonly maxLostInARow: number;
  /** Gets every exchange as it ends. */
  readonly onExchange: (exchange: RunExchange) => void;
}

export type Sender = ReturnType<typeof createSender>;

/** Maximum number of tries if the connection breaks: a server may close an idle one at any time (RFC 9112 9.3.1). */
const MAX_TRIES = 3;

/** Everything that requests in flight share. */
interface Sending extends SenderOptions {
  readonly losses: Losses;
  readonly load: ReturnType<typeof createLoad>;
  /** Number of 429s that were waited for. */
  rateLimited: number;
  lostInARow: number;
  /** Replies in a row, also in bursts, that are none of the target's own answers. */
  silentInARow: number;
  /** Answers of the service, by endpoint. */
  readonly answered: Record<Endpoint, number>;
  keyWorks: boolean | undefined;
  /** How often each id was refused in a row: only 429s that begin or prolong a pause. By endpoint and id. */
  readonly refusals: Map<string, number>;
  readonly cookies: Cookies;
}

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
      probe: (request) => {
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
    answered: perEndpoint(() => 0),
    load: createLoad(),
    cookies: new Map(),
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
    rateLimited: () => sending.rateLimited,
    /** Whether the key under test was ever accepted; undefined before it was used. */
    keyWorks: () => sending.keyWorks,
    /** Whether the target answers nobody: neither what was sent last, nor plain lookups now. */
    isTargetLost: async (): Promise<boolean> => {
      const isSilent = () => sending.silentInARow > 0;
      for (let nth = 0; nth < MAX_TRIES && isSilent(); nth++)
        await send(plainLookup(present.known), { isAgain: true });
      return sending.silentInARow >= MAX_TRIES;
    },
  };
}

/** A lookup that every server answers, whatever its limits. */
const plainLookup = (known: Known, endpoint: Endpoint = 'user-status') =>
  lookupOf(endpoint, findableId(endpoint, known), { credential: { as: 'none' } });

/** Chooses the key of the partner that may send first; undefined without an active one. */
function withKey({ present: { known }, limiter, losses }: Sending, request: Request): Request | undefined {
  if (request.credential.as !== 'caller') return request;
  if (known.callerKeys.length === 0) return undefined;
  const keys = known.callerKeys.map(({ key }) => key);
  const kept = keys.filter((key) => !losses.isLost(request.endpoint, key));
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
  const { until, isNow = false, isReserved, onRefused, isAhead } = options;
  if (onRefused !== undefined) allowRetry(limiter, askedBy(present.known, asked));
  for (;;) {
    while (isAhead !== true && losses.gate() !== undefined) await losses.gate();
    const withOne = withKey(sending, asked);
    const request = withOne && withCookies(sending, withOne);
    if (request === undefined)
      return { request: asked, reply: trouble('no-fixture', 'the fixture has no active key of a partner') };
    const account = askedBy(present.known, request);
    const refusal =
      losses.troubleOf(request) ??
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

/** Names the lookup or request that the client could not send. */
function asBug(
  error: unknown,
  { method, target }: Request,
  { lookup, of = 'a check of the target' }: SendOptions,
) {
  const what = lookup === undefined ? `${method} ${target} (${of})` : pathOf(lookup);
  return new Error(`${what}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
}

/** Sends a request until it is not lost, at most so many times. */
async function transmit(
  sending: Sending,
  request: Request,
  options: SendOptions,
  most: number,
): Promise<Reply> {
  const { client, present, clock, budget, limiter, load, losses, answered } = sending;
  const { endpoint } = request;
  const wire = wireRequest(request);
  // A burst is sent at once.
  const isLimited = most > 1;
  let [isFrontEnd, isAlone] = [false, false];
  let before: Reply | undefined;
  let sentAt = clock.now();
  for (let tries = 1; ; tries++) {
    const end = await budget.spend(options.isAtOnce);
    // Why there was no answer tells more than that there is no time to ask again.
    if (end !== undefined) return isAlone && before?.kind === 'trouble' ? before : end;
    const answeredBefore = answered[endpoint];
    // What a front end refuses even alone is no matter of load.
    if (isLimited) await load.begin(isAlone || (isFrontEnd && tries === most));
    losses.note(request);
    if (tries === 1) sentAt = clock.now();
    let reply = await clock.during(client.send(wire)).catch((error: unknown) => {
      if (isLimited) load.end(false);
      throw error instanceof Problem ? error : asBug(error, request, options);
    });
    isFrontEnd =
      reply.kind === 'answer' && isFromFrontEnd(reply) && !isOwnPage(present.known, request, reply);
    const isBroken = reply.kind === 'trouble' && reply.code === 'network';
    const isMissing = isBroken || (reply.kind === 'trouble' && reply.code === 'timeout');
    sending.silentInARow = isMissing || isFrontEnd ? sending.silentInARow + 1 : 0;
    if (isLimited) load.end(isFrontEnd || isBroken);
    before = reply;
    if (reply.kind === 'answer' || isMissing) losses.received(!isMissing && !isFrontEnd);
    if (reply.kind === 'answer') {
      if (!isFrontEnd) answered[endpoint]++;
      keepCookies(sending.cookies, request, reply);
      sending.lostInARow = 0;
      if (reply.status !== 429 && showsKey(present.known, request))
        sending.keyWorks = sending.keyWorks === true || reply.status !== 401;
    }
    let isLast = tries >= most || isTargetGone(sending);
    let why: Trouble | undefined;
    if (tries === MAX_TRIES && (isBroken || isFrontEnd) && answered[endpoint] === answeredBefore) {
      // Those that were in flight when the target went down are sent again one at a time.
      isAlone = await losses.silent(request, reply, sentAt, options.isAhead === true);
      isLast = !isAlone;
      if (isAlone) [tries, sending.lostInARow] = [0, 0];
      why = losses.troubleOf(request);
      if (isAlone) load.reset();
      else if (reply.kind === 'trouble' && losses.isAgain()) reply = { ...reply, isJudged: true };
    }
    const isLost = isFrontEnd && (!isLast || most === 1 || why !== undefined);
    note(sending, request, reply, options, isLost, isLimited);
    if (why !== undefined) return why;
    if ((isLost || isBroken) && !isLast) {
      // The target may have counted the lost request.
      const account = askedBy(present.known, request);
      recordReply(limiter, account, undefined, { counted: account.cost > 0, isAdmitted: false });
      continue;
    }
    // A burst may overload a target that recovers afterwards.
    if (most > 1 && isMissing) sending.lostInARow++;
    return reply;
  }
}

/** Passes on an exchange to those who watch all and to those who judge. */
function note(
  { onExchange, losses }: Sending,
  request: Request,
  reply: Reply,
  { of, lookup, isAgain, isAtOnce, isUnjudged: given, onRefused }: SendOptions,
  isFrontEnd: boolean,
  isLimited: boolean,
): void {
  const isUnjudged = typeof given === 'function' ? given(reply) : given;
  const isLost = isFrontEnd || undefined;
  const exchange: RunExchange = { request, reply, of, lookup, isAgain, isAtOnce, isUnjudged, isLost };
  onExchange(exchange);
  const isWatched = isLimited && onRefused === undefined && !isFrontEnd;
  losses.take(exchange, isWatched && isUnjudged !== true && isAgain !== true);
}

const isTargetGone = ({ lostInARow, maxLostInARow }: Sending) => lostInARow >= maxLostInARow;

/** A page for a request about which the interface says nothing may be the target's own. */
const isOwnPage = (known: Known, request: Request, { status }: Answer) =>
  status < 500 && status !== 408 && factsOf(known, request) === undefined;

/** The request as it is sent, with its Authorization header. */
export function wireRequest(request: Request): WireRequest {
  const { method, target, isAbsolute, headers, fieldNames, body, credential } = request;
  const authorization = authorizationOf(credential, undefined);
  const fields = authorization === undefined ? headers : { ...headers, authorization };
  const written =
    fieldNames === undefined
      ? fields
      : Object.fromEntries(
          Object.entries(fields).map(([name, value]) => [writtenName(name, fieldNames), value]),
        );
  return { method, target, headers: written, isAbsolute, body };
}
