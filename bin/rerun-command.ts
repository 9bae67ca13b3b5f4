import { compact, shellWord } from '../reports/text.ts';
import type { CliContext } from './cli-context.ts';
import { defaults } from './commands/flags.ts';

/** The flags that say which target is verified, and how. */
interface TargetFlags {
  readonly url: URL | undefined;
  readonly fixture: string | undefined;
  readonly partner: string | undefined;
  readonly cases?: number;
  readonly stateUrl: URL | undefined;
  readonly grace?: number;
  readonly ca: string | undefined;
  readonly cert: string | undefined;
  readonly certKey: string | undefined;
  readonly insecure: boolean;
  readonly strict?: boolean;
  readonly header: Readonly<Record<string, string>>;
}

/** The name of the program, as a person has to type it: npm does not put the program in the path of a shell. */
export const programName = (env: CliContext['env']) =>
  env['npm_command'] === 'exec' ? 'npx ib-conformance' : 'ib-conformance';

/** Returns a command with the same target, without filters, seed and values of --header. */
export function rerunCommand(name: 'verify' | 'doctor', given: TargetFlags, env: CliContext['env']): string {
  const { url, fixture, partner, stateUrl, ca, cert, certKey, insecure, header, strict } = given;
  // doctor does not have these flags.
  const { cases, grace } = name === 'verify' ? given : {};
  const flag = (of: string, value: string | undefined) => value && `--${of} ${shellWord(value)}`;
  return compact(
    `${programName(env)} ${name}`,
    url === undefined ? 'mock' : shellWord(url.href.replace(/\/$/, '')),
    flag('fixture', fixture),
    flag('partner', partner),
    cases !== undefined && cases !== defaults.cases && flag('cases', String(cases)),
    flag('state-url', stateUrl?.href),
    grace !== undefined && grace !== defaults.graceMs && `--grace ${grace}ms`,
    flag('ca', ca),
    flag('cert', cert),
    flag('cert-key', certKey),
    insecure && '--insecure',
    name === 'verify' && strict === true && '--strict',
    ...Object.keys(header).map((one) => `--header '${one}: …'`),
  ).join(' ');
}
