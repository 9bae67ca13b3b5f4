import { defined } from '../../schemas/values.ts';
import type { LookupRow } from '../rules/requirement.ts';
import { causeOf } from '../explain/causes.ts';
import { explain } from '../explain/explain.ts';
import { SHORT_WAIT_MS } from '../limits/limit.ts';
import type { Request } from '../request.ts';
import type { Bounds } from './bounds.ts';
import type { Budget } from './budget.ts';
import type { Findings } from './findings.ts';
import type { RunOptions } from './run-options.ts';
import type { Sender } from './sender.ts';
import { settle } from './suspects.ts';
import {
  excuse,
  failureToExplain,
  verdictsOn,
  wrongAnswersOf,
  type Failure,
  type Tally,
} from '../judging/tally.ts';

interface ExplanationOptions
  extends
    Pick<RunOptions, 'known' | 'seed' | 'clock' | 'maxDurationMs' | 'isBrief'>,
    Pick<Bounds, 'startedAt' | 'lookupsEndAt'>,
    Pick<Findings, 'results' | 'explained'> {
  readonly rows: readonly LookupRow[];
  readonly tally: Tally;
  readonly sender: Pick<Sender, 'send' | 'keyWorks' | 'losses'>;
  readonly budget: Budget;
  /** Called with the id of the requirement that is explained. */
  readonly onBegin: (id: string) => void;
}

/** Lookups alone that show that only a crowd makes an answer wrong. */
const LOOKUPS_ALONE = 10;

/** If lookups in flight at once get wrong answers, that is no failure of rows whose lookups are right alone. */
async function excuseCrowded({ results, rows, tally, sender, budget }: ExplanationOptions): Promise<void> {
  const isCrowded = [...results].some(
    ([row, { outcome }]) => row.kind === 'scenario' && row.judgesConcurrency === true && outcome === 'failed',
  );
  if (!isCrowded) return;
  for (const row of rows)
    for (const { exchange, isUndone } of wrongAnswersOf(tally, row)) {
      const { request, reply } = exchange;
      let isRight = true;
      // What was undone cannot be asked for again.
      const most = isUndone === true ? 0 : LOOKUPS_ALONE;
      for (let nth = 0; nth < most && isRight; nth++) {
        if (budget.ended() !== undefined) return;
        const again = (await sender.send(request, { of: row.id, isAgain: true })).reply;
        isRight =
          again.kind === 'answer' && verdictsOn(tally, request, again).every(({ kind }) => kind !== 'failed');
      }
      if (isRight) excuse(tally, row.id, reply);
    }
}

/** The most requests that explain failures. */
const MAX_EXPLAINING = 2000;

export type Explanations = ReturnType<typeof createExplanations>;

/** Returns a function that confirms each failure and finds out under which conditions it happens. */
export function createExplanations(options: ExplanationOptions) {
  const { known, seed, clock, maxDurationMs, isBrief, startedAt, lookupsEndAt } = options;
  const { rows, tally, explained, sender, budget, onBegin } = options;
  let sent = 0;
  const sendFor = (of: string, endsAt: number) => (request: Request) => {
    sent++;
    // Always use the same key: it may be the condition.
    const [key] = known.callerKeys;
    const isCaller = request.credential.as === 'caller' && key !== undefined;
    const keyed: Request = isCaller ? { ...request, credential: { as: 'key', key } } : request;
    const until = Math.min(endsAt, clock.now() + SHORT_WAIT_MS);
    return sender.send(keyed, { of, isAgain: true, until });
  };
  return async (isWanted: (failure: Failure) => boolean = () => true): Promise<void> => {
    await settle(sender.losses);
    await excuseCrowded(options);
    if (isBrief === true) return;
    const now = clock.now();
    const endsAt = Math.min(Math.max(lookupsEndAt, startedAt + maxDurationMs / 2), now + maxDurationMs / 4);
    const isOver = () => sent > MAX_EXPLAINING || budget.ended(endsAt) !== undefined;
    for (const row of rows) {
      const failure = failureToExplain(tally, row, sender.keyWorks() === true);
      if (failure === undefined || explained.has(row.id) || !isWanted(failure)) continue;
      onBegin(row.id);
      const context = { known, seed, tally, send: sendFor(row.id, endsAt), isOver };
      const explanation = await explain(row, failure, context);
      const cause = causeOf(row, failure, tally);
      explained.set(row.id, {
        ...explanation,
        ...defined({ cause }),
        ...(isOver() && { unexplained: true }),
      });
    }
  };
}
