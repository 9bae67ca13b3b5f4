import type { Grade, Scorecard } from '../scorecard.ts';

/** A scorecard for programs. */
export function scorecardJson(card: Scorecard): string {
  return `${JSON.stringify({ rules: card.map(ruleOf) }, null, 2)}\n`;
}

function ruleOf({ rule: { id, title, clause, advice, needs }, outcome }: Grade) {
  const named = { id, title, ...(clause !== undefined && { clause }), outcome: outcome.kind };
  if (outcome.kind === 'kept') return { ...named, times: outcome.times };
  return outcome.kind === 'notSeen' ? { ...named, needs } : { ...named, advice, requests: outcome.entries };
}
