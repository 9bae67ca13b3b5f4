import type { Answer } from '../answer.ts';
import type { Known } from '../known.ts';
import type { Request } from '../request.ts';
import type { Monitor } from '../requirement.ts';
import type { Judgement } from './judge.ts';

/** Shows every answer of a run to the requirements that judge all of them. */
export interface Monitors {
  readonly see: (request: Request, answer: Answer) => void;
  readonly judgement: (watch: Monitor) => Judgement;
}

export function createMonitors(monitors: readonly Monitor[], known: Known): Monitors {
  const judgements = new Map<Monitor, Judgement>();
  return {
    see: (request, answer) => {
      for (const monitor of monitors) {
        const before = judgements.get(monitor);
        if (before?.verdict.kind === 'failed') continue;
        const verdict = monitor.sees(request, answer, known);
        if (verdict === undefined) continue;
        const cases = (before?.cases ?? 0) + 1;
        judgements.set(
          monitor,
          verdict.kind === 'failed'
            ? { verdict, cases, evidence: { request, reply: answer } }
            : { verdict, cases },
        );
      }
    },
    judgement: (monitor) => judgements.get(monitor) ?? { verdict: monitor.unseen, cases: 0 },
  };
}
