import { fixtureWarnings } from '../../schemas/fixture.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  clockModes,
  deviations,
  deviationOf,
  JOURNAL_SIZE,
  ranges,
  withoutLimits,
} from '../../mock/control/options.ts';
import type { Fixture } from '../../schemas/generated/types.ts';
import { codeOf, wrongUsage } from '../../schemas/problem.ts';
import type { CliContext } from '../cli-context.ts';
import { loadFixture, readText } from '../input-files.ts';
import { ignoreClosed } from '../exit-codes.ts';
import { command, type Flags, type Values } from './command.ts';
import { config, file, onOff, text, wholeNumberOr } from './flags.ts';
import { listExamples, type Example } from '../../mock/server/examples.ts';
import { isLoopback, startMock, type MockOptions } from '../../mock/server/server.ts';
import { reference } from '../../mock/server/handler.ts';
import type { JournalEntry } from '../../mock/control/journal.ts';

const flags = {
  port: { ...wholeNumberOr(4010, ...ranges.port), describe: 'listen on this port; 0 for a free one' },
  host: {
    ...text,
    default: '127.0.0.1',
    // An IPv6 address may have brackets, as in a URL.
    coerce: (given: string) => given.replace(/^\[(.*)\]$/, '$1'),
    describe: 'listen on this address',
  },
  fixture: { ...file, describe: 'serve this JSON file (default: built-in data)' },
  limits: { ...text, choices: ['on', 'off'], default: 'on', describe: 'apply rate limits' },
  fault: {
    ...text,
    describe: 'break one rule; `list` prints common faults, `list --all` all',
  },
  variant: {
    ...text,
    describe: 'answer in another correct way; `list` prints variants',
  },
  clock: {
    ...text,
    choices: clockModes,
    default: 'real',
    describe: 'choose the clock; frozen: only the admin API moves it',
  },
  all: { ...onOff, configurable: 'never', describe: 'list all, with --fault list or --variant list' },
  config,
  'base-path': { ...text, default: '/', describe: 'serve the interface below this path' },
  journal: {
    ...wholeNumberOr(JOURNAL_SIZE, ...ranges.journal),
    describe: 'keep this many requests per world',
  },
  'no-admin': { ...onOff, describe: 'disable the admin API' },
  'admin-token': {
    ...text,
    isSecret: true,
    configurable: 'by variable',
    describe: 'require this token for the admin API (default: none on loopback, else generated and printed)',
  },
  'end-with-stdin': { ...onOff, describe: 'stop when standard input ends: a parent that is killed ends it' },
  cors: { ...onOff, describe: 'allow calls from web pages of any origin' },
  log: {
    ...text,
    choices: ['pretty', 'json', 'silent'],
    default: 'pretty',
    describe: 'choose what is printed',
  },
} as const satisfies Flags;

type MockFlags = Values<typeof flags>;
type Mock = Awaited<ReturnType<typeof startMock>>;

export const mock = command({
  usage: 'mock',
  what: 'run the reference server over fixture data',
  guide: 'mock.md',
  flags,
  configured: { section: 'mock' },
  examples: [
    ['$0 mock', 'serve the built-in fixture'],
    ['$0 mock --fixture f.json', 'serve your data'],
  ],
  run: async (values, context) => {
    const listed = (['fault', 'variant'] as const).find((flag) => values[flag] === 'list');
    if (listed !== undefined) {
      const rows = Object.entries(deviations[listed]);
      const shown = values.all ? rows : rows.filter(([id]) => commonIds[listed].split(/\s+/).includes(id));
      const rest = rows.length - shown.length;
      const more = rest === 0 ? '' : `and ${rest} more: npx ib-conformance mock --${listed} list --all\n`;
      await context.print(shown.map(([id, { what }]) => `${id}\n    ${what}\n`).join('') + more);
      return 0;
    }
    if (values.all) throw wrongUsage('--all goes with --fault list and with --variant list');
    let written = Promise.resolve();
    // The mock keeps serving if nobody reads its log.
    const write = (line: string) => void (written = context.print(line).catch(() => undefined));
    const { options, newToken } = await optionsOf(values, context, write);
    const server = await start(options);
    if (newToken !== undefined) context.writeError(`admin token: ${newToken}\n`);
    await serve(server, values, context);
    const isWritten = await isDone(written, LOG_TIMEOUT_MS);
    // Standard input that is open would keep the process.
    if (!isWritten || values.endWithStdin) context.leave?.(0);
    return 0;
  },
});

/** Time in ms for the rest of the log to be read when the mock stops. */
const LOG_TIMEOUT_MS = 150;

const isDone = (promise: Promise<void>, ms: number): Promise<boolean> =>
  Promise.race([promise.then(() => true), sleep(ms, false, { ref: false })]);

async function serve(server: Mock, values: MockFlags, context: CliContext): Promise<void> {
  const { signal } = context;
  // The mock keeps serving if nobody reads its output.
  const print = (words: string) => context.print(words).catch(ignoreClosed);
  try {
    const { url, port, adminUrl } = server;
    // Programs wait for this line, with any --log.
    await print(`listening on ${url}\n`);
    if (values.log === 'json')
      await print(jsonLine(Date.now(), { message: 'listening', url, port, adminUrl }));
    if (values.log === 'pretty') {
      if (adminUrl !== undefined)
        await print(`admin API at ${adminUrl}\npage for your browser at ${adminUrl}/\n`);
      await print(curlLines(listExamples(server.session), new URL(url).origin));
    }
    const stopped = new Promise((resolve) => signal.addEventListener('abort', resolve));
    if (!signal.aborted)
      await (values.endWithStdin ? Promise.race([stopped, readText('-', context)]) : stopped);
  } finally {
    await server.close();
  }
}

async function optionsOf(values: MockFlags, context: CliContext, write: (line: string) => void) {
  const fixture = await fixtureOf(values, context);
  const { newToken, admin } = adminOf(values);
  const lineOf = logFormats[values.log];
  const options: MockOptions = {
    fixture,
    arePublicKeys: values.fixture === undefined,
    host: values.host,
    port: values.port,
    basePath: basePathOf(values),
    behaviour: deviationOf('variant', values.variant, '--')?.change(reference),
    deviation: deviationOf('fault', values.fault, '--'),
    clock: values.clock,
    journal: values.journal,
    admin,
    cors: values.cors,
    keepsProcess: true,
    ...(lineOf && { onExchange: ({ entry }) => write(lineOf(entry)) }),
  };
  return { options, newToken };
}

async function fixtureOf({ fixture: path, limits }: MockFlags, context: CliContext): Promise<Fixture> {
  const fixture = await loadFixture(path, context.env, context);
  for (const warning of fixtureWarnings(fixture)) context.writeError(`ib-conformance: ${warning}\n`);
  if (limits === 'on') return fixture;
  return withoutLimits(fixture);
}

/** Common faults and variants, which `list` prints. */
const commonIds: Readonly<Record<'fault' | 'variant', string>> = {
  fault: `member-denied foreign-user-is-member foreign-user-with-404 date-epoch-number date-null amount-in-cents
    amount-as-text time-in-seconds time-as-iso-text pending-with-200 pending-with-202 never-becomes-executed
    deposit-check-503-for-429 first-answer-with-503`,
  variant: `sliding-window limit-per-partner retry-after-left-out retry-after-as-date json-indented fields-reversed
    numbers-with-exponent date-with-more-digits date-with-zero-offset charset-named security-headers chunked
    connection-closed`,
};

/** Requires a token if other machines can reach the admin API. */
function adminOf({ noAdmin, adminToken, host }: MockFlags) {
  if (noAdmin && adminToken !== undefined) throw wrongUsage('--no-admin excludes --admin-token');
  if (noAdmin) return { admin: false as const };
  const randomToken = () => Buffer.from(crypto.getRandomValues(new Uint8Array(18))).toString('base64url');
  const newToken = adminToken === undefined && !isLoopback(host) ? randomToken() : undefined;
  return { admin: { token: adminToken ?? newToken }, newToken };
}

function basePathOf({ basePath, noAdmin }: MockFlags): string {
  if (!/^[\w.~!$&'()*+,;=:@%/-]*$/.test(basePath))
    throw wrongUsage(`--base-path ${basePath}: is not the path of a URL, such as /gateway/v2`);
  if (!noAdmin && /^\/*__admin(?:\/|$)/.test(basePath))
    throw wrongUsage(
      `--base-path ${basePath}: the admin API uses this path; give another one, or --no-admin`,
    );
  return basePath;
}

async function start(options: MockOptions): Promise<Mock> {
  try {
    return await startMock(options);
  } catch (error) {
    const why = listenErrors[codeOf(error)];
    if (why === undefined) throw error;
    const host = options.host?.includes(':') === true ? `[${options.host}]` : options.host;
    throw wrongUsage(`cannot listen on ${host}:${options.port}: ${why}`);
  }
}

const listenErrors: Readonly<Record<string, string>> = {
  EADDRINUSE: 'the port is in use; give another --port, or --port 0 for a free one',
  EACCES: 'a port below 1024 needs elevated permissions; give another --port',
  EADDRNOTAVAIL: 'this machine does not have this address; give another --host',
  ENOTFOUND: 'the name of --host does not resolve',
};

/** @param at in Unix ms */
const jsonLine = (at: number, fields: object) =>
  `${JSON.stringify({ time: new Date(at).toISOString(), ...fields })}\n`;

function prettyLine({ method, target, reason, key, world }: JournalEntry): string {
  const [status, ...why] = reason.split(': ');
  const who = `${key ?? ''}${world === '' ? '' : ` ~${world}`}`;
  return `${status} ${method} ${target}  ${why.join(': ')}${who === '' ? '' : `  ${who}`}\n`;
}

/** Formats of a request in the log by value of `mock --log`. */
const logFormats = {
  pretty: prettyLine,
  json: ({ at, requestHeaders: _, responseHeaders: __, responseBody: ___, ...entry }: JournalEntry) =>
    jsonLine(at, entry),
  silent: undefined,
} as const;

/**
 * Returns a curl command for each state of the fixture, and what its variables stand for.
 *
 * @param origin scheme, host and port
 */
function curlLines(values: readonly Example[], origin: string): string {
  if (values.length === 0)
    return 'The fixture has no active key of a partner: every request is answered 401.\n';
  const column = Math.max(...values.map(({ shows }) => shows.length));
  const lines = values.map(({ shows, target, variable, key = `$${variable}`, keyName, world }) => {
    const sent = world === undefined ? key : `${key}~${world}`;
    const header = keyName === undefined ? '' : `-H "Authorization: Bearer ${sent}" `;
    return `  ${shows.padEnd(column)} curl -i ${header}"${origin}${target}"`;
  });
  const meanings = values.flatMap(({ variable, keyName }) =>
    variable === undefined ? [] : [`  $${variable} stands for ${keyName}`],
  );
  return `${[...lines, ...new Set(meanings)].join('\n')}\n`;
}
