import { defined } from '../../schemas/values.ts';
import type { Answer, Reply, Trouble } from '../answer.ts';

/** Why a requirement is inconclusive. Reports contain these codes: add, never rename. */
export type Reason =
  | Trouble['code']
  /** The check needs an active key of another partner. */
  | 'no-second-key'
  /** No 429 came within the budget. */
  | 'limit-not-reached'
  /** The limiter's window may have ended during the requests. */
  | 'timing-window'
  /** A comparison of a limiter had no time. It leaves the verdict as it is. */
  | 'not-compared'
  /** The same request got different answers. */
  | 'flaky'
  /** The target answers every request of the key under test with 401. */
  | 'key-refused'
  /** A deposit that the fixture calls pending was EXECUTED before the run. */
  | 'fixture-outdated'
  /** Another requirement, named in the words, failed first. */
  | 'depends'
  /** No answer was seen that the requirement applies to. */
  | 'not-seen';

/** Why a requirement is excluded from the verdict. */
export type Exclusion = 'no-state-hook' | 'skipped';

/** The judgement of an answer or a requirement. */
export type Verdict =
  | { readonly kind: 'passed' }
  | {
      readonly kind: 'failed';
      /** What differs: status, JSON, shape, message, value, … */
      readonly aspect: string;
      readonly expected: string;
      readonly actual: string;
    }
  | {
      readonly kind: 'inconclusive';
      readonly reason: Reason;
      readonly words: string;
      /** What to add to the fixture, if that is why. */
      readonly fix?: string;
    }
  | { readonly kind: 'excluded'; readonly reason: Exclusion; readonly words: string };

/** The result of an observing requirement. */
export type Observation = {
  readonly kind: 'observed';
  readonly words: string;
  readonly data?: Record<string, unknown>;
};

export const pass: Verdict = { kind: 'passed' };

export function failed(aspect: string, expected: string, actual: string): Verdict {
  return { kind: 'failed', aspect, expected, actual };
}

export function inconclusive(reason: Reason, words: string, fix?: string): Verdict {
  return { kind: 'inconclusive', reason, words, ...defined({ fix }) };
}

export const skipped = (words: string): Verdict => ({ kind: 'excluded', reason: 'skipped', words });

/** For a deposit that was EXECUTED before the first lookup. */
export const fixtureOutdated: Verdict = inconclusive(
  'fixture-outdated',
  'every deposit with "becomes" was already EXECUTED at the first lookup',
);

/** What a check that the run ended cannot claim: it did not try everything. */
const claims: ReadonlySet<Reason> = new Set(['limit-not-reached', 'timing-window', 'not-seen']);

/** What a check is worth in which the run ended. A comparison that is left out does not count in any case. */
export function atTheEnd<Found extends { readonly kind: string }>(found: Found | Verdict, end?: Trouble) {
  if (end === undefined || found.kind !== 'inconclusive') return found;
  const { reason } = found as Verdict & { readonly kind: 'inconclusive' };
  if (reason === 'not-compared') return inconclusive('not-compared', `not compared: ${end.words}`);
  return claims.has(reason) ? inconclusive(end.code, end.words) : found;
}

/** The check could not begin because another requirement failed. */
export function blockedBy(id: string): Verdict {
  return inconclusive('depends', `not checked because ${id} failed`);
}

export function observed(words: string, data?: Record<string, unknown>): Observation {
  return { kind: 'observed', words, ...(data !== undefined && { data }) };
}

/** A function that judges an answer. */
export type Expectation = (answer: Answer) => Verdict;

/** Why there is no answer. */
export const unanswered = ({ code, words }: Trouble): Verdict => inconclusive(code, words);

/** Judges an answer; inconclusive if there is none. */
export const judgeReply = (reply: Reply, judge: Expectation): Verdict =>
  reply.kind === 'answer' ? judge(reply) : unanswered(reply);
