import { endpoints, type Endpoint } from '../../schemas/endpoints.ts';
import type { Call } from '../exchange.ts';
import { answerWith, editBody, editResponse, setFields, type Difference } from './edits.ts';
import type { Behaviour } from '../behaviour.ts';
import { limiters } from '../limiter-kinds.ts';
import type { Limit } from '../world.ts';
import { answers, define, both, failing, perEndpoint, idsIn, type Faults } from './define.ts';

type EditLimit = (limit: Limit) => Limit | undefined;
const editLimit =
  (which: Endpoint) =>
  (edit: EditLimit) =>
  ({ limit }: Behaviour): Partial<Behaviour> => ({
    limit: (world, endpoint, key) => {
      const found = limit(world, endpoint, key);
      return found === undefined || endpoint !== which ? found : edit(found);
    },
  });

const countedName = { 'user-status': 'failed lookup', 'deposit-check': 'request' } as const;

/** Multiplies the requests and the window of a limit. */
const resized =
  (requests: number, time = 1): EditLimit =>
  ({ most, windowMs }) => ({ most: Math.ceil(most * requests), windowMs: windowMs * time });
const more =
  (requests: number): EditLimit =>
  ({ most, windowMs }) => ({ most: Math.max(1, most + requests), windowMs });

/** Replaces the limiter of deposit-check by another kind with another limit. */
const limiterOfDeposits = {
  id: 'deposit-check',
  what: 'deposit-check has',
  change:
    ([kind, edit]: readonly [keyof typeof limiters, EditLimit]): Difference =>
    (from) => ({ ...editLimit('deposit-check')(edit)(from), count: limiters[kind] }),
};

const userLimit = JSON.stringify({ error: endpoints['user-status'].messages[429] });

/** A limiter with a second counter for some forms of a request. */
const countedApart = {
  id: 'counted-apart-by',
  what: 'Besides the key, the limiter counts apart',
  change:
    (test: (call: Call) => boolean): Difference =>
    ({ limiterKey }) => ({ limiterKey: (call) => `${limiterKey(call)}${test(call) ? ' other' : ''}` }),
};

/** Limiters that start or end too late or too early (rate-limit; Limits). */
export const rateLimitFaults: Faults = {
  ...perEndpoint((endpoint) => {
    const place = { id: endpoint, what: endpoint, change: editLimit(endpoint) };
    const one = countedName[endpoint];
    const row = endpoint === 'user-status' ? 'failed-lookups' : 'requests';
    const when = { endpoint, status: 429 } as const;
    return {
      ...define(place, idsIn('rate-limit', [endpoint], row), {
        'without-limiter: has no limiter': () => undefined,
        [`limit-tenfold: lets ten times the stated number of ${one}s pass`]: resized(10),
        [`limit-one-late: lets one ${one} more pass than stated`]: more(1),
        [`limit-one-early: answers 429 to the last ${one} within the stated limit`]: more(-1),
      }),
      ...failing(idsIn('rate-limit', [endpoint], row), {
        [`${endpoint}-lets-every-fourth-pass: The limiter of ${endpoint} lets every fourth request pass`]: ({
          limit,
        }) => {
          let calls = 0;
          return {
            limit: (world, of, key, call) => {
              const found = limit(world, of, key, call);
              const isSpared = of === endpoint && call !== undefined && ++calls % 4 === 0;
              return found && isSpared ? { ...found, most: Number.POSITIVE_INFINITY } : found;
            },
          };
        },
      }),
      ...define(place, idsIn('rate-limit', [endpoint], 'recovers'), {
        'never-lets-go: never accepts a key again after a 429': resized(1, 1e12),
      }),
      ...define(answers(endpoint, `A 429 of ${endpoint}`, when), idsIn('rate-limit', [endpoint], 'message'), {
        '429-with-second-field: has a second field with the time to wait': setFields({ retryAfter: 3 }),
      }),
    };
  }),
  ...define(countedApart, idsIn('rate-limit', both, 'no-way-around'), {
    'id-case: an id in upper case': ({ value = '' }) => value !== value.toLowerCase(),
    'query: an extra parameter': ({ parameters }) => parameters.length > 1,
    'scheme: each spelling of Bearer': ({ request }) =>
      request.headers.authorization?.startsWith('bearer ') === true,
    'accept: each value of Accept': ({ request }) => request.headers.accept !== undefined,
    'address: each address in X-Forwarded-For': ({ request }) =>
      request.headers['x-forwarded-for'] !== undefined,
  }),
  ...failing(idsIn('rate-limit', ['deposit-check'], 'message'), {
    'one-limiter-for-both: While user-status is limited, deposit-check gets 429 with its text': (from) => {
      const isUsedUp = new Map<string, number>();
      return {
        ...from,
        transform: (response, exchange) => {
          const { call, now, finding } = exchange;
          const key = call?.caller?.key ?? '';
          if (finding.kind === 'limited' && call?.endpoint === 'user-status')
            isUsedUp.set(key, now + finding.waitMs);
          const isLimited = call?.endpoint === 'deposit-check' && (isUsedUp.get(key) ?? 0) > now;
          const finished = from.transform(response, exchange);
          return isLimited ? { ...finished, status: 429, body: userLimit } : finished;
        },
      };
    },
  }),
  ...failing(idsIn('valid', both, 'repeatable'), {
    'first-after-limit-empty: The first answer after a 429 to the same key has no data': (from) => {
      const wasLimited = new Set<string>();
      return editResponse((response, { call, finding }) => {
        const name = `${call?.endpoint} ${call?.caller?.key}`;
        const isFirst = finding.kind !== 'limited' && wasLimited.delete(name);
        if (finding.kind === 'limited') wasLimited.add(name);
        return isFirst ? { status: 200, body: '{}' } : response;
      })({ where: ({ call }) => call?.caller !== undefined })(from);
    },
  }),
  ...define(limiterOfDeposits, ['rate-limit/deposit-check/requests'], {
    'counter-per-process: a counter in each of two processes': ['fixedWindow', resized(2)],
    'limit-half: half the stated limit': ['fixedWindow', resized(1 / 2)],
    'sliding-window-one-late: a sliding window with a limit that is one too high': ['slidingWindow', more(1)],
    'window-of-a-third: a third of the stated window': ['fixedWindow', resized(1, 1 / 3)],
    'sliding-window-of-a-half: a sliding window of half the time': ['slidingWindow', resized(1, 1 / 2)],
    'bucket-of-a-third: a token bucket that holds a third': ['bucket', resized(1 / 3, 1 / 3)],
    'bucket-of-twice: a token bucket that holds twice as many': ['bucket', resized(2, 2)],
    'bucket-too-fast: a token bucket that refills three times as fast': ['bucket', resized(1, 1 / 3)],
  }),
  ...failing(idsIn('rate-limit', both, 'counts-at-once'), {
    'limit-counts-after-lookup: The limiter counts a request after its lookup, so requests in flight also pass':
      (behaviour) => ({
        limit: (world, endpoint, key, call) => {
          const limit = behaviour.limit(world, endpoint, key);
          return limit && { ...limit, most: limit.most + (call?.request.alongside ?? 0) };
        },
      }),
  }),
  ...failing(['rate-limit/user-status/spares-successes'], {
    'user-status-counts-successes: Lookups of members count as failed': ({ counted }) => ({
      counted: { ...counted, 'user-status': [...counted['user-status'], 'member'] },
    }),
  }),
  ...define(answers('always-429', 'Every request', {}), idsIn('rate-limit', both, 'message'), {
    'in-other-words: gets 429 and another message': answerWith(429, { error: 'Slow down' }),
  }),
  ...define(
    answers('deposit-check', 'A 429 of deposit-check', { endpoint: 'deposit-check', status: 429 }),
    ['rate-limit/deposit-check/message'],
    { '429-of-front-end: is the plain text of a proxy': editBody(() => 'Too Many Requests') },
  ),
};
