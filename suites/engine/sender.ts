import { defined } from '../../schemas/defined.ts';
import type { Endpoint } from '../../schemas/endpoints.ts';
import { isFromFrontEnd, NOT_SENT, trouble, type Answer, type Reply } from '../answer.ts';
import { authorizationOf, factsOf } from '../facts-of-request.ts';
import { findableId } from '../inputs/uuids.ts';
import type { KnownKey } from '../known.ts';
import { lookupOf, writtenName, type Request } from '../request.ts';
import type { Context, Exchange } from '../scenario-context.ts';
import type { Budget } from './budget.ts';
import type { Client, WireRequest } from './client.ts';
import type { RunExchange } from './events.ts';
import { askedBy, isCounted } from '../limits/costs.ts';
import type { Turn } from '../limits/account.ts';
import type { Waiter } from '../limits/waiter.ts';
import type { RunOptions } from './run-options.ts';

export interface SendOptions extends Pick<RunExchange, 'of' | 'path' | 'isAgain' | 'isAtOnce'> {
  /** Latest time to wait for a limiter, in ms of the clock. */
  readonly until?: number | undefined;
  /** Whether not to wait: a request that may not be sent now is not sent, and a 429 is its answer. */
  readonly isNow?: boolean;
  /** Gets each 429 before the retry. */
  readonly onRefused?: (answer: Answer) => void;
}

export interface SenderOptions extends Pick<RunOptions, 'known' | 'clock' | 'signal'> {
  readonly client: Client;
  readonly budget: Budget;
  readonly waiter: Waiter;
  /** When the run must end, in ms of the clock. */
  readonly deadline: number;
  /** After so many consecutive requests without an answer, the target counts as gone. */
  readonly maxLostInARow: number;
  /** Whether a key was revoked during the run, so that it is not used any more. */
  readonly wasRevoked: (key: KnownKey) => boolean;
  /** Gets every exchange as it ends. */
  readonly onExchange: (exchange: RunExchange) => void;
}

export type Sender = ReturnType<typeof createSender>;

/** Maximum number of tries if the connection breaks: a server may close an idle one at any time (RFC 9112 9.3.1). */
const MAX_TRIES = 3;

/** While the target is down, a lookup is sent after each pause of so many ms, until it answers. */
const PAUSE_MS = 500;

/** After so many pauses without an answer, the target is not expected to come back. */
const MAX_PAUSES = 10;

/** Sends requests to the target, waits for rate limits, and retries lost requests. */
export function createSender(setup: SenderOptions) {
  const { client, known, clock, budget, waiter, signal, deadline, maxLostInARow, wasRevoked, onExchange } =
    setup;
  const callers = known.callerKeys.map(({ key }) => key);
  let rateLimited = 0;
  let lostInARow = 0;
  let answered = 0;
  /** Number of answers when the run last waited in vain. It waits again only after another answer. */
  let givenUpAt = 0;
  /** While the target is down: whether it comes back. All requests wait for it. */
  let outage: Promise<boolean> | undefined;
  let keyWorks: boolean | undefined;

  const resolve = (request: Request): Request | undefined => {
    if (request.credential.as !== 'caller') return request;
    if (callers.length === 0) return undefined;
    const { endpoint, cost } = askedBy(known, request);
    const usable = known.callerKeys.filter((one, at) => at === 0 || !wasRevoked(one)).map(({ key }) => key);
    const available = waiter.firstAvailable({ endpoint, cost }, usable);
    const key = known.callerKeys.find((one) => one.key === available)!;
    return { ...request, credential: { as: 'key', key } };
  };

  /**
   * Waits while the target is down, for example because it restarts.
   *
   * @returns whether it was down and is back; not if it answers at once: then it does not answer the lost lookup
   */
  const waitUntilBack = async (endpoint: Endpoint): Promise<boolean> => {
    const plain = lookupOf(endpoint, findableId(endpoint, known), { credential: { as: 'none' } });
    for (let pauses = 0; pauses <= MAX_PAUSES && budget.ended() === undefined; pauses++) {
      if (pauses > 0) await clock.sleep(Math.min(PAUSE_MS, deadline - clock.now()), signal);
      const reply = await transmit(plain, {}, 1);
      if (reply.kind === 'answer' && !isFromFrontEnd(reply)) return pauses > 0;
    }
    givenUpAt = answered;
    return false;
  };

  const transmit = async (request: Request, options: SendOptions, most: number): Promise<Reply> => {
    const wire = wireRequest(request);
    for (let tries = 1; ; tries++) {
      const end = await budget.spend(options.isAtOnce);
      if (end !== undefined) return end;
      const answeredBefore = answered;
      const reply = await clock.during(client.send(wire));
      const isFrontEnd = reply.kind === 'answer' && isFromFrontEnd(reply) && !isOwnPage(request, reply);
      if (reply.kind === 'answer' && !isFrontEnd) answered++;
      if (reply.kind === 'answer') {
        lostInARow = 0;
        if (showsKey(request) && reply.status !== 429) keyWorks = keyWorks === true || reply.status !== 401;
      }
      const isBroken = reply.kind === 'trouble' && reply.code === 'network';
      let isLast = tries >= most || isTargetGone();
      const isSilent = (isBroken || isFrontEnd) && answered === answeredBefore;
      if (tries === MAX_TRIES && isSilent && answered > givenUpAt) {
        outage ??= waitUntilBack(request.endpoint).finally(() => (outage = undefined));
        isLast = !(await outage);
      }
      const isLost = isFrontEnd && (!isLast || most === 1);
      const { of, path, isAgain, isAtOnce } = options;
      onExchange(defined({ request, reply, of, path, isAgain, isAtOnce, isLost: isLost || undefined }));
      if ((isLost || isBroken) && !isLast) {
        // The target may have counted the lost request.
        const account = askedBy(known, request);
        waiter.record(account, undefined, account.cost > 0, false);
        continue;
      }
      // A burst may overload a target that recovers afterwards.
      if (most > 1 && reply.kind === 'trouble' && (isBroken || reply.code === 'timeout')) lostInARow++;
      return reply;
    }
  };

  /** A page for a request about which the interface says nothing may be the target's own. */
  const isOwnPage = (request: Request, { status }: Answer) =>
    status < 500 && status !== 408 && factsOf(known, request) === undefined;

  /** Whether the answer shows if the key under test is accepted: other requests may be refused before the key is read. */
  const showsKey = (request: Request): boolean => {
    const { credential } = request;
    if (credential.as !== 'key' || !callers.includes(credential.key.key)) return false;
    const facts = factsOf(known, request);
    return facts?.key === 'accepted' && facts.parameter === 'plain';
  };

  const isTargetGone = () => lostInARow >= maxLostInARow;

  const attempt = async (asked: Request, isOnce: boolean, options: SendOptions = {}): Promise<Exchange> => {
    const { until, isNow = false, onRefused } = options;
    if (onRefused !== undefined) waiter.allowRetry(askedBy(known, asked));
    for (;;) {
      await outage;
      const request = resolve(asked);
      if (request === undefined)
        return { request: asked, reply: trouble('no-fixture', 'the fixture has no active key of a partner') };
      const account = askedBy(known, request);
      const refusal =
        budget.ended(until) ??
        (isTargetGone()
          ? trouble('network', NOT_SENT)
          : isOnce
            ? undefined
            : await waiter.admit(account, isNow ? clock.now() : until));
      if (refusal !== undefined) return { request, reply: refusal };
      const reply = await transmit(request, options, isOnce ? 1 : MAX_TRIES);
      const answer = reply.kind === 'answer' ? reply : undefined;
      const counted = answer === undefined ? account.cost > 0 : isCounted(account, answer);
      waiter.record(account, answer, counted, !isOnce);
      if (answer === undefined && signal.aborted)
        return { request, reply: trouble('interrupted', 'the run was interrupted') };
      if (isOnce || answer?.status !== 429) return { request, reply };
      rateLimited++;
      onRefused?.(answer);
      if (isNow) return { request, reply };
    }
  };

  /** Waits after 429 and retries lost requests. */
  const send = (request: Request, options?: SendOptions) => attempt(request, false, options);
  const waitForReset: Context['waitForReset'] = async (endpoint) => {
    const [key] = known.callerKeys;
    if (key === undefined) return;
    await send(lookupOf(endpoint, findableId(endpoint, known), { credential: { as: 'key', key } }));
    await waiter.waitForReset(endpoint);
  };
  return {
    send,
    /** When a request may be sent, by what is known now. */
    turnOf: (request: Request): Turn => waiter.turnOf(askedBy(known, resolve(request) ?? request)),
    /** Never retries: a 429 is an answer like any other. */
    sendOnce: (request: Request, options?: SendOptions) => attempt(request, true, options),
    waitForQuiet: waiter.waitForQuiet,
    longestWindowMs: waiter.longestWindowMs,
    isContradicted: waiter.isContradicted,
    waitForReset,
    rateLimited: () => rateLimited,
    /** Whether the key under test was ever accepted; undefined before it was used. */
    keyWorks: () => keyWorks,
  };
}

/** The request as it is sent, with its Authorization header. */
export function wireRequest(request: Request): WireRequest {
  const { method, target, isAbsolute, headers, fieldNames, body, credential } = request;
  const authorization = authorizationOf(credential, undefined);
  const fields = Object.entries({ ...headers, ...defined({ authorization }) });
  return defined({
    method,
    target,
    isAbsolute,
    headers: Object.fromEntries(fields.map(([name, value]) => [writtenName(name, fieldNames), value])),
    body,
  });
}
