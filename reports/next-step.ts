import type { RunRecord } from '../schemas/generated/types.ts';
import { isKnownFailure } from '../schemas/known-failure.ts';
import { replayCommand } from './replay-command.ts';

/** What to do next: a command to be copied, or words. */
export type NextStep = { readonly command: string } | { readonly words: string };

/** What mends a requirement that could not be judged, by the reason; the first that applies is told. */
const mending: Readonly<Record<string, string>> = {
  interrupted: 'let the run come to its end',
  'key-refused': 'see whether the first active key of the fixture is one of this target',
  network: 'see in the log of the target why it breaks connections',
  timeout: 'see why the target takes so long, or give it more with --timeout',
  budget:
    'give more of --max-duration or --max-requests, a second active key of the partner, or fewer --cases',
  'rate-limited': 'state the limits in the fixture, or raise them on a test system',
  flaky: 'find out why the target answers the same request in two ways',
  'timing-window': 'run it nearer to the target, without --rate, or on a test system with a longer window',
  'limit-not-reached': "state the threshold in the fixture's limits, or lower it on a test system",
  'no-second-key': 'add an active key of another partner to the fixture',
  'no-fixture': 'add to the fixture what it lacks, as said above',
  'not-recorded': 'verify the target again, so that it is asked for',
  'state-hook': 'see why the state hook does not do what it is asked for',
  'no-state-hook': 'give --state-url, so that the rest can be verified, too',
};

/** What a reader of the report does next; undefined where nothing is left to do. */
export function nextStep(record: RunRecord): NextStep | undefined {
  const { requirements, counts } = record;
  if (counts.broken > 0) return { words: 'report the bug of ib-conformance, with --report json=run.json' };
  for (const level of ['required', 'recommended', 'observed'] as const)
    for (const result of requirements)
      if (result.level === level && result.outcome === 'failed' && !isKnownFailure(result)) {
        const command = replayCommand(record, result);
        if (command !== undefined) return { command };
      }
  const reasons = new Set(
    requirements.flatMap((row) =>
      row.outcome === 'inconclusive' || row.outcome === 'excluded' ? [row.reason] : [],
    ),
  );
  const words = Object.entries(mending).find(([reason]) => reasons.has(reason))?.[1];
  return words === undefined ? undefined : { words };
}
