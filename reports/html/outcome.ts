import type { RequirementResult } from '../../schemas/generated/types.ts';
import { markOf } from '../marks.ts';
import { html, type Markup } from './markup.ts';

/** How a requirement came out, in a word. */
export function outcomeWord({ outcome, level }: RequirementResult): string {
  return outcome === 'failed' && level !== 'required' ? 'failed, only a warning' : outcome;
}

/** The mark of a result, said in words to whom does not see it. */
export function outcomeMark(result: RequirementResult): Markup {
  const { mark, tone } = markOf(result);
  return html`<span class="mark ${tone}" role="img" aria-label="${outcomeWord(result)}">${mark}</span>`;
}

/** What there is to say of a result in a line. */
export function remark(result: RequirementResult): string {
  switch (result.outcome) {
    case 'passed':
      return '';
    case 'failed':
      return `differs in ${result.aspect}`;
    case 'inconclusive':
    case 'excluded':
      return `${result.reason}: ${result.words}`;
    case 'observed':
      return result.words;
    case 'broken':
      return `broken: ${result.words}`;
  }
}

/** Whether a result is told in full among the findings, and not in its row alone. */
export function isFinding(result: RequirementResult): boolean {
  return (
    result.outcome === 'failed' ||
    result.outcome === 'broken' ||
    (result.outcome === 'inconclusive' && result.counterexample !== undefined)
  );
}
