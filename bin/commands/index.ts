import type { Sections } from '../config.ts';
import { answers } from './answers.ts';
import { nameOf, type Command } from './command.ts';
import { doctor } from './doctor.ts';
import { fixture } from './fixture.ts';
import { init } from './init.ts';
import { mock } from './mock.ts';
import { requirements } from './requirements.ts';
import { sweep } from './sweep.ts';
import { verify } from './verify.ts';

/** Every command, in the order of the help. */
export const commands: readonly Command[] = [
  verify,
  doctor,
  init,
  mock,
  sweep,
  requirements,
  answers,
  fixture,
];

/** The sections of the config file: flags and arguments by command. */
export const configSections: Sections = Object.fromEntries(
  commands
    .filter((command) => command.configured?.section === nameOf(command))
    .map((command) => [nameOf(command), configurableOf(command)]),
);

function configurableOf({ positionals, flags, configured }: Command) {
  const all = Object.entries({ ...positionals, ...flags });
  return Object.fromEntries(all.filter(([name]) => configured?.only?.includes(name) !== false));
}
