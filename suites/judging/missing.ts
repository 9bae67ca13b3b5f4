import { NOT_SENT, type Trouble } from '../answer.ts';
import type { Lookup } from '../plan/lookup.ts';
import type { Request } from '../request.ts';
import { factsOf } from '../rules/facts-of-request.ts';
import type { Tally } from './tally.ts';

/** Notes a lookup of the covering array that got no answer, also when retried. */
export function addMissing(
  { known, table, states, silent }: Tally,
  request: Request,
  reply: Trouble,
  lookup?: Lookup,
): void {
  const facts = factsOf(known, request);
  if (facts === undefined) return;
  const missing = { request, reply };
  const { right, rows: all } = table.coverOf(facts);
  if (reply.code === 'rate-limited' || reply.code === 'budget') {
    for (const { id } of all) {
      const state = states.get(id);
      if (state !== undefined) state.unsent ??= missing;
    }
    return;
  }
  // None of its rows passes without it.
  if (reply.code === 'id-limited')
    for (const { id } of all) {
      const state = states.get(id);
      if (state !== undefined) state.unanswered = missing;
    }
  const { row } = right[0]!;
  const state = states.get(row.id);
  if (state === undefined) return;
  const isSilent = reply.code === 'network' || reply.code === 'timeout';
  if ((row.silenceFails === true || reply.isJudged === true) && isSilent && reply.words !== NOT_SENT)
    silent.push({ row, facts, lookup, ...missing });
  // How others were lost tells more than that it was not sent.
  const isTold = state.unanswered !== undefined && state.unanswered.reply.words !== NOT_SENT;
  // A front end may reject a GET with a body.
  if (request.body === undefined && !isTold) state.unanswered = missing;
}

/** Whether no answer to a request is a failure. */
export function isSilenceJudged({ known, table }: Tally, request: Request): boolean {
  const facts = factsOf(known, request);
  return facts !== undefined && table.coverOf(facts).right[0]!.row.silenceFails === true;
}
