import type { Endpoint } from '../../schemas/endpoints.ts';
import { Problem } from '../../schemas/problem.ts';
import { isFromFrontEnd, type Answer, type Reply, type Trouble } from '../answer.ts';
import type { RunExchange } from '../judging/evaluation.ts';
import type { Known } from '../known.ts';
import { askedBy } from '../limits/limit.ts';
import { recordReply } from '../limits/limiter.ts';
import { pathOf } from '../plan/lookup.ts';
import { writtenName, type Request } from '../request.ts';
import { authorizationOf, factsOf, showsKey } from '../rules/facts-of-request.ts';
import type { createLoad } from './budget.ts';
import type { Client, WireRequest } from '../client/client.ts';
import { keepCookies, type Cookies } from '../client/fields.ts';
import {
  isSentAgain,
  noteReply,
  noteRequest,
  troubleOf,
  wasDownAgain,
  type LossOptions,
  type Losses,
} from './losses.ts';
import type { RunOptions } from './run-options.ts';
import { take } from './suspects.ts';

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
    Omit<LossOptions, 'untilQuiet' | 'askOnce' | 'askAgain'> {
  readonly client: Client;
  /** After so many consecutive requests without an answer, the target counts as gone. */
  readonly maxLostInARow: number;
  /** Gets every exchange as it ends. */
  readonly onExchange: (exchange: RunExchange) => void;
}

/** Maximum number of tries if the connection breaks: a server may close an idle one at any time (RFC 9112 9.3.1). */
export const MAX_TRIES = 3;

/** Everything that requests in flight share. */
export interface Sending extends SenderOptions {
  readonly losses: Losses;
  readonly load: ReturnType<typeof createLoad>;
  /** Number of 429s that were waited for. */
  rateLimited: number;
  lostInARow: number;
  /** Replies in a row, also in bursts, that are none of the target's own answers. */
  silentInARow: number;
  /** Since when and until when no answer came, and the longest time that an answer took, in ms. */
  readonly silence: { from: number; to: number; answeredAt: number; longestMs: number };
  /** Answers of the service, by endpoint. */
  readonly answered: Record<Endpoint, number>;
  keyWorks: boolean | undefined;
  /** How often each id was refused in a row: only 429s that begin or prolong a pause. By endpoint and id. */
  readonly refusals: Map<string, number>;
  readonly cookies: Cookies;
  /** Makes the traceparent of a request; undefined if none is sent. */
  traceOf: ((request: Request) => string) | undefined;
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
export async function transmit(
  sending: Sending,
  request: Request,
  options: SendOptions,
  most: number,
): Promise<Reply> {
  const { client, present, clock, budget, limiter, load, losses, answered, onExchange } = sending;
  const { endpoint } = request;
  const wire = wireRequest(request);
  // A burst is sent at once.
  const isLimited = most > 1;
  let [isFrontEnd, isAlone] = [false, false];
  let before: Reply | undefined;
  let sentAt = clock.now();
  for (let tries = 1; ; tries++) {
    const end = await budget.spend(options.isAtOnce);
    const nth = budget.spent();
    // Why there was no answer tells more than that there is no time to ask again.
    if (end !== undefined) return isAlone && before?.kind === 'trouble' ? before : end;
    const answeredBefore = answered[endpoint];
    // What a front end refuses even alone is no matter of load.
    if (isLimited) await load.begin(isAlone || (isFrontEnd && tries === most));
    noteRequest(losses, request);
    if (tries === 1) sentAt = clock.now();
    const triedAt = clock.now();
    const trace = sending.traceOf?.(request);
    const sent = trace === undefined ? wire : { ...wire, headers: { ...wire.headers, traceparent: trace } };
    const came = await clock.during(client.send(sent)).catch((error: unknown) => {
      if (isLimited) load.end(false);
      throw error instanceof Problem ? error : asBug(error, request, options);
    });
    let reply: Reply = { ...came, ...(trace !== undefined && { trace }), nth };
    isFrontEnd =
      reply.kind === 'answer' && isFromFrontEnd(reply) && !isOwnPage(present.known, request, reply);
    const isBroken = reply.kind === 'trouble' && reply.code === 'network';
    const isMissing = isBroken || (reply.kind === 'trouble' && reply.code === 'timeout');
    sending.silentInARow = isMissing || isFrontEnd ? sending.silentInARow + 1 : 0;
    noteSilence(sending, reply, triedAt);
    if (isLimited) load.end(isFrontEnd || isBroken);
    before = reply;
    if (reply.kind === 'answer' || isMissing) noteReply(losses, !isMissing && !isFrontEnd);
    if (reply.kind === 'answer') {
      if (!isFrontEnd) answered[endpoint]++;
      keepCookies(sending.cookies, request, reply);
      sending.lostInARow = 0;
      if (reply.status !== 429 && showsKey(present.known, request))
        sending.keyWorks = sending.keyWorks === true || reply.status !== 401;
    }
    const exchange = exchangeOf(request, reply, options);
    onExchange(exchange);
    let isLast = tries >= most || isTargetGone(sending);
    let why: Trouble | undefined;
    if (tries === MAX_TRIES && (isBroken || isFrontEnd) && answered[endpoint] === answeredBefore) {
      // Those that were in flight when the target went down are sent again one at a time.
      isAlone = await isSentAgain(losses, request, reply, {
        sentAt,
        isAlone,
        isAhead: options.isAhead === true,
      });
      isLast = !isAlone;
      if (isAlone) [tries, sending.lostInARow] = [0, 0];
      why = troubleOf(losses, request);
      if (isAlone) load.reset();
      else if (reply.kind === 'trouble' && wasDownAgain(losses)) reply = { ...reply, isJudged: true };
    }
    const isLost = isFrontEnd && (!isLast || most === 1 || why !== undefined);
    const isOwn = isLimited && options.onRefused === undefined && !isLost;
    take(losses, { ...exchange, isLost: isLost || undefined }, isOwn && !isOfCrowd(exchange));
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

function exchangeOf(
  request: Request,
  reply: Reply,
  { of, lookup, isAgain, isAtOnce, isUnjudged: given }: SendOptions,
): RunExchange {
  const isUnjudged = typeof given === 'function' ? given(reply) : given;
  return { request, reply, of, lookup, isAgain, isAtOnce, isUnjudged };
}

/** Notes since when no answer comes, also of requests that the end of the run cuts off. */
function noteSilence(sending: Sending, reply: Reply, triedAt: number): void {
  const { clock, silence } = sending;
  const at = clock.now();
  silence.to = at;
  if (reply.kind === 'trouble') {
    silence.from = Math.min(silence.from, Math.max(triedAt, silence.answeredAt));
    return;
  }
  silence.longestMs = Math.max(silence.longestMs, at - triedAt);
  silence.answeredAt = at;
  silence.from = Infinity;
}

/** Crowds, and what confirms a failure, are judged by who sent them. */
const isOfCrowd = ({ isUnjudged, isAtOnce, isAgain }: RunExchange) =>
  isAgain === true || (isUnjudged === true && isAtOnce === true);

export const isTargetGone = ({ lostInARow, maxLostInARow }: Sending) => lostInARow >= maxLostInARow;

/** A 429 is a limiter's, and a page for a request about which the interface says nothing may be the target's own. */
const isOwnPage = (known: Known, request: Request, { status }: Answer) =>
  status === 429 || (status < 500 && status !== 408 && factsOf(known, request) === undefined);

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
