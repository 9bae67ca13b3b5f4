import type { Endpoint } from '../../schemas/endpoints.ts';
import { answerWith, editBody, setFields, type Change } from './change.ts';
import { limiters } from '../limiter-kinds.ts';
import type { Limit } from '../world.ts';
import { at, both, failing, onEachEndpoint, rowsOf, type Faults } from './table.ts';

const limited =
  (which: Endpoint) =>
  (edit: (limit: Limit) => Limit | undefined): Change =>
  (behaviour) => ({
    ...behaviour,
    limit: (world, endpoint, key) => {
      const limit = behaviour.limit(world, endpoint, key);
      return limit === undefined || endpoint !== which ? limit : edit(limit);
    },
  });

const counted = { 'user-status': 'failed lookup', 'deposit-check': 'request' } as const;

/** The limiter of deposit-check as one of a kind, with another limit. */
const limiterOfDeposits = {
  change:
    ([kind, edit]: readonly [keyof typeof limiters, (limit: Limit) => Limit]): Change =>
    (behaviour) => ({ ...limited('deposit-check')(edit)(behaviour), count: limiters[kind] }),
};

/** Limiters that start or stop too late or too early (rate-limit; Limits). */
export const rateLimitFaults: Faults = {
  ...onEachEndpoint((endpoint) => {
    const place = { id: endpoint, what: endpoint, change: limited(endpoint) };
    const one = counted[endpoint];
    const row = endpoint === 'user-status' ? 'failed-lookups' : 'requests';
    return {
      ...at(place, rowsOf('rate-limit', [endpoint], row), {
        'without-limiter': ['has no limiter', () => undefined],
        'limit-tenfold': [
          `lets ten times as many ${one}s pass as were promised`,
          (limit) => ({ ...limit, most: limit.most * 10 }),
        ],
        'limit-one-late': [
          `lets one ${one} more pass than was promised`,
          (limit) => ({ ...limit, most: limit.most + 1 }),
        ],
        'limit-one-early': [
          `answers 429 to the last ${one} that was promised`,
          (limit) => ({ ...limit, most: Math.max(1, limit.most - 1) }),
        ],
      }),
      ...at(place, rowsOf('rate-limit', [endpoint], 'recovers'), {
        'never-lets-go': [
          'never answers a key again once it was limited',
          (limit) => ({ ...limit, windowMs: Number.MAX_SAFE_INTEGER }),
        ],
      }),
      ...failing(rowsOf('rate-limit', [endpoint], 'message'), {
        [`${endpoint}-429-with-second-field`]: [
          `The 429 of ${endpoint} says in a second field when to come back`,
          setFields({ retryAfter: 3 })({ endpoint, status: 429 }),
        ],
      }),
    };
  }),
  ...at(limiterOfDeposits, ['rate-limit/deposit-check/requests'], {
    'deposit-check-counter-per-process': [
      'Each of two processes counts the requests to deposit-check for itself',
      ['fixedWindow', ({ most, windowMs }) => ({ most: 2 * most, windowMs })],
    ],
    'deposit-check-limit-half': [
      'deposit-check lets half as many requests pass as were promised',
      ['fixedWindow', ({ most, windowMs }) => ({ most: Math.ceil(most / 2), windowMs })],
    ],
    'deposit-check-sliding-window-one-late': [
      'The sliding window of deposit-check lets one request more pass than was promised',
      ['slidingWindow', ({ most, windowMs }) => ({ most: most + 1, windowMs })],
    ],
    'deposit-check-window-of-a-third': [
      'The window of deposit-check ends after a third of its time',
      ['fixedWindow', ({ most, windowMs }) => ({ most, windowMs: windowMs / 3 })],
    ],
    'deposit-check-sliding-window-of-a-half': [
      'The sliding window of deposit-check is half as long as was promised',
      ['slidingWindow', ({ most, windowMs }) => ({ most, windowMs: windowMs / 2 })],
    ],
    'deposit-check-bucket-of-a-third': [
      'The token bucket of deposit-check refills as was promised and holds a third',
      ['bucket', ({ most, windowMs }) => ({ most: Math.ceil(most / 3), windowMs: windowMs / 3 })],
    ],
    'deposit-check-bucket-of-twice': [
      'The token bucket of deposit-check refills as was promised and holds twice as many',
      ['bucket', ({ most, windowMs }) => ({ most: 2 * most, windowMs: 2 * windowMs })],
    ],
    'deposit-check-bucket-too-fast': [
      'The token bucket of deposit-check refills three times as fast as was promised',
      ['bucket', ({ most, windowMs }) => ({ most, windowMs: windowMs / 3 })],
    ],
  }),
  ...failing(['rate-limit/user-status/spares-successes'], {
    'user-status-counts-successes': [
      'Lookups of members count as failed',
      (behaviour) => ({
        ...behaviour,
        counts: { ...behaviour.counts, 'user-status': ['invalid', 'foreign', 'unknown', 'member'] },
      }),
    ],
  }),
  ...failing(rowsOf('rate-limit', both, 'message'), {
    'always-429-in-other-words': [
      'Every request is answered with 429, in words of its own',
      answerWith(429, { error: 'Rate limit exceeded' })(),
    ],
  }),
  ...failing(['rate-limit/deposit-check/message'], {
    'deposit-check-429-of-front-end': [
      'The 429 of deposit-check is the plain text of a front end',
      editBody(() => 'Too Many Requests')({ endpoint: 'deposit-check', status: 429 }),
    ],
  }),
};
