import { answers } from './answers.ts';
import type { Command, Family } from './command.ts';
import { doctor } from './doctor.ts';
import { fixture } from './fixture.ts';
import { init } from './init.ts';
import { mock } from './mock.ts';
import { requirements } from './requirements.ts';
import { sweep } from './sweep.ts';
import { verify } from './verify.ts';

/** Every command, in the order of the help. */
export const commands: readonly (Command | Family)[] = [
  verify,
  doctor,
  init,
  mock,
  sweep,
  requirements,
  answers,
  fixture,
];
