/** What mends that a requirement could not be judged, or was left out, by the reason's code. */
export const remedies = {
  'no-fixture': 'state in the fixture what the reason says that it lacks',
  'no-second-key': 'add an active key of another partner to the fixture',
  'no-state-hook': 'give --state-url with a URL that changes the state of the target',
  'state-hook': 'look into the log of the state hook',
  skipped: 'leave --skip out',
  timeout: 'see why the target is slow, or give it more time with --timeout',
  network: 'see why the connection broke: a proxy, a crash, a limit on connections',
  'rate-limited': 'raise the limits on a test system, or give the partner a second active key',
  'limit-not-reached': 'state limits in the fixture, or lower the threshold on a test system',
  'timing-window': 'run it nearer to the target, without --rate, or on a test system with a longer window',
  budget: 'more of --max-duration or --max-requests, a second active key, or fewer --cases',
  interrupted: 'let the run come to its end',
  flaky: 'find out why the target answers one request in two ways',
  'key-refused': 'put the key of an active partner of this target into the fixture',
  depends: 'mend the requirement that the reason names',
  'not-seen': 'see why no answer of the kind arrived that the requirement speaks of',
  'not-recorded': 'verify the target again: the transcript does not hold what the check needs',
} as const satisfies Record<string, string>;

/** The remedy for a reason; undefined for a reason that is not known here, as of a newer version. */
export function remedyOf(reason: string): string | undefined {
  return Object.hasOwn(remedies, reason) ? remedies[reason as keyof typeof remedies] : undefined;
}
