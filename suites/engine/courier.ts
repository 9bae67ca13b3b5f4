import type { Answer, Reply, Trouble } from '../answer.ts';
import { findableId } from '../inputs/uuids.ts';
import type { Known, KnownKey } from '../known.ts';
import { fingerprint, lookupOf, type Request } from '../request.ts';
import type { Doors } from '../requirement.ts';
import type { Client, WireTrouble } from './client.ts';
import type { Quota } from './quota.ts';

/** A request as it went out, and what came of it. */
export interface Delivery {
  readonly request: Request;
  readonly reply: Reply;
}

export interface CourierOptions {
  readonly client: Client;
  readonly known: Known;
  readonly quota: Quota;
  readonly signal: AbortSignal;
  /** Requests without an answer, in a row, after which the target counts as gone. */
  readonly mostTroubles: number;
  /** Sees every answer as it arrives. */
  readonly onAnswer: (request: Request, answer: Answer) => void;
}

/** Carries requests to the target and replies back, whatever limiters and the network do meanwhile. */
export interface Courier {
  /** Waits out 429s; sends again what broke on the way. */
  readonly deliver: (request: Request) => Promise<Delivery>;
  /** As `deliver`, but equal requests share the first delivery. */
  readonly share: (request: Request) => Promise<Delivery>;
  /** A 429 is an answer like any other. */
  readonly deliverAnyway: (request: Request) => Promise<Delivery>;
  readonly settle: Doors['settle'];
  /** Requests so far, and the 429s among their answers that were waited out. */
  readonly sent: () => number;
  readonly rateLimited: () => number;
  /** Whether any answer to the key under test was other than 401; undefined before there was one. */
  readonly keyWorks: () => boolean | undefined;
}

/** A connection that breaks is tried so many times: a server may close an idle one at any moment (RFC 9112 9.3.1). */
const TRIES = 3;

export function createCourier(options: CourierOptions): Courier {
  const { client, known, quota, signal, mostTroubles, onAnswer } = options;
  const shared = new Map<string, Promise<Delivery>>();
  const issued = new Set(known.everyKey.map(({ key }) => key));
  const callers = known.callerKeys.map(({ key }) => key);
  const keyNamed = new Map(known.everyKey.map((key) => [key.key, key]));
  let sent = 0;
  let rateLimited = 0;
  let troublesInARow = 0;
  let keyWorks: boolean | undefined;

  /** Puts a key in the caller's place; undefined where there is none. */
  const resolve = (request: Request): Request | undefined => {
    if (request.credential.as !== 'caller') return request;
    if (callers.length === 0) return undefined;
    const key = keyNamed.get(quota.soonest(request.endpoint, callers))!;
    return { ...request, credential: { as: 'key', key } };
  };

  const transmit = async (request: Request): Promise<Answer | WireTrouble> => {
    const authorization = authorizationOf(request);
    const wire = {
      method: request.method,
      target: request.target,
      headers: authorization === undefined ? request.headers : { ...request.headers, authorization },
      ...(request.body === undefined ? {} : { body: request.body }),
    };
    let result = await sendOnce();
    for (
      let again = 1;
      again < TRIES && result.kind === 'trouble' && result.code === 'network' && !isGone() && !signal.aborted;
      again++
    )
      result = await sendOnce();
    if (result.kind === 'trouble') troublesInARow++;
    return result;

    async function sendOnce() {
      sent++;
      const reply = await client.send(wire);
      if (reply.kind === 'answer') {
        troublesInARow = 0;
        if (
          request.credential.as === 'key' &&
          callers.includes(request.credential.key.key) &&
          reply.status !== 429
        )
          keyWorks = keyWorks === true || reply.status !== 401;
        onAnswer(request, reply);
      }
      return reply;
    }
  };

  const isGone = () => troublesInARow >= mostTroubles;

  const attempt = async (asked: Request, anyway: boolean): Promise<Delivery> => {
    for (;;) {
      const request = resolve(asked);
      if (request === undefined)
        return { request: asked, reply: trouble('no-fixture', 'the fixture has no active key of a partner') };
      const end = quota.ended();
      if (end !== undefined) return { request, reply: end };
      if (isGone())
        return {
          request,
          reply: trouble('network', 'the target stopped answering, so nothing more was sent'),
        };
      const account = accountName(request, issued);
      const price = priceOf(request, known);
      const refusal = anyway ? undefined : await quota.admit(request.endpoint, account, price);
      if (refusal !== undefined) return { request, reply: refusal };
      const reply = await transmit(request);
      quota.note(request.endpoint, account, price, reply.kind === 'answer' ? reply : undefined, !anyway);
      if (signal.aborted && reply.kind === 'trouble')
        return { request, reply: trouble('interrupted', 'the run was interrupted') };
      if (anyway || reply.kind === 'trouble' || reply.status !== 429) return { request, reply };
      rateLimited++;
    }
  };

  const deliver = (request: Request) => attempt(request, false);
  return {
    deliver,
    share: (request) => {
      const name = fingerprint(request);
      const first = shared.get(name) ?? deliver(request);
      shared.set(name, first);
      return first;
    },
    deliverAnyway: (request) => attempt(request, true),
    settle: async (endpoint) => {
      const [key] = known.callerKeys;
      if (key === undefined) return;
      await quota.settle(endpoint, key.key);
      await deliver(lookupOf(endpoint, findableId(endpoint, known), { credential: { as: 'key', key } }));
      await quota.settle(endpoint, key.key);
    },
    sent: () => sent,
    rateLimited: () => rateLimited,
    keyWorks: () => keyWorks,
  };
}

function trouble(code: Trouble['code'], words: string): Trouble {
  return { kind: 'trouble', code, words };
}

function authorizationOf({ credential }: Request): string | undefined {
  switch (credential.as) {
    case 'key':
      return `${credential.scheme ?? 'Bearer'} ${credential.key.key}`;
    case 'header':
      return credential.value;
    case 'caller':
    case 'none':
      return undefined;
  }
}

/** Whose account a request is put on; the empty name is that of everybody without an issued key. */
function accountName({ credential }: Request, issued: ReadonlySet<string>): string {
  return credential.as === 'key' && issued.has(credential.key.key) ? credential.key.key : '';
}

/** What a request may cost at the limiter: found members are no failed lookups, all else may count. */
function priceOf({ endpoint, target, credential }: Request, known: Known): 0 | 1 {
  if (credential.as !== 'key') return 0;
  if (endpoint === 'deposit-check') return 1;
  const id = /^[^?]*\?user_id=([0-9a-f-]{36})$/i.exec(target)?.[1]?.toLowerCase();
  return id !== undefined && isOwn(known, credential.key, id) ? 0 : 1;
}

const isOwn = (known: Known, key: KnownKey, user_id: string) =>
  key.partner !== null && known.partnerOfUser.get(user_id) === key.partner;
