import type { RunRecord } from '../schemas/generated/types.ts';
import { isKnownFailure } from '../schemas/known-failure.ts';
import { remedies, remedyOf } from './remedies.ts';
import { replayCommand } from './replay-command.ts';

/** What to do next: a command to be copied, or words. */
export type NextStep = { readonly command: string } | { readonly words: string };

/** Not worth a step of their own: another requirement tells, or somebody wanted it so. */
const minor: ReadonlySet<string> = new Set(['depends', 'not-seen', 'skipped']);

/** What a reader of the report does next; undefined where nothing is left to do. */
export function nextStep(record: RunRecord): NextStep | undefined {
  const { requirements, counts } = record;
  if (counts.broken > 0) return { words: 'report the bug of ib-conformance, with --report json=run.json' };
  const reasons = new Set(
    requirements.flatMap((row) =>
      row.outcome === 'inconclusive' || row.outcome === 'excluded' ? [row.reason] : [],
    ),
  );
  // With a key that is not the target's, nothing else tells anything.
  if (reasons.has('key-refused')) return { words: remedies['key-refused'] };
  for (const level of ['required', 'recommended', 'observed'] as const)
    for (const result of requirements)
      if (result.level === level && result.outcome === 'failed' && !isKnownFailure(result)) {
        const command = replayCommand(record, result);
        if (command !== undefined) return { command };
      }
  const first = Object.keys(remedies).find((reason) => reasons.has(reason) && !minor.has(reason));
  const words = first === undefined ? undefined : remedyOf(first);
  return words === undefined ? undefined : { words };
}
