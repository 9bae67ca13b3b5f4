import type { Endpoint } from '../../schemas/endpoints.ts';
import { editPayload, editResponse, type Change } from '../change.ts';
import type { Limit } from '../world.ts';
import { deposit, rowsOf, user, type Faults } from './rows.ts';

const limited =
  (which: Endpoint, edit: (limit: Limit) => Limit | undefined): Change =>
  (behaviour) => ({
    ...behaviour,
    limit: (world, endpoint, key) => {
      const limit = behaviour.limit(world, endpoint, key);
      return limit === undefined || endpoint !== which ? limit : edit(limit);
    },
  });

const movedBy = (more: number) => (limit: Limit) => ({ ...limit, most: Math.max(1, limit.most + more) });
const tenfold = (limit: Limit) => ({ ...limit, most: limit.most * 10 });
const forEver = (limit: Limit) => ({ ...limit, windowMs: Number.MAX_SAFE_INTEGER });

/** Limiters that set in too late or let go too late (rate-limit; Limits). */
export const limitFaults: Faults = {
  'user-status-without-limiter': {
    what: 'user-status has no limiter.',
    fails: rowsOf('rate-limit', user, 'failed-lookups'),
    change: limited('user-status', () => undefined),
  },
  'deposit-check-without-limiter': {
    what: 'deposit-check has no limiter.',
    fails: rowsOf('rate-limit', deposit, 'requests'),
    change: limited('deposit-check', () => undefined),
  },
  'user-status-limit-tenfold': {
    what: 'user-status lets ten times as many failed lookups pass as were promised.',
    fails: rowsOf('rate-limit', user, 'failed-lookups'),
    change: limited('user-status', tenfold),
  },
  'deposit-check-limit-tenfold': {
    what: 'deposit-check lets ten times as many requests pass as were promised.',
    fails: rowsOf('rate-limit', deposit, 'requests'),
    change: limited('deposit-check', tenfold),
  },
  'user-status-limit-one-late': {
    what: 'user-status lets one failed lookup more pass than was promised.',
    fails: rowsOf('rate-limit', user, 'failed-lookups'),
    change: limited('user-status', movedBy(1)),
  },
  'user-status-limit-one-early': {
    what: 'user-status answers 429 to the last failed lookup that was promised.',
    fails: rowsOf('rate-limit', user, 'failed-lookups'),
    change: limited('user-status', movedBy(-1)),
  },
  'deposit-check-limit-one-late': {
    what: 'deposit-check lets one request more pass than was promised.',
    fails: rowsOf('rate-limit', deposit, 'requests'),
    change: limited('deposit-check', movedBy(1)),
  },
  'deposit-check-limit-one-early': {
    what: 'deposit-check answers 429 to the last request that was promised.',
    fails: rowsOf('rate-limit', deposit, 'requests'),
    change: limited('deposit-check', movedBy(-1)),
  },
  'user-status-counts-successes': {
    what: 'Lookups of members count as failed.',
    fails: rowsOf('rate-limit', user, 'spares-successes'),
    change: (behaviour) => ({
      ...behaviour,
      counts: { ...behaviour.counts, 'user-status': ['invalid', 'foreign', 'unknown', 'member'] },
    }),
  },
  'user-status-never-lets-go': {
    what: 'user-status never answers a key again once it was limited.',
    fails: rowsOf('rate-limit', user, 'recovers'),
    change: limited('user-status', forEver),
  },
  'deposit-check-never-lets-go': {
    what: 'deposit-check never answers a key again once it was limited.',
    fails: rowsOf('rate-limit', deposit, 'recovers'),
    change: limited('deposit-check', forEver),
  },
  'user-status-429-with-second-field': {
    what: 'The 429 of user-status says in a second field when to come back.',
    fails: rowsOf('rate-limit', user, 'message'),
    change: editPayload({ endpoint: 'user-status', status: 429 }, (payload) => ({
      ...payload,
      retryAfter: 3,
    })),
  },
  'deposit-check-429-with-second-field': {
    what: 'The 429 of deposit-check says in a second field when to come back.',
    fails: rowsOf('rate-limit', deposit, 'message'),
    change: editPayload({ endpoint: 'deposit-check', status: 429 }, (payload) => ({
      ...payload,
      retryAfter: 3,
    })),
  },
  'deposit-check-429-of-front-end': {
    what: 'The 429 of deposit-check is the plain text of a front end.',
    fails: rowsOf('rate-limit', deposit, 'message'),
    change: editResponse({ endpoint: 'deposit-check', status: 429 }, () => ({ body: 'Too Many Requests' })),
  },
};
