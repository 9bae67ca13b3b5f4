import { fixtureWarnings } from '../schemas/fixture.ts';
import type { Fixture, RunRecord } from '../schemas/generated/types.ts';
import { run, virtualClock, type RunOptions } from '../suites/index.ts';
import type { CliContext } from './cli-context.ts';
import { CLEAR_LINE, createDisplay } from './display.ts';
import { logLine, type ExchangeLog } from './exchange-log.ts';
import { stateHookAt, type Selection } from './run-options.ts';
import { startMock } from '../mock/server/server.ts';

interface VerifyFlags {
  readonly url: URL | undefined;
  readonly fixture: string | undefined;
  /** Command that describes the target. */
  readonly init: string | undefined;
}

/**
 * Runs the suites and shows the progress.
 *
 * @param fixture the loaded fixture of the flags
 * @param log gets every exchange
 */
export async function verifyRun(
  flags: VerifyFlags,
  fixture: Fixture,
  options: Omit<RunOptions, 'target'> & Selection,
  log: ExchangeLog | undefined,
  context: CliContext,
): Promise<RunRecord> {
  announceInterruption(context);
  const { close = () => Promise.resolve(), ...session } =
    flags.url === undefined ? await mockSession(fixture) : targetSession(flags.url, flags, fixture);
  const display = createDisplay(context, setInterval);
  try {
    return await run({
      ...options,
      ...session,
      ...(flags.url === undefined ? { onProgress: display.onProgress } : display),
      ...(log && { onExchange: (exchange) => log.write(logLine(exchange, { ...options, ...session })) }),
    });
  } finally {
    await close();
    display.close();
  }
}

interface Session extends Pick<RunOptions, 'target' | 'notes' | 'ifRefused' | 'mock' | 'stateHook'> {
  readonly timeoutMs?: number;
  readonly clock?: RunOptions['clock'];
  readonly close?: () => Promise<void>;
}

/** Mock and engine share a virtual clock: waiting for a rate limit takes no time. */
async function mockSession(fixture: Fixture): Promise<Session> {
  const clock = virtualClock(Date.now());
  // Nobody can read its journal.
  const mock = await startMock({ fixture, clock, journal: 0 });
  // Only a busy machine makes the mock slow.
  const timeoutMs = 60_000;
  return {
    target: new URL(mock.url),
    stateHook: stateHookAt(new URL(`${mock.adminUrl}/state`), timeoutMs, { insecure: false }),
    clock,
    timeoutMs,
    mock: true,
    notes: ['This run verified the built-in mock.'],
    close: () => mock.close(),
  };
}

function targetSession(target: URL, { fixture: file, init = '' }: VerifyFlags, fixture: Fixture): Session {
  if (file !== undefined) return { target, notes: fixtureWarnings(fixture) };
  return {
    target,
    notes: ['No --fixture was given, so the target is expected to have the built-in data.'],
    ifRefused: `the target does not accept the keys of the built-in fixture; give --fixture with the data of the target\nnext: ${init}`,
  };
}

/** Prints at once that a signal arrived, because the end of the run takes time. */
function announceInterruption(context: CliContext): void {
  const { signal, isTerminal, writeError } = context;
  const announce = () => {
    const by = typeof signal.reason === 'string' ? ` by ${signal.reason}` : '';
    writeError(
      `${isTerminal ? CLEAR_LINE : ''}ib-conformance: interrupted${by}; writing the reports; a second signal stops at once\n`,
    );
  };
  if (signal.aborted) announce();
  else signal.addEventListener('abort', announce, { once: true });
}
