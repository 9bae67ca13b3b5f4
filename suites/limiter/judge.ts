import { seconds, story, type Rule, type Sighting } from './history.ts';
import { mayBeRefilled } from './refilled.ts';
import { thresholds, type Thresholds, type Windows } from './windows.ts';

/** How a limiter may work, as far as can be told. */
export type Manner = Windows | 'refilled';

/** What a history says of a rule. */
export type Judgement =
  /** The rule explains it, and no other threshold does. */
  | { readonly kind: 'kept'; readonly manners: readonly Manner[] }
  /** The rule explains it in no way. */
  | { readonly kind: 'broken'; readonly proof: string }
  /** The rule may explain it, and so may other thresholds. */
  | {
      readonly kind: 'open';
      readonly words: string;
      /** Whether at least it is certain that no more pass than the rule says. */
      readonly isStrictEnough: boolean;
    };

/**
 * Holds what was seen of a limiter against the rule that is stated of it (Limits).
 *
 * Every way to lay windows and every instant between sending and answer counts in favour of every
 * threshold: what is said to be broken has no explanation, and what is said to be kept has no other.
 *
 * @param history counted requests of one key, after a window or more without any
 */
export function judge(history: readonly Sighting[], rule: Rule): Judgement {
  const { most, windowMs } = rule;
  const explaining = thresholds(history, windowMs);
  const mine = explaining.filter((span) => span.least <= most && most <= span.most);
  const manners: readonly Manner[] = [
    ...new Set(mine.map(({ windows }) => windows)),
    ...(mayBeRefilled(history, rule) ? ['refilled' as const] : []),
  ];
  const others = explaining.filter((span) => span.least < most || span.most > most);
  if (manners.length === 0) return { kind: 'broken', proof: proofOf(history, rule, explaining) };
  if (others.length === 0) return { kind: 'kept', manners };
  return {
    kind: 'open',
    words: `${most} in ${windowMs / 1000} s would explain it, and so would ${describe(others)}: ${story(history, windowMs)}`,
    isStrictEnough: others.every((span) => span.most <= most),
  };
}

/** The least and the most threshold that explain a history; undefined where none does. */
export function thresholdSpan(
  history: readonly Sighting[],
  windowMs: number,
): { readonly least: number; readonly most: number } | undefined {
  const explaining = thresholds(history, windowMs);
  if (explaining.length === 0) return undefined;
  return {
    least: Math.max(1, Math.min(...explaining.map(({ least }) => least))),
    most: Math.max(...explaining.map(({ most }) => most)),
  };
}

function proofOf(
  history: readonly Sighting[],
  { most, windowMs }: Rule,
  explaining: readonly Thresholds[],
): string {
  const instead = describe(explaining);
  return `${story(history, windowMs)}. No window of ${seconds(windowMs)}, fixed or sliding, wherever it begins, lets ${most} through and shows this${instead === '' ? '' : `; ${instead} would`}`;
}

function describe(explaining: readonly Thresholds[]): string {
  if (explaining.length === 0) return '';
  const least = Math.max(1, Math.min(...explaining.map((span) => span.least)));
  const most = Math.max(...explaining.map((span) => span.most));
  if (most === Number.POSITIVE_INFINITY) return `${least} or more`;
  return least === most ? `${least}` : `${least} to ${most}`;
}
