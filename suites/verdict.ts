import type { Answer, Reply, Trouble } from './answer.ts';

/** Why a requirement could not be judged. The codes stand in reports; add, never rename. */
export type Reason =
  | Trouble['code']
  /** The fixture has no second active key, which the check needs. */
  | 'no-second-key'
  /** The limiter did not set in within the budget. */
  | 'limit-not-reached'
  /** The limiter's window may have ended while requests were on their way. */
  | 'timing-window'
  /** The same request was answered in two ways. */
  | 'flaky'
  /** The target refuses the key under test whatever it asks for. */
  | 'key-refused'
  /** The fixture calls something pending that was EXECUTED before the run. */
  | 'fixture-outdated'
  /** Another requirement, named in the words, speaks of what went wrong before this check could begin. */
  | 'depends'
  /** Nothing was seen that the requirement speaks of. */
  | 'not-seen';

/** What must be excluded from the verdict, and why. */
export type Exclusion = 'no-state-hook' | 'skipped';

/** What an input shows of a requirement. */
export type Verdict =
  | { readonly kind: 'held' }
  | {
      readonly kind: 'failed';
      /** What differs: status, JSON, shape, message, value … */
      readonly aspect: string;
      readonly expected: string;
      readonly actual: string;
    }
  | { readonly kind: 'unjudged'; readonly reason: Reason; readonly words: string }
  | { readonly kind: 'excluded'; readonly reason: Exclusion; readonly words: string };

/** What a whole requirement comes to where it does not judge. */
export type Observation = {
  readonly kind: 'observed';
  readonly words: string;
  readonly data?: Record<string, unknown>;
};

export const held: Verdict = { kind: 'held' };

export function failed(aspect: string, expected: string, actual: string): Verdict {
  return { kind: 'failed', aspect, expected, actual };
}

export function unjudged(reason: Reason, words: string): Verdict {
  return { kind: 'unjudged', reason, words };
}

/** The user did not want it checked. */
export const skipped = (words: string): Verdict => ({ kind: 'excluded', reason: 'skipped', words });

/** The check needs somebody who changes the target's state. */
export const noStateHook = (words: string): Verdict => ({
  kind: 'excluded',
  reason: 'no-state-hook',
  words: `no state hook was given (--state-url): ${words}`,
});

/** What is said of a deposit whose transition came and went before anybody looked. */
export const outdated: Verdict = unjudged(
  'fixture-outdated',
  'every deposit with "becomes" was already EXECUTED at the first lookup: restart the target with fresh data, or give a state hook',
);

/** The check could not begin because of what another requirement speaks of. */
export function depends(id: string): Verdict {
  return unjudged('depends', `not checked because ${id} failed`);
}

export function observed(words: string, data?: Record<string, unknown>): Observation {
  return { kind: 'observed', words, ...(data === undefined ? {} : { data }) };
}

/** What must hold of an answer. */
export type Expectation = (answer: Answer) => Verdict;

/** Judges an answer; if there is none, says why. */
export const judged = (reply: Reply, judge: Expectation): Verdict =>
  reply.kind === 'answer' ? judge(reply) : unjudged(reply.code, reply.words);
