import assert from 'node:assert/strict';
import type { RunRecord } from '../../../schemas/generated/types.ts';
import { ban, bucket, fixed, slidingLog, weighted, type Design } from '../../../suites/testing/limiters.ts';

/** What a run says: its exit code, failed and warned rows, and words of one of them. */
export interface Expected {
  readonly exit: number;
  readonly failed?: readonly string[];
  readonly warned?: readonly string[];
  /** A row whose warning is true: whether it comes depends on what lookups left of the limit. */
  readonly mayWarn?: string;
  readonly says?: RegExp;
  /** Set if other rows may fail as well: lookups meet the limiter before the limit is tried. */
  readonly andOthers?: true;
}

export interface LimiterRow extends Design {
  readonly class: 'legal' | 'another reading' | 'wrong';
  readonly stated: Expected;
  readonly unstated: Expected;
  /** Under 20 in 5 minutes, where it differs from `stated` and `unstated`. */
  readonly long?: { readonly stated?: Expected; readonly unstated?: Expected };
}

const fine: Expected = { exit: 0 };
const legal = (design: Design): LimiterRow => ({ ...design, class: 'legal', stated: fine, unstated: fine });
const reading = (row: string, says: RegExp, design: Design): LimiterRow => {
  const mayWarn = `rate-limit/user-status/${row}`;
  const expected = { exit: 0, warned: [mayWarn], says };
  // A second comparison needs a second window.
  const long = { unstated: { exit: 0, mayWarn } };
  return { ...design, class: 'another reading', stated: expected, unstated: expected, long };
};
/** One partner locks out the others. Under 20 in 5 minutes, the key of another is limited before. */
const shared = (design: Design): LimiterRow => {
  const warned = ['user-status', 'deposit-check'].map((endpoint) => `rate-limit/${endpoint}/not-shared`);
  const expected = { exit: 0, warned, says: /429/ };
  const long = { stated: fine, unstated: fine };
  return { ...design, class: 'another reading', stated: expected, unstated: expected, long };
};
const limitRows = ['rate-limit/user-status/failed-lookups', 'rate-limit/deposit-check/requests'];
const wrong = (
  stated: Expected,
  unstated: Expected,
  design: Design,
  long?: LimiterRow['long'],
): LimiterRow => ({
  ...design,
  class: 'wrong',
  stated,
  unstated,
  ...(long !== undefined && { long }),
});
const fails = (says: RegExp, failed: readonly string[] = limitRows): Expected => ({ exit: 1, failed, says });

/** Answers nothing that is 429, whoever asks. */
const instead = (status: number): Design => ({
  refusal: () => ({ status, headers: {}, body: '{"error":"Blocked"}' }),
});

/** Limiters, each with what a run says about it. It was written before the judge. */
export const limiters: Readonly<Record<string, LimiterRow>> = {
  'fixed window': legal({}),
  'window aligned to the clock': legal({ counter: fixed(true) }),
  'sliding log': legal({ counter: slidingLog }),
  'weighted window': legal({ counter: weighted }),
  'bucket that refills within a window': legal({ counter: bucket }),
  'by address': shared({ account: ({ endpoint }) => endpoint }),
  'one counter for everything': {
    ...shared({ account: () => '' }),
    // 20 requests are too few to check everything.
    long: { stated: { exit: 3 }, unstated: { exit: 3 } },
  },
  'counts refused requests too': legal({ counter: slidingLog, countsRefused: true }),
  'counts wrong keys too': legal({ counts: (kind) => kind !== 'member' }),
  'counts each id once': legal({ countsDistinct: true }),
  'only lookups of users that are not found': legal({
    counts: (kind) => kind === 'unknown' || kind === 'foreign',
  }),
  'members pass while the key is limited': legal({ spares: (kind) => kind === 'member' }),
  'ban of three windows': legal({ counter: ban(3, false) }),
  'ban that doubles': legal({ counter: ban(1, true) }),
  'without Retry-After': legal({ refusal: () => ({ headers: {} }) }),
  'Retry-After in ms': legal({
    refusal: (_, waitMs) => ({ headers: { 'retry-after': `${Math.ceil(waitMs)}` } }),
  }),
  'Retry-After -1': legal({ refusal: () => ({ headers: { 'retry-after': '-1' } }) }),

  'only malformed ids': reading('counts-unknown-users', /unknown users never count: only malformed ids do/, {
    counts: (kind) => kind === 'malformed',
  }),
  'every 4xx': reading('counts-unknown-users', /unknown users never count: only malformed ids do/, {
    counts: (kind) => kind === 'malformed' || kind === 'bad key',
  }),
  'a success resets': reading('not-reset', /a successful lookup resets the count/, { resets: true }),
  'users of other IBs do not count': {
    ...reading('counts-foreign-users', /users of other IBs do not count: this tells them from unknown ones/, {
      counts: (kind) => kind === 'unknown' || kind === 'malformed',
    }),
    long: { stated: fine, unstated: fine },
  },

  'counts successes': wrong(
    fails(/429 after \d+ lookups of members/, ['rate-limit/user-status/spares-successes']),
    fails(/429 after \d+ lookups of members/, ['rate-limit/user-status/spares-successes']),
    { counts: (kind) => kind !== 'bad key' },
    { stated: { exit: 3, says: /or lookups of members count/ }, unstated: fine },
  ),
  'one of four passes': wrong(fails(/lets .* through|passed/), fine, { lets: (nth) => nth % 4 === 3 }),
  '503 instead': wrong(
    { ...fails(/503 instead of 429/), andOthers: true },
    { ...fails(/503 instead of 429/), andOthers: true },
    instead(503),
    { unstated: { exit: 1, andOthers: true, says: /503 instead of 429/ } },
  ),
  '403 instead': wrong(
    { ...fails(/403 instead of 429/), andOthers: true },
    { ...fails(/403 instead of 429/), andOthers: true },
    instead(403),
    { unstated: { exit: 1, andOthers: true, says: /403 instead of 429/ } },
  ),
  'wrong text': wrong(
    fails(/Slow down/, ['rate-limit/user-status/message', 'rate-limit/deposit-check/message']),
    fails(/Slow down/, ['rate-limit/user-status/message', 'rate-limit/deposit-check/message']),
    { refusal: () => ({ body: '{"error":"Slow down"}' }) },
  ),
  'none at all': wrong(fails(/no 429/), { exit: 3, says: /no 429/ }, { isOff: true }),
  '429 once, then passes': wrong(fails(/429 did not last/), fails(/429 did not last/), { forgets: true }),
  'three instances that each count alone': wrong(
    fails(/several instances/),
    fine,
    { account: ({ endpoint, key }, nth) => `${endpoint} ${key} ${nth % 3}` },
    { stated: { exit: 0, says: /several instances/ } },
  ),
  'delays requests': wrong(
    { exit: 3, says: /does the limiter delay/ },
    { exit: 3, says: /no 429/ },
    { counter: bucket, delays: true },
    { stated: { exit: 3 }, unstated: { exit: 3 } },
  ),
};

/** Checks what a run said about a limiter. */
export function assertExpected(
  record: RunRecord,
  exit: number,
  { exit: code, failed = [], warned = [], mayWarn, says, andOthers }: Expected,
  remarks: readonly string[],
): void {
  const ids = (level: string) =>
    record.requirements.flatMap((row) => (row.outcome === 'failed' && row.level === level ? [row.id] : []));
  const [isFailed, isWarned] = [ids('required'), ids('recommended')];
  const words = record.requirements.map((row) =>
    'actual' in row ? row.actual : 'words' in row ? row.words : '',
  );
  if (andOthers === true) {
    assert.equal(exit, code);
    for (const id of failed) assert.ok(isFailed.includes(id), id);
  } else
    assert.deepEqual(
      { exit, failed: isFailed.toSorted(), warned: isWarned.filter((id) => id !== mayWarn).toSorted() },
      { exit: code, failed: failed.toSorted(), warned: warned.toSorted() },
    );
  if (says !== undefined) assert.match([...words, ...remarks].join('\n'), says);
}
