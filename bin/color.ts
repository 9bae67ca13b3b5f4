type Environment = Readonly<Record<string, string | undefined>>;

/** CI services whose logs show colour, though nobody sits at a terminal, by the variable that tells of them. */
const colorfulLogs = ['GITHUB_ACTIONS', 'GITEA_ACTIONS', 'GITLAB_CI', 'BUILDKITE', 'CIRCLECI'] as const;

/** Where text goes: a CI service reads from a pipe, too. */
export type Sink = 'terminal' | 'file' | 'pipe';

/**
 * Whether text for people may be coloured. FORCE_COLOR decides where it is set, `0` and `false` for no;
 * then NO_COLOR (https://no-color.org) says no, and so does a terminal that calls itself dumb; else it
 * is for a terminal, and for a CI log that is known to show it.
 */
export function wantsColor(env: Environment, sink: Sink): boolean {
  const force = env['FORCE_COLOR'] ?? '';
  if (force !== '') return force !== '0' && force !== 'false';
  if ((env['NO_COLOR'] ?? '') !== '' || env['TERM'] === 'dumb') return false;
  return sink === 'terminal' || (sink === 'pipe' && colorfulLogs.some((name) => (env[name] ?? '') !== ''));
}
