import { isPage, type Answer, type Reply, type Trouble } from '../answer.ts';
import { findableId } from '../inputs/uuids.ts';
import type { Origin } from '../model/factors.ts';
import type { Known } from '../known.ts';
import { authorizationOf } from '../model/lookup.ts';
import { lookupOf, type Request } from '../request.ts';
import type { Context, Exchange } from '../requirement.ts';
import type { Budget } from './budget.ts';
import type { Client, WireRequest } from './client.ts';
import type { Clock } from './clock.ts';
import { priceOf } from './price.ts';
import type { Quota } from './quota.ts';

/** How a request is sent. */
export interface SendOptions {
  /** No limiter is waited for beyond this time, in ms of the clock. */
  readonly until?: number | undefined;
  /** Sees the 429s that are waited out. */
  readonly onRefused?: (answer: Answer) => void;
  /** Id of the requirement that asks. */
  readonly of?: string;
  /** What the lookup was made of. */
  readonly origin?: Origin;
  /** Whether it was sent before, and now only confirms or explains a failure. */
  readonly isAgain?: boolean;
}

export interface SenderOptions {
  readonly client: Client;
  readonly known: Known;
  readonly clock: Clock;
  readonly budget: Budget;
  readonly quota: Quota;
  readonly signal: AbortSignal;
  /** Requests without an answer, in a row, after which the target counts as gone. */
  readonly maxLostInARow: number;
  /** Sees every request that went out and what came of it, as it comes. */
  readonly onExchange: (request: Request, reply: Reply, options: SendOptions, isLost: boolean) => void;
}

/** Sends requests to the target: waits for limiters, and sends again what the network lost. */
export interface Sender {
  /** Waits out 429s; sends again what broke on the way. */
  readonly send: (request: Request, options?: SendOptions) => Promise<Exchange>;
  /** A 429 is an answer like any other, and nothing is sent again. */
  readonly sendOnce: (request: Request, options?: SendOptions) => Promise<Exchange>;
  readonly rest: Context['rest'];
  readonly settle: Context['settle'];
  /** 429s that were waited out so far. */
  readonly rateLimited: () => number;
  /** Whether any answer to the key under test was other than 401; undefined before there was one. */
  readonly keyWorks: () => boolean | undefined;
}

/** A connection that breaks is tried so many times: a server may close an idle one at any moment (RFC 9112 9.3.1). */
const TRIES = 3;

export function createSender(setup: SenderOptions): Sender {
  const { client, known, clock, budget, quota, signal, maxLostInARow, onExchange } = setup;
  const issued = new Set(known.everyKey.map(({ key }) => key));
  const callers = known.callerKeys.map(({ key }) => key);
  const keyNamed = new Map(known.everyKey.map((key) => [key.key, key]));
  let rateLimited = 0;
  let lostInARow = 0;
  let keyWorks: boolean | undefined;

  /** Puts a key in the caller's place; undefined where there is none. */
  const resolve = (request: Request): Request | undefined => {
    if (request.credential.as !== 'caller') return request;
    if (callers.length === 0) return undefined;
    const key = keyNamed.get(quota.soonest(request.endpoint, callers))!;
    return { ...request, credential: { as: 'key', key } };
  };

  const transmit = async (
    request: Request,
    options: SendOptions,
    most: number,
    onLost: () => void,
  ): Promise<Reply> => {
    const wire = wireRequest(request);
    for (let tries = 1; ; tries++) {
      const spent = budget.spend();
      const end = spent instanceof Promise ? await spent : spent;
      if (end !== undefined) return end;
      const reply = await clock.during(client.send(wire));
      if (reply.kind === 'answer') {
        lostInARow = 0;
        const { credential } = request;
        if (credential.as === 'key' && callers.includes(credential.key.key) && reply.status !== 429)
          keyWorks = keyWorks === true || reply.status !== 401;
      }
      const isLast = tries >= most || isGone();
      const isLost = reply.kind === 'answer' && isOfFrontEnd(reply) && (!isLast || most === 1);
      onExchange(request, reply, options, isLost);
      if (isLost && !isLast) {
        onLost();
        continue;
      }
      if (reply.kind === 'answer') return reply;
      if (tries < most && reply.code === 'network' && !isGone()) {
        onLost();
        continue;
      }
      if (isOfTheTarget(reply)) lostInARow++;
      return reply;
    }
  };

  const isGone = () => lostInARow >= maxLostInARow;

  const attempt = async (asked: Request, anyway: boolean, options: SendOptions = {}): Promise<Exchange> => {
    if (options.onRefused !== undefined) quota.reopen(asked.endpoint, accountName(asked, issued));
    for (;;) {
      const request = resolve(asked);
      if (request === undefined)
        return { request: asked, reply: trouble('no-fixture', 'the fixture has no active key of a partner') };
      const end = budget.ended(options.until);
      if (end !== undefined) return { request, reply: end };
      if (isGone())
        return {
          request,
          reply: trouble('network', 'the target stopped answering, so nothing more was sent'),
        };
      const account = accountName(request, issued);
      const price = priceOf(request, known);
      const admitted = anyway ? undefined : quota.admit(request.endpoint, account, price, options.until);
      const refusal = admitted instanceof Promise ? await admitted : admitted;
      if (refusal !== undefined) return { request, reply: refusal };
      // The target may have counted a lost request.
      const reply = await transmit(request, options, anyway ? 1 : TRIES, () =>
        quota.note(request.endpoint, account, price, undefined, false),
      );
      const answered = reply.kind === 'answer' ? reply : undefined;
      quota.note(request.endpoint, account, price, answered, !anyway, options.onRefused !== undefined);
      if (signal.aborted && reply.kind === 'trouble')
        return { request, reply: trouble('interrupted', 'the run was interrupted') };
      if (anyway || reply.kind === 'trouble' || reply.status !== 429) return { request, reply };
      rateLimited++;
      options.onRefused?.(reply);
    }
  };

  const send: Sender['send'] = (request, options) => attempt(request, false, options);
  return {
    send,
    sendOnce: (request, options) => attempt(request, true, options),
    rest: quota.rest,
    settle: async (endpoint) => {
      const [key] = known.callerKeys;
      if (key === undefined) return;
      await send(lookupOf(endpoint, findableId(endpoint, known), { credential: { as: 'key', key } }));
      await quota.settle(endpoint);
    },
    rateLimited: () => rateLimited,
    keyWorks: () => keyWorks,
  };
}

/** Answers that a proxy or a gateway gives in place of the target: the request is sent again. */
function isOfFrontEnd(answer: Answer): boolean {
  const { status } = answer;
  const isErrorPage = status >= 400 && isPage(answer);
  return (
    isErrorPage || status === 408 || (status >= 502 && status <= 504) || (status >= 520 && status <= 527)
  );
}

const isOfTheTarget = ({ code }: Trouble) => code === 'timeout' || code === 'network';

function trouble(code: Trouble['code'], words: string): Trouble {
  return { kind: 'trouble', code, words };
}

/** A request with its key in the Authorization header. */
export function wireRequest(request: Request): WireRequest {
  const { method, target, headers, body, credential } = request;
  const authorization = authorizationOf(credential, undefined);
  return {
    method,
    target,
    headers: authorization === undefined ? headers : { ...headers, authorization },
    ...(body === undefined ? {} : { body }),
  };
}

/** Whose account a request is put on; the empty name is that of everybody without an issued key. */
function accountName({ credential }: Request, issued: ReadonlySet<string>): string {
  return credential.as === 'key' && issued.has(credential.key.key) ? credential.key.key : '';
}
