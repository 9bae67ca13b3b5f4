import { existsSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import type { Command } from '../commands/command.ts';
import type { CliContext } from '../cli-context.ts';
import { upwards } from '../upwards.ts';
import { readConfig } from './read.ts';
import { retold } from './retell.ts';
import type { Sections } from './sections.ts';
import { settle, type Settled, type Typed } from './settle.ts';

/**
 * Settles what a command is called with, and reads the config file for it: the one that is named, else
 * the one that is looked for.
 *
 * @throws Problem with code `usage` for a variable or a file that is wrong, which it names
 */
export async function settings(
  command: Command,
  typed: Typed,
  { env, configFile, writeError }: CliContext,
  sections: () => Sections,
): Promise<Settled> {
  const withoutFile = settle(command, typed, env);
  const named = withoutFile.values['config'] as string | undefined;
  const file = named ?? configFile;
  if (command.configured === undefined || file === undefined) return withoutFile;
  try {
    const config = await readConfig(file, sections(), named === undefined);
    if (config !== undefined) return settle(command, typed, env, config);
    writeError(noteOfOneAbove(file));
    return withoutFile;
  } catch (error) {
    throw retold(error, withoutFile.origins);
  }
}

/** For who is in a folder of a project and thinks that its file is read: without a URL the mock would be verified. */
function noteOfOneAbove(file: string): string {
  const folder = dirname(resolve(file));
  const places = upwards(folder).map((above) => join(above, basename(file)));
  const found = places.find((place) => existsSync(place));
  return found === undefined
    ? ''
    : `config: ${relative(folder, found)} is not read from here; --config names one that is\n`;
}
