import { editHeaders, editResponse } from '../change.ts';
import type { Behaviour } from '../behaviour.ts';
import type { Variants } from './variant.ts';

/** Those of a window's counted requests that are younger than its length. */
const inSlidingWindow: Behaviour['live'] = (hits, windowMs, now) =>
  hits.filter((hit) => now < hit + windowMs);

const countedOnUserStatus =
  (...kinds: Behaviour['counts']['user-status']) =>
  (behaviour: Behaviour) => ({
    ...behaviour,
    counts: { ...behaviour.counts, 'user-status': kinds },
  });

/** Other limiters: whom they limit, what they count, what they say (Limits: "not shown"). */
export const limitVariants: Variants = {
  'limit-before-key': {
    what: '429 comes before 401 for whoever presents a limited key.',
    change: (behaviour) => ({
      ...behaviour,
      order: ['limit', 'key', 'parameter'],
      countedFor: (call) => call.credential ?? '',
    }),
  },
  'limit-per-partner': {
    what: 'All keys of a partner are limited together.',
    change: (behaviour) => ({ ...behaviour, countedFor: (call) => call.caller?.partner ?? '' }),
  },
  'limit-for-all': {
    what: 'All keys are limited together.',
    change: (behaviour) => ({ ...behaviour, countedFor: () => 'all' }),
  },
  'sliding-window': {
    what: 'A counted request stops counting when it is older than the window.',
    change: (behaviour) => ({ ...behaviour, live: inSlidingWindow }),
  },
  'only-invalid-ids-counted': {
    what: 'user-status counts only 400s as failed lookups.',
    change: countedOnUserStatus('invalid'),
  },
  'only-strangers-counted': {
    what: 'user-status counts only users who are not under the IB as failed lookups.',
    change: countedOnUserStatus('foreign', 'unknown'),
  },
  'bad-keys-counted': {
    what: 'user-status counts 401s as well, and limits whoever goes on presenting the same bad key.',
    change: (behaviour) => ({
      ...countedOnUserStatus('invalid', 'foreign', 'unknown', 'unauthorized')(behaviour),
      order: ['limit', 'key', 'parameter'],
      countedFor: (call) => call.credential ?? '',
    }),
  },
  'retry-after-left-out': {
    what: 'A 429 carries no Retry-After.',
    change: editResponse({ status: 429 }, ({ headers: { 'Retry-After': _, ...headers } }) => ({ headers })),
  },
  'retry-after-as-date': {
    what: 'Retry-After is a date.',
    change: editHeaders({ status: 429 }, ({ now, finding }) => ({
      'Retry-After': new Date(
        Math.ceil((now + (finding.kind === 'limited' ? finding.waitMs : 0)) / 1000) * 1000,
      ).toUTCString(),
    })),
  },
  'remaining-requests-told': {
    what: 'Header fields give the limit and what is left of it.',
    change: (behaviour) =>
      editHeaders({}, ({ world, call }) => {
        const limit = call && behaviour.limit(world, call.endpoint, call.caller);
        if (call === undefined || limit === undefined) return {};
        const used = world.hits[call.endpoint].get(behaviour.countedFor(call))?.length ?? 0;
        return { 'RateLimit-Limit': `${limit.most}`, 'RateLimit-Remaining': `${limit.most - used}` };
      })(behaviour),
  },
};
