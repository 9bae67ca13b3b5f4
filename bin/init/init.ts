import { resolve } from 'node:path';
import { renderCheckup } from '../../reports/index.ts';
import { Problem } from '../../schemas/problem.ts';
import { examine } from '../../suites/index.ts';
import { trustOf } from '../certificates.ts';
import { CONFIG_FILE } from '../config.ts';
import { exitCodeOfCheckup, exitCodes } from '../exit-codes.ts';
import { runOptions } from '../run-options.ts';
import { schemaReference } from '../schema-reference.ts';
import type { CliContext } from '../cli-context.ts';
import { targetUrl } from '../values.ts';
import { askServer } from './ask-server.ts';
import type { Conversation } from './conversation.ts';
import { factsOf, fixtureOf, supposed, type Facts } from './facts.ts';
import { refuseExisting, writeFirstFiles } from './files.ts';
import { heldAgainstRecords, saidBy } from './records.ts';
import { gather, KEY_VARIABLE, type Given, type Wishes } from './wishes.ts';

/** What an answer may take, in ms. */
const TIMEOUT_MS = 3000;

/** The flags of `init`, as they were typed. */
export interface InitFlags extends Given {
  readonly fixture: string;
  readonly ca?: string | undefined;
  readonly insecure: boolean;
  readonly yes: boolean;
  readonly force: boolean;
}

/**
 * Writes a first fixture, and a config file that leads `verify` to it, after a look at the server.
 * Where that finds something wrong, they are written only if it is wished.
 *
 * @returns 0 where they were written, else what `doctor` would end with
 * @throws Problem with code `usage` or `interrupted`; then nothing was written
 */
export async function init(flags: InitFlags, context: CliContext): Promise<number> {
  const { signal, print, writeError, terminal } = context;
  const files = [flags.fixture, CONFIG_FILE];
  if (resolve(flags.fixture) === resolve(CONFIG_FILE))
    throw new Problem(
      'usage',
      `--fixture ${flags.fixture}: the configuration is written there; name another file`,
    );
  if (!flags.force) refuseExisting(files);
  const tls = await trustOf(flags);
  const converse = flags.yes ? undefined : context.converse;
  const wishes = await inConversation(converse, (talk) => gather(flags, context, talk));
  const options = { target: targetUrl(wishes.url), timeoutMs: TIMEOUT_MS, tls, signal };
  const answered = factsOf(wishes, ...(await askServer(wishes, options)));
  refuseInterrupted(signal);
  const facts = await inConversation(converse, async (talk) =>
    talk === undefined ? answered : heldAgainstRecords(answered, talk),
  );
  const fixture = supposed(wishes, facts);
  const checkup = await examine({
    ...runOptions({ ...options, fixture, seed: 1 }),
    target: options.target,
    fixture,
    notes: notesOf(wishes, facts),
  });
  refuseInterrupted(signal);
  await print(renderCheckup(checkup, terminal));
  const isWished =
    checkup.verdict === 'well' ||
    flags.yes ||
    (await inConversation(converse, async (talk) =>
      /^y(?:es)?$/i.test((await talk?.ask('\nWrite the files all the same? [y/N] ')) ?? ''),
    ));
  if (!isWished) {
    writeError('ib-conformance: nothing was written; --yes writes the files all the same\n');
    return exitCodeOfCheckup[checkup.verdict];
  }
  refuseInterrupted(signal);
  if (!flags.force) refuseExisting(files);
  await writeFirstFiles([
    {
      file: flags.fixture,
      what: 'the fixture',
      content: fixtureOf(facts, schemaReference('fixture', flags.fixture)),
    },
    {
      file: CONFIG_FILE,
      what: 'the configuration',
      content: {
        $schema: schemaReference('config', CONFIG_FILE),
        verify: {
          url: wishes.url,
          fixture: flags.fixture,
          ...(flags.ca === undefined ? {} : { ca: flags.ca }),
          ...(flags.insecure ? { insecure: true } : {}),
        },
      },
    },
  ]);
  await print(ending(files, converse === undefined ? saidBy(facts) : []));
  return exitCodes.conformant[0];
}

/** Opens a conversation for as long as the work takes: between two of them, Ctrl-C is a signal. */
async function inConversation<Result>(
  open: CliContext['converse'],
  work: (talk: Conversation | undefined) => Promise<Result>,
): Promise<Result> {
  const talk = await open?.();
  try {
    return await work(talk);
  } finally {
    talk?.close();
  }
}

function refuseInterrupted({ aborted }: AbortSignal): void {
  if (aborted) throw new Problem('interrupted', 'interrupted: nothing was written');
}

/** What becomes of the ids that were asked for. */
function notesOf({ member, executed }: Wishes, { user, deposit }: Facts): readonly string[] {
  const lost = [
    ...(member !== undefined && user === undefined ? ['users[0]'] : []),
    ...(executed !== undefined && (user === undefined || deposit === undefined) ? ['deposits[0]'] : []),
  ];
  return lost.length === 0
    ? []
    : [`The fixture will be without ${lost.join(' and ')}: the server did not say what has to stand there.`];
}

/** @param said what was taken from the server, and held against nothing */
const ending = (files: readonly string[], said: readonly string[]) => `
${files.map((file) => `wrote ${file}`).join('\n')}
The key is in neither of them: each run reads it from the environment.
${
  said.length === 0
    ? ''
    : `
The server said what follows. Correct it in ${files[0]} where your own records say something else, or its mistakes pass for right:
${said.map((line) => `  ${line}`).join('\n')}
`
}
next: export ${KEY_VARIABLE}=…
      ib-conformance verify
`;
