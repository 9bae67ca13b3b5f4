import { delimiter, join } from 'node:path';
import { statOf } from './cli-context.ts';
import { shellWord } from '../reports/text.ts';
import type { Environment } from '../schemas/fixture.ts';
import type { Redact } from '../schemas/redact.ts';
import type { Flags, Given } from './commands/command.ts';
import { doctorFlags, network } from './commands/flags.ts';

/** The program as a person has to type it. npm adds its own folders to PATH, which a shell does not have. */
export function programName({ PATH = '' }: Environment): string {
  const folders = PATH.split(delimiter).filter((one) => one !== '' && !/[\\/]\.bin[\\/]?$/.test(one));
  const files = folders.map((one) => statOf(join(one, 'ib-conformance')));
  return files.some((file) => file?.isFile()) ? 'ib-conformance' : 'npx ib-conformance';
}

/**
 * Returns commands to copy: one that repeats the run, and for a target the commands that examine and describe it.
 *
 * @param flags those of `verify` that may have been given
 * @param redact hides the keys of the fixture and the secrets of header fields
 */
export function printedCommands(flags: Flags, given: Given, env: Environment, redact: Redact) {
  const { url = 'mock' } = given as { readonly url?: string };
  const command = (start: readonly string[], some: Flags) =>
    redact([programName(env), ...start, shellWord(url), ...wordsOf(some, given)].join(' '));
  return {
    rerun: command(['verify'], flags),
    ...(url !== 'mock' && {
      doctor: command(['doctor'], doctorFlags),
      init: command(['init', '--url'], network),
    }),
  };
}

const wordsOf = (flags: Flags, given: Given): readonly string[] =>
  Object.entries(flags).flatMap(([name, { notRepeated, isHeader }]) => {
    const values = notRepeated === undefined && given[name] !== undefined ? [given[name]].flat() : [];
    return values.flatMap((value) => {
      if (typeof value === 'boolean') return value ? `--${name}` : `--${name}=false`;
      const isShown = isHeader !== true || /\$\{/.test(value as string);
      // The value of a header field may be a secret. The command reads the config file again.
      if (!isShown && (given['ofFile'] as readonly string[] | undefined)?.includes(name)) return [];
      const text = isShown ? (value as string) : (value as string).replace(/:.*/s, ': …');
      return text.startsWith('-') ? shellWord(`--${name}=${text}`) : [`--${name}`, shellWord(text)];
    });
  });
