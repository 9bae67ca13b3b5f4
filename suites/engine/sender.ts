import type { Endpoint } from '../../schemas/endpoints.ts';
import { isFromFrontEnd, NOT_SENT, trouble, type Answer, type Reply, type Trouble } from '../answer.ts';
import { authorizationOf, factsOf, showsKey } from '../rules/facts-of-request.ts';
import { findableId, unknownIds } from '../inputs/uuids.ts';
import { waitWords } from '../../schemas/progress.ts';
import { Problem } from '../../schemas/problem.ts';
import type { Known, KnownKey, Present } from '../known.ts';
import { pathOf } from '../plan/lookup.ts';
import { idOf, lookupOf, writtenName, type Request } from '../request.ts';
import type { Exchange } from '../rules/scenario-context.ts';
import { createLoad, type Budget } from './budget.ts';
import type { Client, WireRequest } from './client.ts';
import { askedBy, isCounted } from '../limits/limit.ts';
import {
  admit,
  allowRetry,
  endPause,
  firstKey,
  longestWindowMs,
  recordReply,
  sleep,
  turnOf,
  waitForQuiet,
  type Limiter,
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
}

export interface SenderOptions extends Pick<RunOptions, 'known' | 'clock' | 'signal' | 'headers'> {
  readonly present: Pick<Present, 'known'>;
  readonly client: Client;
  readonly budget: Budget;
  readonly limiter: Limiter;
  /** When the run must end, in ms of the clock. */
  readonly deadline: number;
  /** After so many consecutive requests without an answer, the target counts as gone. */
  readonly maxLostInARow: number;
  /** Gets every exchange as it ends. */
  readonly onExchange: (exchange: RunExchange) => void;
}

export type Sender = ReturnType<typeof createSender>;

/** Maximum number of tries if the connection breaks: a server may close an idle one at any time (RFC 9112 9.3.1). */
const MAX_TRIES = 3;

/** While the target is down, a lookup is sent after each pause of so many ms, at most so many times. */
const [PAUSE_MS, MAX_PAUSES] = [500, 10];

/**
 * After a wait in vain, the run waits again only after so many times as many answers. A framework that writes its own
 * errors as pages looks like a target that is down.
 */
const WAITS_AGAIN = 10;

/** Everything that requests in flight share. */
interface Sending extends SenderOptions {
  readonly load: ReturnType<typeof createLoad>;
  /** Number of 429s that were waited for. */
  rateLimited: number;
  lostInARow: number;
  /** Replies in a row, also in bursts, that are none of the target's own answers. */
  silentInARow: number;
  answered: number;
  /** The run waits for the target only after so many answers. */
  waitsAfter: number;
  /** While the target is down: whether it comes back. All requests wait for it. */
  outage: Promise<boolean> | undefined;
  keyWorks: boolean | undefined;
  /** How often each id was refused in a row: only 429s that begin or prolong a pause. By endpoint and id. */
  readonly refusals: Map<string, number>;
  /** Cookies that the target set in right answers, by key. */
  readonly cookies: Map<string | undefined, Map<string, string>>;
}

/** Sends requests to the target, waits for rate limits, and retries lost requests. */
export function createSender(setup: SenderOptions) {
  const { present, limiter } = setup;
  const counts = { rateLimited: 0, lostInARow: 0, silentInARow: 0, answered: 0, waitsAfter: 0 };
  const sending: Sending = {
    ...setup,
    ...counts,
    load: createLoad(),
    cookies: new Map(),
    refusals: new Map(),
    outage: undefined,
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
function withKey({ present: { known }, limiter }: Sending, request: Request): Request | undefined {
  if (request.credential.as !== 'caller') return request;
  if (known.callerKeys.length === 0) return undefined;
  const usable = known.callerKeys.map(({ key }) => key);
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

/**
 * Adds cookies that the target has set, if a request sends them back. A key of the partner has no use for them, except
 * its own once it is revoked.
 */
function withCookies({ known, cookies, headers }: Sending, request: Request): Request {
  const { cookies: which, credential } = request;
  if (which === undefined) return request;
  const key = credential.as === 'key' ? credential.key : undefined;
  const isOurs = known.callerKeys.some((one) => one === key);
  if (which === 'of ours' && isOurs) return request;
  const kept = cookies.get(which === 'of the key' ? key?.key : known.callerKeys[0]?.key);
  if (kept === undefined) return request;
  const set = [...kept].map(([name, value]) => `${name}=${value}`);
  const all = [headers['cookie'], request.headers['cookie'], ...set].filter((one) => one !== undefined);
  return { ...request, headers: { ...request.headers, cookie: all.join('; ') } };
}

/** Keeps the cookies of a right answer to a key. */
function keepCookies({ cookies }: Sending, { credential }: Request, { status, headers }: Answer): void {
  const fields = headers['set-cookie'];
  if (status !== 200 || fields === undefined || credential.as !== 'key') return;
  const kept = cookies.get(credential.key.key) ?? new Map<string, string>();
  cookies.set(credential.key.key, kept);
  for (const field of fields) {
    const [, name, value] = /^\s*([^=;\s]+)=([^;]*)/.exec(field) ?? [];
    if (name !== undefined && value !== undefined) kept.set(name, value.trim());
  }
}

/** Sends a request when its turn comes, and again after 429 unless `isOnce`. */
async function attempt(
  sending: Sending,
  asked: Request,
  isOnce: boolean,
  options: SendOptions = {},
): Promise<Exchange> {
  const { present, clock, budget, limiter, signal } = sending;
  const { until, isNow = false, isReserved, onRefused } = options;
  if (onRefused !== undefined) allowRetry(limiter, askedBy(present.known, asked));
  for (;;) {
    if (sending.outage !== undefined) await sending.outage;
    const withOne = withKey(sending, asked);
    const request = withOne && withCookies(sending, withOne);
    if (request === undefined)
      return { request: asked, reply: trouble('no-fixture', 'the fixture has no active key of a partner') };
    const account = askedBy(present.known, request);
    const refusal =
      budget.ended(until) ??
      (isTargetGone(sending)
        ? trouble('network', NOT_SENT)
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
  const { client, present, clock, budget, limiter, load, onExchange } = sending;
  const wire = wireRequest(request);
  // A burst is sent at once.
  const isLimited = most > 1;
  let isFrontEnd = false;
  for (let tries = 1; ; tries++) {
    const end = await budget.spend(options.isAtOnce);
    if (end !== undefined) return end;
    const answeredBefore = sending.answered;
    // What a front end refuses even alone is no matter of load.
    if (isLimited) await load.begin(isFrontEnd && tries === most);
    const reply = await clock.during(client.send(wire)).catch((error: unknown) => {
      if (isLimited) load.end(false);
      throw error instanceof Problem ? error : asBug(error, request, options);
    });
    isFrontEnd =
      reply.kind === 'answer' && isFromFrontEnd(reply) && !isOwnPage(present.known, request, reply);
    const isBroken = reply.kind === 'trouble' && reply.code === 'network';
    const isMissing = isBroken || (reply.kind === 'trouble' && reply.code === 'timeout');
    sending.silentInARow = isMissing || isFrontEnd ? sending.silentInARow + 1 : 0;
    if (isLimited) load.end(isFrontEnd || isBroken);
    if (reply.kind === 'answer') {
      if (!isFrontEnd) sending.answered++;
      keepCookies(sending, request, reply);
      sending.lostInARow = 0;
      if (reply.status !== 429 && showsKey(present.known, request))
        sending.keyWorks = sending.keyWorks === true || reply.status !== 401;
    }
    let isLast = tries >= most || isTargetGone(sending);
    const isSilent = (isBroken || isFrontEnd) && sending.answered === answeredBefore;
    if (tries === MAX_TRIES && isSilent && sending.answered > sending.waitsAfter) {
      sending.outage ??= waitUntilBack(sending, request.endpoint).finally(() => (sending.outage = undefined));
      isLast = !(await sending.outage);
    }
    const isLost = isFrontEnd && (!isLast || most === 1);
    const { of, lookup, isAgain, isAtOnce } = options;
    const isUnjudged =
      typeof options.isUnjudged === 'function' ? options.isUnjudged(reply) : options.isUnjudged;
    onExchange({ request, reply, of, lookup, isAgain, isAtOnce, isUnjudged, isLost: isLost || undefined });
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

const isTargetGone = ({ lostInARow, maxLostInARow }: Sending) => lostInARow >= maxLostInARow;

/** A page for a request about which the interface says nothing may be the target's own. */
const isOwnPage = (known: Known, request: Request, { status }: Answer) =>
  status < 500 && status !== 408 && factsOf(known, request) === undefined;

/**
 * Waits while the target is down, for example because it restarts.
 *
 * @returns whether it was down and is back; not if it answers at once: then it does not answer the lost lookup
 */
async function waitUntilBack(sending: Sending, endpoint: Endpoint): Promise<boolean> {
  const { present, clock, budget, limiter, deadline } = sending;
  for (let pauses = 0; pauses <= MAX_PAUSES && budget.ended() === undefined; pauses++) {
    const until = Math.min(clock.now() + PAUSE_MS, deadline);
    if (pauses > 0) await sleep(limiter, { until, reason: 'lost-target', why: waitWords['lost-target'] });
    const reply = await transmit(sending, plainLookup(present.known, endpoint), {}, 1);
    if (reply.kind === 'answer' && !isFromFrontEnd(reply)) {
      sending.load.reset();
      return pauses > 0;
    }
  }
  sending.waitsAfter = WAITS_AGAIN * sending.answered;
  return false;
}

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
