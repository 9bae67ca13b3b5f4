import type { Command } from '../commands/command.ts';
import type { Surroundings } from '../surroundings.ts';
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
  { env, configFile }: Surroundings,
  sections: () => Sections,
): Promise<Settled> {
  const withoutFile = settle(command, typed, env);
  const named = withoutFile.values['config'] as string | undefined;
  const file = named ?? configFile;
  if (command.configured === undefined || file === undefined) return withoutFile;
  try {
    const config = await readConfig(file, sections(), named === undefined);
    return config === undefined ? withoutFile : settle(command, typed, env, config);
  } catch (error) {
    throw retold(error, withoutFile.origins);
  }
}
