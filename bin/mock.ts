import { reference, type Behaviour } from '../mock/behaviour.ts';
import { faults } from '../mock/faults.ts';
import type { JournalEntry } from '../mock/journal.ts';
import { startMock, type Mock, type MockOptions } from '../mock/server.ts';
import { variants } from '../mock/variants.ts';
import type { Fixture } from '../schemas/generated/types.ts';
import { Problem } from '../schemas/problem.ts';
import { loadFixture } from './fixture-file.ts';
import { magicLines } from './magic-values.ts';
import type { Surroundings } from './surroundings.ts';
import { didYouMean } from './nearest.ts';
import { wholeNumber } from './values.ts';

/** The flags of `mock`, as they were typed. */
export interface MockFlags {
  readonly port: string;
  readonly host: string;
  readonly basePath: string;
  readonly fixture?: string | undefined;
  readonly limits: 'on' | 'off';
  readonly fault?: string | undefined;
  readonly variant?: string | undefined;
  readonly log: LogFormat;
}

type LogFormat = 'pretty' | 'json' | 'silent';

/** Serves until the signal fires, and returns the exit code. */
export async function mock(flags: MockFlags, { print, env, signal }: Surroundings): Promise<number> {
  if (flags.fault === 'list' || flags.variant === 'list') {
    await print(listed(flags.fault === 'list' ? faults : variants));
    return 0;
  }
  const { limits, ...unlimited } = await loadFixture(flags.fixture, env);
  const fixture: Fixture =
    flags.limits === 'off' || limits === undefined ? unlimited : { ...unlimited, limits };
  const log = requestLine[flags.log];
  const server = await listen({
    fixture,
    host: flags.host,
    port: wholeNumber('port', flags.port, 0, 65_535),
    basePath: flags.basePath,
    behaviour: deviation(
      'fault',
      flags.fault,
      faults,
      deviation('variant', flags.variant, variants, reference),
    ),
    clock: { now: Date.now },
    onExchange: ({ entry }) => {
      if (log !== undefined) void print(log(entry()));
    },
  });
  try {
    await print(`listening on ${server.url}\n`);
    if (flags.log === 'pretty') await print(magicLines(fixture, server.url, flags.fixture === undefined));
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve));
  } finally {
    await server.close();
  }
  return 0;
}

async function listen(options: MockOptions): Promise<Mock> {
  try {
    return await startMock(options);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const why = code === undefined ? undefined : reasons[code];
    if (why === undefined) throw error;
    throw new Problem('usage', `cannot listen on ${options.host}:${options.port}: ${why}`);
  }
}

const reasons: Readonly<Record<string, string>> = {
  EADDRINUSE: 'the port is in use; give another --port, or --port 0 for a free one',
  EACCES: 'a port below 1024 needs more rights; give another --port',
  EADDRNOTAVAIL: 'this machine has no such address; give another --host',
  ENOTFOUND: 'the name of --host does not resolve',
};

/** What is printed of a request: the line that the journal has of it. */
const requestLine: Readonly<Record<LogFormat, ((entry: JournalEntry) => string) | undefined>> = {
  pretty: ({ method, target, reason, key, world }) =>
    `${reason.replace(':', ` ${method} ${target} `)}${key === undefined ? '' : `  ${key}`}${world === '' ? '' : `~${world}`}\n`,
  json: ({ at, ...entry }) => `${JSON.stringify({ time: new Date(at).toISOString(), ...entry })}\n`,
  silent: undefined,
};

interface Deviation {
  readonly what: string;
  readonly change: (behaviour: Behaviour) => Behaviour;
}

function deviation(
  flag: string,
  id: string | undefined,
  known: Readonly<Record<string, Deviation>>,
  base: Behaviour,
): Behaviour {
  if (id === undefined) return base;
  const found = Object.hasOwn(known, id) ? known[id] : undefined;
  if (found === undefined)
    throw new Problem(
      'usage',
      `--${flag} ${id}: there is none of that name${didYouMean(id, Object.keys(known))} (--${flag} list lists them)`,
    );
  return found.change(base);
}

const listed = (known: Readonly<Record<string, Deviation>>) =>
  Object.entries(known)
    .map(([id, { what }]) => `${id}\n    ${what}\n`)
    .join('');
