import type { Command, Family, Flag } from '../commands/command.ts';

/** Flags and arguments by their names. */
export type Section = Readonly<Record<string, Flag>>;

/** What a config file may hold: the flags and arguments of commands, by the names of these. */
export type Sections = Readonly<Record<string, Section>>;

/** The objects of a config file, as the registry of commands has them. */
export function sectionsOf(commands: readonly (Command | Family)[]): Sections {
  const owners = commands.flatMap((one) => ('commands' in one ? one.commands : [one]));
  return Object.fromEntries(
    owners.flatMap(({ usage, positionals, flags, configured }) => {
      const [name = ''] = usage.split(' ');
      return configured?.by === name ? [[name, { ...positionals, ...flags }]] : [];
    }),
  );
}
