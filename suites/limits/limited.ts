import { endpointNames, type Endpoint } from '../../schemas/endpoints.ts';
import type { Answer, Reply } from '../answer.ts';
import { fieldsOf } from '../expectations.ts';
import type { Known } from '../known.ts';
import { findableId, findableLettered } from '../inputs/uuids.ts';
import { lookupOf, type Request } from '../request.ts';
import type { Context, Exchange } from '../scenario-context.ts';
import { othersIn, type TimedRequest } from './history.ts';
import { findableLookup, withTestKey, type Supply } from './kinds.ts';

/** What a limited key got for other requests, and what other keys got. */
export type WhileLimited = Awaited<ReturnType<typeof askWhileLimited>>;

/** Forms that a limiter may count apart. None of them makes it another lookup for a caller. */
const forms: Readonly<Record<string, (request: Request) => Partial<Request>>> = {
  'the id in upper case': ({ target }) => ({ target: target.replace(/(?<==).*/, (id) => id.toUpperCase()) }),
  'an extra parameter': ({ target }) => ({ target: `${target}&page=1` }),
  'a trailing slash': ({ target }) => ({ target: target.replace('?', '/?') }),
  'the scheme bearer': ({ credential }) =>
    credential.as === 'key' ? { credential: { ...credential, scheme: 'bearer' } } : {},
  'X-Forwarded-For: 203.0.113.7': () => ({ headers: { 'x-forwarded-for': '203.0.113.7' } }),
  'header fields of a browser': () => ({
    headers: {
      accept: 'text/html,*/*;q=0.8',
      // Some servers translate the message of a 429.
      'accept-language': 'de-DE,de;q=0.9',
      'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
    },
  }),
};

/** So many requests at once pass only if a form has a counter of its own: a bucket refills too slowly. */
const AT_ONCE = 3;

const isAnswer = (reply: Reply | undefined): reply is Answer => reply?.kind === 'answer';
const isLimited = (reply: Reply | undefined) => isAnswer(reply) && reply.status === 429;

/** A field that only a result of the endpoint has. */
const resultField: Readonly<Record<Endpoint, string>> = {
  'user-status': 'is_under_ib',
  'deposit-check': 'amountInUsd',
};

/** A redirect or an error refuses the form, and a page of another path answers something else. */
const isPassed = (reply: Reply, endpoint: Endpoint) =>
  isAnswer(reply) && reply.status < 300 && fieldsOf(reply)?.[resultField[endpoint]] !== undefined;

/** What each answer shows, by the name of its request. */
const answersTo = <Of>(names: readonly string[], replies: readonly Reply[], show: (answer: Answer) => Of) =>
  Object.fromEntries(
    names.flatMap((name, at) => {
      const reply = replies[at];
      return isAnswer(reply) ? [[name, show(reply)]] : [];
    }),
  );

/** Sends requests at once. Adds those that may have been counted to a history. */
type Ask = (...requests: readonly Request[]) => Promise<readonly Reply[]>;

/** Asks with a limited key, in other forms too, and with other keys. */
export async function askWhileLimited(endpoint: Endpoint, context: Context, known: Known, { next }: Supply) {
  const history: TimedRequest[] = [];
  const ask: Ask = async (...requests) => {
    const replies = await context.burst(...requests);
    history.push(...othersIn(replies));
    return replies;
  };
  const findable = findableId(endpoint, known);
  const badKey = { as: 'header', value: 'Bearer nobody', shell: 'Bearer nobody' } as const;
  const asked = {
    'a known id': findableLookup(endpoint, known),
    'an invalid id': withTestKey(known, lookupOf(endpoint, 'invalid')),
    'an unknown key': lookupOf(endpoint, findable, { credential: badKey }),
  };
  const keys = [...known.callerKeys.slice(1, 2), ...known.otherKeys.slice(0, 1)];
  const byKey = keys.map((key) => lookupOf(endpoint, findable, { credential: { as: 'key', key } }));
  const replies = await ask(...Object.values(asked), ...byKey);
  const statuses = answersTo(Object.keys(asked), replies, ({ status }) => status);
  const names = keys.map(({ name }) => name);
  // The 429 of the other endpoint needs its own text.
  await context.burst(
    ...endpointNames.flatMap((one) => (one === endpoint ? [] : findableLookup(one, known))),
  );
  const { target } = lookupOf(endpoint, findableLettered(endpoint, known));
  const plain = statuses['a known id'] === 429 ? { ...asked['a known id'], target } : next();
  return {
    /** A request that the limiter refuses. If possible, its answer shows data. */
    plain,
    /** Statuses of other requests of the limited key and of one with an unknown key, by name. */
    statuses,
    /** Whether other keys are limited too, by key name. */
    others: answersTo(names, replies.slice(3), isLimited),
    ...(await tryForms(plain, ask)),
    /** The requests that may have been counted. */
    history,
  };
}

/** Asks in other forms with a limited key. */
async function tryForms(plain: Request, ask: Ask) {
  const tried = Object.entries(forms).map(([form, change]) => ({
    form,
    request: { ...plain, ...change(plain) },
  }));
  // Alone: some limiters let requests in flight pass.
  const [first] = await ask(plain);
  const replies = await ask(...tried.map(({ request }) => request));
  const passes = (reply: Reply) => isPassed(reply, plain.endpoint);
  const often = (request: Request) => Array.from({ length: AT_ONCE }, () => request);
  const passesAgain = async (request: Request) =>
    (await ask(...often(request))).every(passes) && (await ask(...often(plain))).every(isLimited);
  let passed: (Exchange & { readonly form: string }) | undefined;
  for (const [at, one] of isLimited(first) ? tried.entries() : []) {
    const reply = replies[at]!;
    if (
      passed === undefined &&
      passes(reply) &&
      (await passesAgain(one.request)) &&
      (await passesAgain(one.request))
    )
      passed = { ...one, reply };
  }
  return {
    /** Whether the plain request was still limited. */
    isLimited: isLimited(first),
    /** Number of forms that were answered. */
    cases: replies.filter(isAnswer).length,
    /** A form that passed, again and again, while the plain form got 429. */
    passed,
  };
}
