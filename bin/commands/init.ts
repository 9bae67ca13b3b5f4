import { resolve } from 'node:path';
import { defined } from '../../schemas/defined.ts';
import { Problem, wrongUsage } from '../../schemas/problem.ts';
import { CONFIG_FILE } from '../cli-context.ts';
import { exitCodeOfCheckup } from '../exit-codes.ts';
import { schemaReference } from '../schema-reference.ts';
import { parseTarget } from '../url-and-headers.ts';
import { command, type Flags, type Values } from './command.ts';
import { file, network, onOff, text } from './flags.ts';
import { examine } from '../../suites/index.ts';
import { checkupStep, renderCheckup } from '../../reports/index.ts';
import { networkOf } from '../network.ts';
import { runOptions } from '../run-options.ts';
import { collectAnswers, KEY_VARIABLE } from '../init/answers.ts';
import { programName } from '../rerun-command.ts';
import { rejectExisting, prepareFile } from '../output-files.ts';
import * as server from '../init/server-data.ts';

const flags = {
  url: { ...text, describe: 'set the base URL of the server, with or without a path' },
  member: { ...text, describe: 'use this user_id of a user under the IB' },
  executed: { ...text, describe: 'use this reference_id of an EXECUTED deposit of that user' },
  fixture: { ...file, default: 'fixture.json', describe: 'write the fixture to this file' },
  ...network,
  yes: { ...onOff, describe: 'ask nothing, and write the files even if the check fails' },
  force: { ...onOff, describe: 'overwrite existing files' },
} as const satisfies Flags;

type InitFlags = Values<typeof flags>;

const TIMEOUT_MS = 3000;

export const init = command({
  usage: 'init',
  what: 'create a first fixture and a config file for your server',
  flags,
  examples: [
    ['$0 init', 'ask for the values; the key is never written'],
    ['$0 init --yes --url http://localhost:8080', 'ask nothing; the key is in IB_API_KEY'],
  ],
  run: async (values, context) => {
    const { signal, print, writeError, terminal } = context;
    const files = [values.fixture, CONFIG_FILE] as const;
    if (resolve(values.fixture) === resolve(CONFIG_FILE))
      throw wrongUsage(`--fixture ${values.fixture}: this is the name of the config file; give another name`);
    if (!values.force) rejectExisting(files);
    const tls = await networkOf(values, context);
    const prompter = values.yes ? undefined : await context.prompter?.();
    const answers = await collectAnswers(values, context.env, prompter);
    const options = { target: parseTarget(answers.url), timeoutMs: TIMEOUT_MS, tls, signal };
    const found = await server.lookUpIds(answers, options);
    const data = prompter === undefined ? found : await server.confirmValues(found, prompter);
    const fixture = server.fixtureForCheck(answers, data);
    const checkup = await examine({
      ...runOptions({ ...options, fixture, seed: 1 }),
      target: options.target,
      fixture,
      notes: server.missingNotes(answers, data),
    });
    if (signal.aborted) throw new Problem('interrupted', 'interrupted: nothing was written');
    // The only key comes from this variable, or was typed.
    const named = (shown: string) => shown.replaceAll('apiKeys[0]', KEY_VARIABLE);
    await print(named(renderCheckup(checkup, terminal)));
    const exitCode = exitCodeOfCheckup[checkup.verdict];
    const key = context.env[KEY_VARIABLE] ? '' : `export ${KEY_VARIABLE}=…; `;
    const step = named(checkupStep(checkup, `${key}${programName(context.env)} verify`, terminal));
    const isWanted =
      exitCode === 0 || values.yes || (await prompter?.confirm('Write the files anyway?')) === true;
    if (!isWanted) {
      await print(step);
      writeError('ib-conformance: nothing was written; --yes writes the files anyway\n');
      return exitCode;
    }
    // A file may have appeared since the first check.
    if (!values.force) rejectExisting(files);
    await writeFiles([
      [values.fixture, 'the fixture', server.fixtureOf(data, schemaReference('fixture', values.fixture))],
      [CONFIG_FILE, 'the config file', configOf(values, options.target.href.replace(/\/$/, ''))],
    ]);
    await print(ending(files, prompter === undefined ? server.serverValues(data) : []) + step);
    return exitCode;
  },
});

const configOf = ({ fixture, ca, cert, certKey, insecure }: InitFlags, url: string) => ({
  $schema: schemaReference('config', CONFIG_FILE),
  verify: { url, fixture, ...defined({ ca, cert, 'cert-key': certKey, insecure: insecure || undefined }) },
});

async function writeFiles(contents: readonly (readonly [path: string, what: string, content: object])[]) {
  const pending = [];
  try {
    for (const [path, what, content] of contents)
      pending.push({ output: await prepareFile(path, what), content });
    for (const { output, content } of pending)
      await output.write(`${JSON.stringify(content, undefined, 2)}\n`);
  } catch (error) {
    await Promise.all(pending.map(({ output }) => output.discard()));
    throw error;
  }
}

/** @param unchecked values from the server that the user did not confirm */
function ending(files: readonly string[], unchecked: readonly string[]): string {
  const warning = `
These values come from the server. If your records differ, correct them in ${files[0]}. Otherwise a bug of the server counts as correct:
${unchecked.map((value) => `  ${value}`).join('\n')}
`;
  return `
${files.map((path) => `wrote ${path}`).join('\n')}
The files do not contain the key. Each run reads it from the environment.
${unchecked.length === 0 ? '' : warning}
`;
}
