import { NOT_SENT, type Reply } from '../answer.ts';
import { table } from '../catalogue/catalogue.ts';
import { isLimiterAnswer } from '../catalogue/expectations.ts';
import type { Facts } from '../catalogue/facts.ts';
import { factsOf } from '../catalogue/facts-of-request.ts';
import type { Finding } from '../catalogue/judge.ts';
import type { Known } from '../catalogue/known.ts';
import type { LookupRow } from '../catalogue/requirement.ts';
import { findingsOf, type Failure, type Tally } from '../engine/tally.ts';
import type { Request } from '../request.ts';

/** What a lookup shows. `unknown`: nothing, for example because it got no answer. */
export type Outcome = 'fails' | 'passes' | 'unknown';

/** What judges an answer. */
interface Judging {
  readonly known: Known;
  readonly tally: Tally;
}

/** Compares other lookups with a failure. */
export function createComparison(row: LookupRow, { exchange, verdict }: Failure, { known, tally }: Judging) {
  const hadNoAnswer = exchange.reply.kind === 'trouble';
  // What is only advised against is no failure of another requirement.
  const isRelevant = (one: Finding) =>
    one.row === row || one.row.kind !== 'answer' || one.row.level === 'required';
  const signatureOf = (facts: Facts | undefined) => {
    const right = facts === undefined ? [] : table.coverOf(facts).right;
    return (right.find((one) => one.row === row) ?? right[0])?.answer.name;
  };
  const facts = factsOf(known, exchange.request);
  const signature = signatureOf(facts);
  const allRight = new Set(facts && table.coverOf(facts).right.map(({ answer }) => answer.name));

  /** Whether the failing answer would also be wrong for another lookup: if not, another answer shows nothing. */
  const isComparable = (request: Request): boolean => {
    if (request.endpoint !== exchange.request.endpoint) return false;
    const others = factsOf(known, request);
    return (
      others !== undefined &&
      signatureOf(others) === signature &&
      (exchange.reply.kind === 'trouble' ||
        table
          .judge(others, exchange.reply, known)
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
    // Several answers are correct, and this may be one that would be wrong for the failure: it shows nothing.
    const others = factsOf(known, request)!;
    const { right } = table.coverOf(others);
    const isRight = right.some(
      ({ answer }) => allRight.has(answer.name) && answer.expect(others)(reply).kind === 'passed',
    );
    return isRight || right.length === 1 ? 'passes' : 'unknown';
  };

  return { isComparable, outcomeOf };
}

const aspectOf = ({ verdict }: Finding) => ('aspect' in verdict ? verdict.aspect : undefined);
