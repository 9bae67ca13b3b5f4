import { defaults } from './defaults.ts';
import type { VerifyFlags } from './verify.ts';

/** Flags that change what a run finds, as one would type them again; never a value of --header. */
export function rerunCommand(flags: VerifyFlags): string {
  const quoted = (word: string) =>
    /^[\w./:@%+=-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
  return [
    'ib-conformance verify',
    ...(flags.url === undefined ? [] : [quoted(flags.url)]),
    ...(flags.fixture === undefined ? [] : [`--fixture ${quoted(flags.fixture)}`]),
    ...(flags.partner === undefined ? [] : [`--partner ${quoted(flags.partner)}`]),
    ...(flags.cases === String(defaults.cases) ? [] : [`--cases ${flags.cases}`]),
    ...(flags.stateUrl === undefined ? [] : [`--state-url ${quoted(flags.stateUrl)}`]),
    ...(flags.ca === undefined ? [] : [`--ca ${quoted(flags.ca)}`]),
    ...(flags.insecure ? ['--insecure'] : []),
    ...flags.header.map((text) => `--header '${text.slice(0, text.indexOf(':'))}: …'`),
  ].join(' ');
}
