import { endpointNames, type Endpoint } from '../../schemas/endpoints.ts';
import type { Answer, Reply } from '../answer.ts';
import { fieldsOf } from '../expectations.ts';
import type { Known } from '../known.ts';
import { findableLettered } from '../inputs/uuids.ts';
import { lookupOf, type Request } from '../request.ts';
import type { Context, Exchange } from '../scenario-context.ts';
import { othersIn, type TimedRequest } from './history.ts';
import { findableLookup, type LimitedProbe, type Supply } from './kinds.ts';

/** What a limited key got for other forms of a request. */
export interface WaysAround {
  /** Whether the plain form was limited too. */
  readonly isLimited: boolean;
  /** Number of forms that were answered. */
  readonly cases: number;
  /** A form that passed, again and again, while the plain form got 429. */
  readonly passed?: Exchange & { readonly form: string };
  /** The requests that may have been counted. */
  readonly history: readonly TimedRequest[];
}

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
      'accept-language': 'de-DE,de;q=0.9',
      'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
    },
  }),
};

/** So many requests at once pass only if a form has a counter of its own: a bucket refills too slowly. */
const AT_ONCE = 3;

/** A form passes so often before it counts as a way around. */
const ROUNDS = 2;

const isAnswer = (reply: Reply | undefined): reply is Answer => reply?.kind === 'answer';
const isLimited = (reply: Reply | undefined) => isAnswer(reply) && reply.status === 429;

/** A field that only a result of the endpoint has. */
const resultField: Readonly<Record<Endpoint, string>> = {
  'user-status': 'is_under_ib',
  'deposit-check': 'amountInUsd',
};

/** A redirect or an error refuses the form, and a page of another path answers something else. */
const isPassed = (reply: Reply | undefined, endpoint: Endpoint) =>
  isAnswer(reply) && reply.status < 300 && fieldsOf(reply)?.[resultField[endpoint]] !== undefined;

/** The request whose answer shows data, if it is limited too; else one of the kind that is. */
export const plainRequest = (
  endpoint: Endpoint,
  known: Known,
  { statuses }: LimitedProbe,
  supply: Supply,
): Request => {
  if (statuses['a known id'] !== 429) return supply.next();
  const { target } = lookupOf(endpoint, findableLettered(endpoint, known));
  return { ...findableLookup(endpoint, known), target };
};

/** Asks in other forms with a limited key. The other endpoint is asked once: its 429 needs its own text. */
export async function tryWaysAround(context: Context, known: Known, plain: Request): Promise<WaysAround> {
  const history: TimedRequest[] = [];
  const burst = async (...requests: readonly Request[]) => {
    const replies = await context.burst(...requests);
    // A form that is refused may count or not.
    history.push(...othersIn(replies));
    return replies;
  };
  const others = endpointNames.filter((one) => one !== plain.endpoint);
  await context.burst(...others.map((one) => findableLookup(one, known)));
  const entries = Object.entries(forms).map(([form, change]) => ({
    form,
    request: { ...plain, ...change(plain) },
  }));
  // Alone: some limiters let requests in flight pass.
  const [first] = await burst(plain);
  const replies = await burst(...entries.map(({ request }) => request));
  const cases = replies.filter(isAnswer).length;
  if (!isLimited(first)) return { isLimited: false, cases, history };
  for (const [at, { form, request }] of entries.entries()) {
    if (!isPassed(replies[at], plain.endpoint)) continue;
    let reply: Reply | undefined;
    let rounds = 0;
    for (; rounds < ROUNDS; rounds++) {
      const passes = await burst(...Array.from({ length: AT_ONCE }, () => request));
      const plains = await burst(...Array.from({ length: AT_ONCE }, () => plain));
      if (!passes.every((one) => isPassed(one, plain.endpoint)) || !plains.every(isLimited)) break;
      [reply] = passes;
    }
    if (rounds === ROUNDS)
      return { isLimited: true, cases, passed: { form, request, reply: reply! }, history };
  }
  return { isLimited: true, cases, history };
}
