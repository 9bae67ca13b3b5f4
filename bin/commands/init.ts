import { resolve } from 'node:path';
import { defined } from '../../schemas/values.ts';
import { Problem, wrongUsage } from '../../schemas/problem.ts';
import { CONFIG_FILE } from '../cli-context.ts';
import { exitCodeOfCheckup } from '../exit-codes.ts';
import { schemaReference, rejectExisting, prepareFile } from '../output-files.ts';
import { parseTarget, networkOf } from '../network.ts';
import { command, type Flags, type Values } from './command.ts';
import { file, network, onOff, text } from './flags.ts';
import { examine, redactor } from '../../suites/index.ts';
import type { Checkup } from '../../schemas/generated/types.ts';
import { expandKeys } from '../../schemas/fixture.ts';
import { checkupStep, renderBriefly } from '../../reports/index.ts';
import { programName } from '../printed-command.ts';
import { runOptions } from '../run-options.ts';
import { collectAnswers, KEY_VARIABLE } from '../init/answers.ts';
import { compared, factsOf, fixtureOf, lookUpIds } from '../init/first-fixture.ts';

const flags = {
  url: { ...text, describe: 'set the base URL of the server, with or without a path' },
  member: { ...text, describe: 'use this user_id of a user under the IB' },
  executed: { ...text, describe: 'use this reference_id of an EXECUTED deposit of that user' },
  fixture: { ...file, default: 'fixture.json', describe: 'write the fixture to this file' },
  ...network,
  'failed-lookups': { ...text, describe: 'use this limit of user-status: failed lookups, such as 60/1m' },
  requests: { ...text, describe: 'use this limit of deposit-check: requests, such as 250/1m' },
  yes: { ...onOff, describe: 'ask nothing' },
  force: { ...onOff, describe: 'overwrite existing files' },
} as const satisfies Flags;

type InitFlags = Values<typeof flags>;

const TIMEOUT_MS = 3000;

export const init = command({
  usage: 'init',
  what: 'create a first fixture and a config file for your server',
  guide: 'verify.md',
  flags,
  examples: [
    ['$0 init', 'ask for the values; the key is never written'],
    ['$0 init --yes --url http://localhost:8080', 'ask nothing; the key is in IB_API_KEY'],
  ],
  run: async (values, context) => {
    const { env, signal, print, terminal } = context;
    const files = [values.fixture, CONFIG_FILE] as const;
    if (resolve(values.fixture) === resolve(CONFIG_FILE))
      throw wrongUsage(`--fixture ${values.fixture}: this is the name of the config file; give another name`);
    if (!values.force) rejectExisting(files);
    const tls = await networkOf(values, context);
    const prompter = values.yes ? undefined : await context.prompter?.();
    const answers = await collectAnswers(values, env, prompter);
    const options = { target: parseTarget(answers.url), timeoutMs: TIMEOUT_MS, tls, signal };
    const facts = factsOf(answers, await lookUpIds(answers, options));
    const written = fixtureOf(answers, facts, schemaReference('fixture', values.fixture));
    const { fixture } = expandKeys(written, { [KEY_VARIABLE]: answers.key });
    const settings = runOptions({ ...options, fixture, seed: 1 });
    const checkup = await examine({ ...settings, target: options.target, fixture });
    if (signal.aborted) throw new Problem('interrupted', 'interrupted: nothing was written');
    // A file may have appeared since the first check.
    if (!values.force) rejectExisting(files);
    await writeFiles([
      [values.fixture, 'the fixture', written],
      [CONFIG_FILE, 'the config file', configOf(values, options.target.href.replace(/\/$/, ''))],
    ]);
    // The only key comes from this variable, or was typed.
    const named = (shown: string) => shown.replaceAll('apiKeys[0]', KEY_VARIABLE);
    const redact = redactor(settings.known);
    const key = env[KEY_VARIABLE] ? '' : `export ${KEY_VARIABLE}=…; `;
    const next = `${key}${programName(env)} verify`;
    const exitCode = exitCodeOf(checkup);
    // A run tells what is wrong with the data.
    const obstacles = { ...checkup, checks: exitCode === 0 ? [] : checkup.checks };
    const found = renderBriefly(checkup, terminal) + checkupStep(obstacles, next, terminal);
    await print(redact(ending(files, facts)) + named(found));
    return exitCode;
  },
});

/** 0 if a run can start. It finds itself what is wrong with the data. */
function exitCodeOf({ verdict, checks }: Checkup): number {
  const isRefused = checks.some(({ area, outcome }) => area === 'keys' && outcome === 'problem');
  return exitCodeOfCheckup[verdict === 'problems' && !isRefused ? 'ok' : verdict];
}

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

function ending(files: readonly string[], facts: ReturnType<typeof factsOf>): string {
  const isFromServer = [...facts.users, ...facts.deposits].some((fact) => fact.isFromServer);
  return [
    ...files.map((path) => `wrote ${path}`),
    'The files do not contain the key. Each run reads it from the environment.',
    ...(isFromServer
      ? [
          `Where you typed nothing, ${files[0]} has what the server sent. If your records differ, correct it there.`,
          'Otherwise a mistake of the server counts as right.',
        ]
      : []),
    ...compared(facts),
    '',
    '',
  ].join('\n');
}
