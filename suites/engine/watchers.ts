import type { Answer } from '../answer.ts';
import type { Known } from '../known.ts';
import type { Request } from '../request.ts';
import type { Watch } from '../requirement.ts';
import type { Judgement } from './judge.ts';

/** Holds every exchange of the run against the requirements that speak of all of them. */
export interface Watchers {
  readonly see: (request: Request, answer: Answer) => void;
  readonly judgement: (watch: Watch) => Judgement;
}

export function createWatchers(watches: readonly Watch[], known: Known): Watchers {
  const judgements = new Map<Watch, Judgement>();
  return {
    see: (request, answer) => {
      for (const watch of watches) {
        const before = judgements.get(watch);
        if (before?.verdict.kind === 'failed') continue;
        const verdict = watch.sees({ request, answer }, known);
        if (verdict === undefined) continue;
        const cases = (before?.cases ?? 0) + 1;
        judgements.set(
          watch,
          verdict.kind === 'failed'
            ? { verdict, cases, evidence: { request, reply: answer } }
            : { verdict, cases },
        );
      }
    },
    judgement: (watch) => judgements.get(watch) ?? { verdict: watch.unseen, cases: 0 },
  };
}
