/** What mends that a requirement could not be judged, or was left out, by the reason's code; the first that applies comes first. */
export const remedies = {
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
  depends: 'mend the requirement that the reason names',
  'not-seen': 'see why no answer of the kind arrived that the requirement speaks of',
  skipped: 'leave --skip out',
} as const satisfies Record<string, string>;

/** The remedy for a reason; undefined for a reason that is not known here, as of a newer version. */
export function remedyOf(reason: string): string | undefined {
  return Object.hasOwn(remedies, reason) ? remedies[reason as keyof typeof remedies] : undefined;
}
