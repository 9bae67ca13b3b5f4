import type { Grade, Outcome, Scorecard } from '../scorecard.ts';
import { evidence } from './evidence.ts';

const words: Readonly<Record<Outcome['kind'], string>> = {
  kept: 'kept',
  broken: 'BROKEN',
  notSeen: 'not seen',
};

/** A scorecard to read, a line for each rule, and below a broken one what shows it and what to do. */
export function scorecardText(card: Scorecard): string {
  return card
    .flatMap(linesOf)
    .map((line) => `${line}\n`)
    .join('');
}

function linesOf({ rule, outcome }: Grade): readonly string[] {
  const clause = rule.clause === undefined ? '' : ` (${rule.clause})`;
  const title = `${words[outcome.kind].padEnd(9)} ${rule.title}${clause}`;
  if (outcome.kind === 'kept') return [title];
  if (outcome.kind === 'notSeen') return [title, `          needs ${rule.needs}`];
  return [title, ...[...evidence(outcome.entries), `→ ${rule.advice}`].map((line) => `          ${line}`)];
}
