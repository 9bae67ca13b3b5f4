import type { RequirementResult } from '../schemas/generated/types.ts';
import type { Change } from './diff.ts';

/** `required: passed before, now differs in status` */
export function changeWords({ level, before, after }: Change): string {
  const then = before === undefined ? [] : [`${wordsOf(before)} before`];
  const now = after === undefined ? ['not in this run'] : [`${wordsOf(after)} now`];
  return `${level}: ${[...then, ...now].join('; ')}`;
}

function wordsOf(result: RequirementResult): string {
  switch (result.outcome) {
    case 'passed':
    case 'observed':
      return result.outcome;
    case 'failed':
      return `failed in ${result.aspect}`;
    case 'inconclusive':
    case 'excluded':
      return `${result.outcome} (${result.reason}: ${result.words})`;
    case 'broken':
      return 'broken, by a bug of ib-conformance,';
  }
}
