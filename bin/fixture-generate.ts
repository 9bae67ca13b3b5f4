import { Problem } from '../schemas/problem.ts';
import { generatedFixture } from './fixture/generate.ts';
import { writeOutputs } from './fixture/output.ts';
import { schemaReference } from './schema-reference.ts';
import type { CliContext } from './cli-context.ts';
import { wholeNumber } from './values.ts';

/** The flags of `fixture generate`, as they were typed. */
export interface GenerateFlags {
  readonly users: string;
  readonly deposits: string;
  readonly partners: string;
  readonly seed: string;
  readonly noBecomes: boolean;
  readonly output?: string | undefined;
}

/** A key is sent with every request: more of them than this are no use to a test. */
const MOST_PARTNERS = 10_000;
const MOST_ENTITIES = 100_000_000;

/**
 * Writes a generated fixture.
 *
 * @throws Problem with code `usage` or `interrupted`
 */
export async function generateFixture(flags: GenerateFlags, context: CliContext): Promise<void> {
  const amount = {
    users: wholeNumber('users', flags.users, 0, MOST_ENTITIES),
    deposits: wholeNumber('deposits', flags.deposits, 0, MOST_ENTITIES),
    partners: wholeNumber('partners', flags.partners, 1, MOST_PARTNERS),
  };
  const seed = wholeNumber('seed', flags.seed, -(2 ** 31), 2 ** 31 - 1);
  if (amount.users === 0 && amount.deposits > 0)
    throw new Problem(
      'usage',
      `--deposits ${amount.deposits}: every deposit is a user's; give --users 1 or more`,
    );
  // What goes to standard output is mostly led into a file here.
  const schema = schemaReference('fixture', flags.output ?? 'fixture.json');
  const chunks = generatedFixture(amount, seed, flags.noBecomes ? 'staying' : 'becoming', schema);
  await writeOutputs([{ chunks, file: flags.output, what: 'the fixture' }], context);
}
