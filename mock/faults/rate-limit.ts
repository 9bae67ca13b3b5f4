import type { Endpoint } from '../../schemas/endpoints.ts';
import { answerWith, editBody, setFields, type Difference } from './change.ts';
import type { Behaviour } from '../behaviour.ts';
import { limiters } from '../limiter-kinds.ts';
import type { Limit } from '../world.ts';
import { answers, at, both, failing, onEachEndpoint, rowsOf, type Faults } from './table.ts';

type Resize = (limit: Limit) => Limit | undefined;
const limited =
  (which: Endpoint) =>
  (edit: Resize) =>
  ({ limit }: Behaviour): Partial<Behaviour> => ({
    limit: (world, endpoint, key) => {
      const found = limit(world, endpoint, key);
      return found === undefined || endpoint !== which ? found : edit(found);
    },
  });

const counted = { 'user-status': 'failed lookup', 'deposit-check': 'request' } as const;

/** The same limit with so many times the requests, or the time. */
const resized =
  (requests: number, time = 1): Resize =>
  ({ most, windowMs }) => ({ most: Math.ceil(most * requests), windowMs: windowMs * time });
const more =
  (requests: number): Resize =>
  ({ most, windowMs }) => ({ most: Math.max(1, most + requests), windowMs });

/** The limiter of deposit-check as one of a kind, with another limit. */
const limiterOfDeposits = {
  id: 'deposit-check',
  what: 'deposit-check has',
  change:
    ([kind, edit]: readonly [keyof typeof limiters, Resize]): Difference =>
    (from) => ({ ...limited('deposit-check')(edit)(from), count: limiters[kind] }),
};

/** Limiters that start or stop too late or too early (rate-limit; Limits). */
export const rateLimitFaults: Faults = {
  ...onEachEndpoint((endpoint) => {
    const place = { id: endpoint, what: endpoint, change: limited(endpoint) };
    const one = counted[endpoint];
    const row = endpoint === 'user-status' ? 'failed-lookups' : 'requests';
    const when = { endpoint, status: 429 } as const;
    return {
      ...at(place, rowsOf('rate-limit', [endpoint], row), {
        'without-limiter: has no limiter': () => undefined,
        [`limit-tenfold: lets ten times the stated number of ${one}s pass`]: resized(10),
        [`limit-one-late: lets one ${one} more pass than stated`]: more(1),
        [`limit-one-early: answers 429 to the last ${one} within the stated limit`]: more(-1),
      }),
      ...at(place, rowsOf('rate-limit', [endpoint], 'recovers'), {
        'never-lets-go: never accepts a key again once it was limited': resized(1, 1e12),
      }),
      ...at(answers(endpoint, `A 429 of ${endpoint}`, when), rowsOf('rate-limit', [endpoint], 'message'), {
        '429-with-second-field: says in a second field when to come back': setFields({ retryAfter: 3 }),
      }),
    };
  }),
  ...at(limiterOfDeposits, ['rate-limit/deposit-check/requests'], {
    'counter-per-process: a counter in each of two processes': ['fixedWindow', resized(2)],
    'limit-half: half the stated limit': ['fixedWindow', resized(1 / 2)],
    'sliding-window-one-late: a sliding window for one request too many': ['slidingWindow', more(1)],
    'window-of-a-third: a third of the stated window': ['fixedWindow', resized(1, 1 / 3)],
    'sliding-window-of-a-half: a sliding window of half the time': ['slidingWindow', resized(1, 1 / 2)],
    'bucket-of-a-third: a token bucket that holds a third': ['bucket', resized(1 / 3, 1 / 3)],
    'bucket-of-twice: a token bucket that holds twice as many': ['bucket', resized(2, 2)],
    'bucket-too-fast: a token bucket that refills three times as fast': ['bucket', resized(1, 1 / 3)],
  }),
  ...failing(['rate-limit/user-status/spares-successes'], {
    'user-status-counts-successes: Lookups of members count as failed': ({ counts }) => ({
      counts: { ...counts, 'user-status': [...counts['user-status'], 'member'] },
    }),
  }),
  ...at(answers('always-429', 'Every request', {}), rowsOf('rate-limit', both, 'message'), {
    'in-other-words: gets 429 and another text': answerWith(429, { error: 'Slow down' }),
  }),
  ...at(
    answers('deposit-check', 'A 429 of deposit-check', { endpoint: 'deposit-check', status: 429 }),
    ['rate-limit/deposit-check/message'],
    { '429-of-front-end: is the plain text of a front end': editBody(() => 'Too Many Requests') },
  ),
};
