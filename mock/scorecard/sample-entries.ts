import type { Entry } from './entries.ts';

/** What a test says of a request and its answer; the rest is made up. */
export type Sample = Partial<Omit<Entry, 'id'>>;

const START = Date.UTC(2025, 0, 15, 12);

/** Entries of one caller who asks for one user, or for what the samples say; `at` counts from noon. */
export function sampleEntries(samples: readonly Sample[]): readonly Entry[] {
  return samples.map(({ at = 0, ...sample }, index) => ({
    id: index + 1,
    at: START + at,
    world: '',
    credentialDigest: 'c0ffee',
    method: 'GET',
    target: '/api/ib/user-status?user_id=11111111-1111-4111-8111-111111111111',
    status: 200,
    reason: 'a test',
    keyInTarget: false,
    ...sample,
  }));
}

/** The same sample at each of these times in ms. */
export const each = (times: readonly number[], sample: Sample): readonly Sample[] =>
  times.map((at) => ({ ...sample, at }));

/** `count` times, `step` ms apart, the first at `from`. */
export const every = (step: number, count: number, from = 0): readonly number[] =>
  Array.from({ length: count }, (_, index) => from + index * step);
