import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { reference } from '../mock/behaviour.ts';
import type { ClockMode } from '../mock/options.ts';
import { isLoopback, isToken, startMock, type Mock, type MockOptions } from '../mock/server.ts';
import type { Fixture } from '../schemas/generated/types.ts';
import { Problem } from '../schemas/problem.ts';
import { unlessClosed } from './output-files.ts';
import { deviation, deviations, listed } from './deviation.ts';
import { loadFixture } from './fixture-file.ts';
import { magicLines } from './magic-values.ts';
import { logLines, type LogLines } from './log-lines.ts';
import { logs, type LogFormat } from './mock-log.ts';
import type { CliContext } from './cli-context.ts';
import { wholeNumber } from './values.ts';
import { oneAtATime, stampOf, watchFile } from './watch-file.ts';

/** The flags of `mock`, as they were typed. */
export interface MockFlags {
  readonly port: string;
  readonly host: string;
  readonly basePath: string;
  readonly fixture?: string | undefined;
  readonly watch: boolean;
  readonly limits: 'on' | 'off';
  readonly fault?: string | undefined;
  readonly variant?: string | undefined;
  readonly chaos: readonly string[];
  readonly chaosSeed: string;
  readonly delay: string;
  readonly scorecard: readonly string[];
  readonly clock: ClockMode;
  readonly journal: string;
  readonly maxWorlds: string;
  readonly noAdmin: boolean;
  readonly adminPort?: string | undefined;
  readonly adminToken?: string | undefined;
  readonly tlsCert?: string | undefined;
  readonly tlsKey?: string | undefined;
  readonly cors: boolean;
  readonly log: LogFormat;
}

/** How long (ms) answers that are under way may take when the mock is to end. */
const PATIENCE = 800;

/** How long (ms) what waits of the log may take then. */
const LOG_PATIENCE = 150;

/** Serves until the signal fires, and returns the exit code. */
export async function mock(flags: MockFlags, context: CliContext): Promise<number> {
  const { print } = context;
  const list = (['fault', 'variant'] as const).find((flag) => flags[flag] === 'list');
  if (list !== undefined) {
    await print(listed(await deviations[list]()));
    return 0;
  }
  // Taken before the fixture is read: what changes meanwhile is a change.
  const stamp = flags.watch ? stampOf(flags.fixture ?? '') : '';
  const fixture = await fixtureOf(flags, context);
  const admin = adminOf(flags);
  const lines = logLines(print, (count) =>
    logs[flags.log].event(Date.now(), `${count} requests are not in this log: nobody read it`),
  );
  const options = await optionsOf(flags, lines, fixture, admin);
  const scorecards =
    flags.scorecard.length === 0
      ? undefined
      : await (await import('./scorecard-files.ts')).prepareScorecards(flags.scorecard, context);
  try {
    const server = await listen(options, flags);
    await serve(server, flags, context, admin, stamp);
    if (scorecards !== undefined) await scorecards.write(await server.scorecard());
    if (!(await lines.emptied(LOG_PATIENCE))) context.leave?.(0);
  } finally {
    await scorecards?.discard();
  }
  return 0;
}

type Admin = ReturnType<typeof adminOf>;

/** Says where the mock is, and ends it when the signal fires. */
async function serve(
  server: Mock,
  flags: MockFlags,
  context: CliContext,
  admin: Admin,
  stamp: string,
): Promise<void> {
  const { writeError, signal } = context;
  // It serves on when nobody reads what it says.
  const print = (text: string) => context.print(text).catch(unlessClosed);
  const log = logs[flags.log];
  try {
    // Programs wait for this line, whatever the log is.
    await print(`listening on ${server.url}\n`);
    const { url, port, adminUrl } = server;
    if (flags.log === 'json') await print(log.event(Date.now(), 'listening', { url, port, adminUrl }));
    if (flags.log === 'pretty') {
      if (adminUrl !== undefined) await print(`admin API at ${adminUrl}\n`);
      await print(magicLines(server.magicValues(), url, flags.fixture === undefined));
    }
    if (admin !== false && admin.isGenerated) writeError(`admin token: ${admin.token}\n`);
    if (flags.watch) keepWatch(flags, context, server, stamp);
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve));
  } finally {
    const deadline = setTimeout(() => void server.close({ force: true }), PATIENCE);
    await server.close();
    clearTimeout(deadline);
  }
}

async function optionsOf(
  flags: MockFlags,
  lines: LogLines,
  fixture: Fixture,
  admin: Admin,
): Promise<MockOptions> {
  const { request } = logs[flags.log];
  return {
    fixture,
    arePublicKeys: flags.fixture === undefined,
    host: withoutBrackets(flags.host),
    port: wholeNumber('port', flags.port, 0, 65_535),
    basePath: basePathOf(flags),
    behaviour:
      flags.variant === undefined ? reference : (await deviation('variant', flags.variant)).change(reference),
    deviation: flags.fault === undefined ? undefined : await deviation('fault', flags.fault),
    clock: { now: Date.now, mode: flags.clock },
    chaos: flags.chaos,
    chaosSeed: wholeNumber('chaos-seed', flags.chaosSeed, Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER),
    delayMs: wholeNumber('delay', flags.delay, 0, 600_000),
    journal: wholeNumber('journal', flags.journal, 0, 1_000_000),
    maxWorlds: wholeNumber('max-worlds', flags.maxWorlds, 1, 100_000),
    admin,
    tls: await tlsOf(flags),
    cors: flags.cors,
    ...(request && { onExchange: ({ entry }) => lines.write(() => request(entry())) }),
  };
}

async function fixtureOf(
  { fixture: file, limits: wanted, watch }: MockFlags,
  { env }: CliContext,
): Promise<Fixture> {
  if (watch && file === undefined)
    throw new Problem('usage', '--watch: which file? Give --fixture <file> with it');
  const fixture = await loadFixture(file, env);
  if (wanted === 'on') return fixture;
  const { limits: _, apiKeys = [], ...unlimited } = fixture;
  return { ...unlimited, apiKeys: apiKeys.map(({ limits: __, ...apiKey }) => apiKey) };
}

/** A new fixture begins everything anew; a wrong one changes nothing, and is told. */
function keepWatch(flags: MockFlags, context: CliContext, server: Mock, stamp: string): void {
  const { print, writeError, signal } = context;
  const reload = oneAtATime(async (isOutOfDate) => {
    try {
      const fixture = await fixtureOf(flags, context);
      if (isOutOfDate() || signal.aborted) return;
      server.replaceFixture(fixture);
      await print(logs[flags.log].event(Date.now(), `loaded ${flags.fixture} again`));
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      writeError(`ib-conformance: the fixture is not loaded again, the one before is still served:\n`);
      writeError(`${error.message}\n`);
    }
  });
  watchFile(flags.fixture ?? '', stamp, signal, () => void reload());
}

/** Beyond this machine the admin API needs a token; without one, one is made. */
function adminOf({ noAdmin, adminPort, adminToken, host, port }: MockFlags) {
  if (noAdmin && (adminPort !== undefined || adminToken !== undefined))
    throw new Problem('usage', '--no-admin leaves nothing for --admin-port and --admin-token');
  if (noAdmin) return false;
  if (adminToken !== undefined && !isToken(adminToken))
    throw new Problem('usage', '--admin-token needs visible ASCII characters without spaces');
  const own = adminPort === undefined ? undefined : wholeNumber('admin-port', adminPort, 0, 65_535);
  if (own !== undefined && own !== 0 && `${own}` === port)
    throw new Problem('usage', `--admin-port ${own}: is that of --port; leave it out, or give another one`);
  const isGenerated = adminToken === undefined && !isLoopback(withoutBrackets(host));
  return {
    port: own,
    token: isGenerated ? randomBytes(18).toString('base64url') : adminToken,
    isGenerated,
  };
}

/** An address of IPv6 as it stands in a URL is that address. */
const withoutBrackets = (host: string) => host.replace(/^\[(.*)\]$/, '$1');

function basePathOf({ basePath, noAdmin }: MockFlags): string {
  if (!/^[\w.~!$&'()*+,;=:@%/-]*$/.test(basePath))
    throw new Problem('usage', `--base-path ${basePath}: is not the path of a URL, such as /gateway/v2`);
  if (!noAdmin && /^\/*__admin(?:\/|$)/.test(basePath))
    throw new Problem(
      'usage',
      `--base-path ${basePath}: there is the admin API; give another one, or --no-admin`,
    );
  return basePath;
}

async function tlsOf({ tlsCert, tlsKey }: MockFlags): Promise<MockOptions['tls']> {
  if (tlsCert === undefined && tlsKey === undefined) return undefined;
  if (tlsCert === undefined || tlsKey === undefined)
    throw new Problem('usage', '--tls-cert and --tls-key belong together: give both');
  // In turn: of two that are missing, it is always the same that is told.
  const cert = await pem('tls-cert', tlsCert);
  return { cert, key: await pem('tls-key', tlsKey) };
}

async function pem(flag: string, file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new Problem(
      'usage',
      `--${flag} ${file}: cannot be read (${(error as NodeJS.ErrnoException).code})`,
    );
  }
}

async function listen(options: MockOptions, { port, adminPort }: MockFlags): Promise<Mock> {
  try {
    return await startMock(options);
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException;
    if (code.startsWith('ERR_OSSL') || code.startsWith('ERR_SSL'))
      throw new Problem('usage', `--tls-cert, --tls-key: not a certificate and its key in PEM (${message})`);
    const why = reasons[code];
    if (why === undefined) throw error;
    const { port: refused = port } = error as { readonly port?: number };
    const flag = `${refused}` === adminPort ? '--admin-port' : '--port';
    throw new Problem('usage', `cannot listen on ${options.host}:${refused}: ${why(flag)}`);
  }
}

const reasons: Readonly<Record<string, (flag: string) => string>> = {
  EADDRINUSE: (flag) => `the port is in use; give another ${flag}, or ${flag} 0 for a free one`,
  EACCES: (flag) => `a port below 1024 needs more rights; give another ${flag}`,
  EADDRNOTAVAIL: () => 'this machine has no such address; give another --host',
  ENOTFOUND: () => 'the name of --host does not resolve',
};
