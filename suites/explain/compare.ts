import { NOT_SENT, type Reply } from '../answer.ts';
import { table } from '../catalogue.ts';
import { findingsOf, type Failure, type Tally } from '../engine/tally.ts';
import { isLimiterAnswer } from '../expectations.ts';
import type { Facts } from '../facts.ts';
import { factsOf } from '../facts-of-request.ts';
import type { Finding } from '../judge.ts';
import type { Known } from '../known.ts';
import type { Request } from '../request.ts';
import type { LookupRow } from '../requirement.ts';

/** What a lookup shows. `unknown`: nothing, for example because it got no answer. */
export type Outcome = 'fails' | 'passes' | 'unknown';

/** Compares other lookups with a failure. */
export function createComparison(
  row: LookupRow,
  { exchange, verdict }: Failure,
  { known, tally }: { readonly known: Known; readonly tally: Tally },
) {
  const hadNoAnswer = exchange.reply.kind === 'trouble';
  // What is only advised against is no failure of another requirement.
  const isRelevant = (one: Finding) =>
    one.row === row || one.row.kind !== 'answer' || one.row.level === 'required';
  const signatureOf = (facts: Facts | undefined) => {
    const right = facts === undefined ? [] : table.coverOf(facts).right;
    return (right.find((one) => one.row === row) ?? right[0])?.answer.name;
  };
  const signature = signatureOf(factsOf(known, exchange.request));

  /** Whether the failing answer would also be wrong for another lookup: if not, another answer shows nothing. */
  const isComparable = (request: Request): boolean => {
    const facts = factsOf(known, request);
    return (
      facts !== undefined &&
      signatureOf(facts) === signature &&
      (exchange.reply.kind === 'trouble' ||
        table
          .judge(facts, exchange.reply, known)
          .some((one) => one.verdict.kind === 'failed' && isRelevant(one)))
    );
  };

  const outcomeOf = (request: Request, reply: Reply): Outcome => {
    if (reply.kind === 'trouble') {
      const isSilent = (reply.code === 'network' || reply.code === 'timeout') && reply.words !== NOT_SENT;
      return hadNoAnswer && isSilent ? 'fails' : 'unknown';
    }
    const found = findingsOf(tally, reply);
    if (found.length === 0 || isLimiterAnswer(request.endpoint, reply)) return 'unknown';
    const wrong = found.filter((one) => one.verdict.kind === 'failed');
    if (wrong.some((one) => isRelevant(one) && aspectOf(one) === verdict.aspect)) return 'fails';
    if (wrong.some((one) => one.row === row)) return 'unknown';
    // Several answers are correct, and this may be one that the requirement does not ask for.
    const facts = factsOf(known, request)!;
    const { right } = table.coverOf(facts);
    const isAsked = right.some(
      ({ answer }) => answer.name === signature && answer.expect(facts)(reply).kind === 'passed',
    );
    return isAsked || right.length === 1 ? 'passes' : 'unknown';
  };

  return {
    signature,
    signatureOf: (request: Request) => signatureOf(factsOf(known, request)),
    isComparable,
    outcomeOf,
  };
}

const aspectOf = ({ verdict }: Finding) => ('aspect' in verdict ? verdict.aspect : undefined);
