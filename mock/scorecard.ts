import { backOff } from './scorecard/back-off.ts';
import { authorization, getOnly, keyOutOfUrl } from './scorecard/each-request.ts';
import type { Entry } from './scorecard/entries.ts';
import { polling } from './scorecard/polling.ts';
import { refusedKey } from './scorecard/refused-key.ts';
import { retryAfter } from './scorecard/retry-after.ts';
import type { Rule } from './scorecard/rule.ts';

/** What a good client does, in the order of the report. */
const rules: readonly Rule[] = [
  retryAfter,
  backOff,
  polling,
  refusedKey,
  keyOutOfUrl,
  authorization,
  getOnly,
];

/** How a client did by one rule. */
export type Outcome =
  | { readonly kind: 'kept'; readonly times: number }
  | { readonly kind: 'broken'; readonly entries: readonly Entry[] }
  | { readonly kind: 'notSeen' };

export interface Grade {
  readonly rule: Omit<Rule, 'judge'>;
  readonly outcome: Outcome;
}

export type Scorecard = readonly Grade[];

/** Time in ms in which requests of a client near by that were on their way together arrive. */
export const GRACE = 250;

/**
 * Grades a client by what the mock saw of it. A client is broken only by what nothing else explains.
 * Let pass are:
 *
 * - requests up to `graceMs` after an answer: they may have been in flight when it came. Add the delay
 *   of answers, where there is one
 * - 100 ms that miss from a wait, and a limit that is lifted before its time
 * - 32 other requests behind a 429 (parallel workers), and retries at uneven gaps (jitter)
 * - two more 200 of a deposit, and any of a deposit that was never seen pending
 * - ten requests behind a 401, requests without a key beside others with one, OPTIONS, and other paths
 * - answers that were asked for by Prefer, or that chaos kept from the client, and what was before the
 *   clock was put back
 *
 * Clients that share a key and a world are graded as one.
 */
export function scorecardOf(entries: readonly Entry[], graceMs = GRACE): Scorecard {
  return rules.map(({ judge, ...rule }) => {
    const { times, broken } = judge(entries, graceMs);
    if (broken.length > 0) return { rule, outcome: { kind: 'broken', entries: broken } };
    return { rule, outcome: times > 0 ? { kind: 'kept', times } : { kind: 'notSeen' } };
  });
}
