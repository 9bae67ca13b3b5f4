import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { createControls } from '../mock/controls.ts';
import { findMagicValues } from '../mock/magic-values.ts';
import type { Grade } from '../mock/scorecard.ts';
import { startMock } from '../mock/server.ts';
import { sweepVerdict } from '../reports/sweep.ts';
import { duration, shellWord } from '../reports/text.ts';
import { keyNames } from '../schemas/fixture-keys.ts';
import type { BrokenRule, Fixture, Sweep, SweptRun, SweptState } from '../schemas/generated/types.ts';
import { wrongUsage } from '../schemas/problem.ts';
import { redactorOf, type Redact } from '../schemas/redact.ts';
import type { CliContext } from './cli-context.ts';
import { states, observeChange } from './sweep-states.ts';
import { version } from './version.ts';

export interface SweepOptions {
  /** The program and its arguments, run without a shell. */
  readonly command: readonly string[];
  readonly fixture: Fixture;
  /** The keys of the fixture are no secrets. */
  readonly arePublicKeys: boolean;
  /** Ids of states. */
  readonly ids: readonly string[];
  /** Environment variables of the command, and the value of each. */
  readonly env: readonly (readonly [name: string, what: 'url' | 'key'])[];
  readonly parallel: number;
  /** Maximum duration of a run of the command, in ms. */
  readonly maxDuration: number;
  /** Show the output of the command on standard error. */
  readonly showOutput: boolean;
}

type Context = Pick<CliContext, 'env' | 'signal' | 'writeError'>;

/** Number of kept lines of output, and of printed lines if the first run fails. */
const MAX_LINES = 1000;
const LAST_LINES = 40;
const MAX_WORLDS = 10_000;

/**
 * Runs the tests of a client against the unchanged mock, then against each state of the mock.
 *
 * @throws Problem with code `usage` if the tests fail on the unchanged mock, or send it no request
 */
export async function sweep(options: SweepOptions, context: Context): Promise<Sweep> {
  const { arePublicKeys, command, env, fixture, ids } = options;
  const { signal, writeError } = context;
  const keys = fixture.apiKeys ?? [];
  const secrets = keyNames(keys).map((name, at) => ({ name, value: keys[at]!.key }));
  const redact = arePublicKeys ? (text: string) => text : redactorOf(secrets);
  const [startedAt, begun] = [new Date().toISOString(), performance.now()];
  const runs = new Map<string, Run>();
  const broken = new Map<string, BrokenRule>();
  const runOne = async (id: string) => {
    const run = await runInState(id, options, redact, context);
    if (signal.aborted) return;
    runs.set(id, run);
    for (const { id: rule, title, advice } of run.broken)
      broken.set(rule, { rule, title, advice, states: [...(broken.get(rule)?.states ?? []), id] });
    writeError(`${id}: ${run.isGreen ? 'green' : `red (${run.ended})`}, ${duration(run.durationMs)}\n`);
  };
  await runOne('unchanged');
  const first = runs.get('unchanged');
  if (first?.isGreen === false) {
    if (!options.showOutput) writeError(first.lines.slice(-LAST_LINES).join(''));
    throw wrongUsage(`the tests fail on the unchanged mock (${first.ended}): make them pass there first`);
  }
  const named = (wanted: string) => env.flatMap(([name, what]) => (what === wanted ? [name] : [])).join(', ');
  if (first?.requests === 0)
    throw wrongUsage(
      `the tests pass, but no request reached the mock. The client has to read the base URL from ${named('url')} and the key from ${named('key')}; --env renames these variables. Its code must not contain another URL.`,
    );
  const waiting = ids.values();
  const work = async () => {
    for (const id of waiting) if (!signal.aborted) await runOne(id);
  };
  await Promise.all(Array.from({ length: options.parallel }, work));
  const swept = ids.map((id) => judgeState(id, runs.get(id)));
  return {
    format: 'ib-conformance/sweep/1',
    version,
    verdict: sweepVerdict(swept),
    interrupted: signal.aborted,
    command: redact(command.map(shellWord).join(' ')),
    startedAt,
    durationMs: Math.round(performance.now() - begun),
    states: swept,
    broken: [...broken.values()],
  };
}

function judgeState(id: string, run: Run | undefined): SweptState {
  const { kind, what, advice, shows } = states.get(id)!;
  const state = { id, kind, what, advice };
  if (run === undefined) return { ...state, outcome: 'notRun' };
  const { lines, broken: _, ...shown } = run;
  const isSeen = shows === undefined || !run.isGreen || lines.some((line) => line.includes(shows));
  const outcome = run.isGreen === (kind !== 'notice') ? 'passed' : 'failed';
  return { ...state, outcome: run.changed > 0 && isSeen ? outcome : 'notReached', run: shown };
}

interface Run extends SweptRun {
  /** The last lines of the output. */
  readonly lines: readonly string[];
  readonly broken: readonly Grade['rule'][];
}

/** Runs the command against a new mock, in the state with this id or else unchanged. */
async function runInState(id: string, options: SweepOptions, redact: Redact, context: Context): Promise<Run> {
  const { fixture, arePublicKeys, showOutput } = options;
  const state = states.get(id);
  let [requests, changed, isChanged] = [0, 0, false];
  const mock = await startMock({
    fixture,
    arePublicKeys,
    deviation: state?.change && { id, change: observeChange(state.change, () => void (isChanged = true)) },
    firstChaos: state !== undefined && state.change === undefined ? id : undefined,
    maxWorlds: MAX_WORLDS,
    onExchange: ({ entry }) => {
      requests += 1;
      if (isChanged || entry().chaos !== undefined) changed += 1;
      isChanged = false;
    },
  });
  try {
    const key = findMagicValues(fixture, mock.session.facts)[0]?.key.key;
    if (key === undefined) throw wrongUsage('the fixture has no active key of a partner for the client');
    const variables = options.env.map(([name, what]) => [name, { url: mock.url, key }[what]] as const);
    const env = { ...context.env, ...Object.fromEntries(variables) };
    const lines: string[] = [];
    const ended = await runCommand(options, env, context.signal, (line) => {
      const text = `${redact(line)}\n`;
      if (showOutput) context.writeError(`${id}: ${text}`);
      if (lines.push(text) > MAX_LINES) lines.shift();
    });
    const card = await createControls(mock.session).scorecard();
    const broken = card.filter(({ outcome }) => outcome.kind === 'broken').map(({ rule }) => rule);
    return { ...ended, lines, requests, changed, broken };
  } finally {
    await mock.close({ force: true });
  }
}

const isWindows = process.platform === 'win32';
/** Time in ms for the command to end after SIGTERM. */
const GRACE_MS = 2000;
/** Node's maximum for a timer. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

const running = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of running) signalGroup(child, 'SIGKILL');
});

/** Sends a signal to a command and all its child processes. */
function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  if (isWindows) spawnSync('taskkill', ['/pid', `${pid}`, '/t', '/f'], { stdio: 'ignore' });
  else
    try {
      process.kill(-pid, signal);
    } catch {
      // All processes have ended.
    }
}

async function runCommand(
  { command, maxDuration }: SweepOptions,
  env: NodeJS.ProcessEnv,
  stop: AbortSignal,
  onLine: (line: string) => void,
): Promise<Pick<SweptRun, 'isGreen' | 'ended' | 'durationMs'>> {
  // On Windows npm is a batch file, which only cmd runs.
  const [program = '', ...words] = isWindows ? ['cmd', '/d', '/c', ...command] : command;
  const begun = performance.now();
  const child = spawn(program, words, { env, detached: !isWindows, stdio: ['ignore', 'pipe', 'pipe'] });
  running.add(child);
  for (const input of [child.stdout, child.stderr]) createInterface({ input }).on('line', onLine);
  const closed = new Promise((resolve) => child.once('close', resolve));
  const grace = () => sleep(GRACE_MS, undefined, { ref: false });
  const timeout = AbortSignal.timeout(Math.min(Math.ceil(maxDuration), MAX_TIMEOUT_MS));
  const end = () => {
    signalGroup(child, 'SIGTERM');
    void grace().then(() => running.has(child) && signalGroup(child, 'SIGKILL'));
  };
  for (const signal of [stop, timeout]) signal.addEventListener('abort', end);
  if (stop.aborted) end();
  try {
    const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
    // Remaining child processes may keep the output open.
    signalGroup(child, 'SIGKILL');
    await Promise.race([closed, grace()]);
    return {
      isGreen: code === 0 && !timeout.aborted,
      ended: timeout.aborted ? `stopped after ${duration(maxDuration)}` : (signal ?? `exit code ${code}`),
      durationMs: Math.round(performance.now() - begun),
    };
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    const why = code === 'ENOENT' ? 'there is no such program' : code;
    throw wrongUsage(`${program}: cannot be started (${why})`);
  } finally {
    running.delete(child);
    for (const signal of [stop, timeout]) signal.removeEventListener('abort', end);
    child.stdout.destroy();
    child.stderr.destroy();
  }
}
