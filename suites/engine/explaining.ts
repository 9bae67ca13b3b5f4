import { SHORT_WAIT_MS } from '../limits/limit.ts';
import { explain } from '../explain/explain.ts';
import type { Request } from '../request.ts';
import { report, type Run } from './setup.ts';
import { excuse, failureToExplain, verdictsOn, wrongAnswersOf, type Failure } from './tally.ts';

/** Lookups alone that show that only company makes an answer wrong. */
const LOOKUPS_ALONE = 10;

/** If lookups in flight at once get wrong answers, that is no failure of rows whose lookups are right alone. */
export async function excuseCompany(run: Run): Promise<void> {
  const { results, rows, tally, sender, budget } = run;
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

const MAX_EXPLAINING = 2000;

/** Confirms each failure and finds out under which conditions it happens. */
export async function explainFailures(
  run: Run,
  isWanted: (failure: Failure) => boolean = () => true,
): Promise<void> {
  const { options, rows, tally, explained, startedAt, known, sender, budget, lookupsEndAt } = run;
  const { clock, maxDurationMs, seed } = options;
  if (options.isBrief === true) return;
  const now = clock.now();
  const endsAt = Math.min(Math.max(lookupsEndAt, startedAt + maxDurationMs / 2), now + maxDurationMs / 4);
  const send = (of: string) => (request: Request) => {
    run.explaining++;
    // Always use the same key: it may be the condition.
    const [key] = known.callerKeys;
    const isCaller = request.credential.as === 'caller' && key !== undefined;
    const sent: Request = isCaller ? { ...request, credential: { as: 'key', key } } : request;
    const until = Math.min(endsAt, clock.now() + SHORT_WAIT_MS);
    return sender.send(sent, { of, isAgain: true, until });
  };
  for (const row of rows) {
    const { id } = row;
    const failure = failureToExplain(tally, row, sender.keyWorks() === true);
    if (failure === undefined || explained.has(id) || !isWanted(failure)) continue;
    report(run, id);
    const isOver = () => run.explaining > MAX_EXPLAINING || budget.ended(endsAt) !== undefined;
    explained.set(id, await explain(row, failure, { known, seed, tally, send: send(id), isOver }));
  }
}
