import type { Due } from './answers.ts';
import { plural } from './words.ts';

/** What fell due, in words: `1 deposit executed, 2 keys expired`; empty where nothing did. */
export function dueWords({ deposits, keys, limiters }: Due): string {
  return [
    deposits.length > 0 ? `${plural(deposits.length, 'deposit')} executed` : '',
    keys.length > 0 ? `${plural(keys.length, 'key')} expired` : '',
    limiters.length > 0 ? `${plural(limiters.length, 'limiter')} let go` : '',
  ]
    .filter((words) => words !== '')
    .join(', ');
}
