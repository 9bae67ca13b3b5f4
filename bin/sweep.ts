import { randomBytes } from 'node:crypto';
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { findMagicValues } from '../mock/magic-values.ts';
import { startMock } from '../mock/server.ts';
import { factsOf } from '../mock/world.ts';
import { sweepVerdict } from '../reports/sweep.ts';
import { duration, shellWord } from '../reports/text.ts';
import { namedKeys } from '../schemas/fixture-keys.ts';
import type { Fixture, Sweep, SweptRule, SweptRun, SweptState } from '../schemas/generated/types.ts';
import { codeOf, wrongUsage } from '../schemas/problem.ts';
import { redactorOf } from '../schemas/redact.ts';
import type { CliContext } from './cli-context.ts';
import {
  isHasty,
  judgeRules,
  RUNNER_LINE,
  type JudgedRule,
  type RunFacts,
  type SeenRequest,
} from './sweep/rules.ts';
import { states, observeChange, type Aim } from './sweep/states.ts';
import { version } from './version.ts';

export interface SweepOptions {
  /** The program and its arguments, run without a shell. */
  readonly command: readonly string[];
  readonly fixture: Fixture;
  /** The keys of the fixture are no secrets. */
  readonly arePublicKeys: boolean;
  /** Ids of states. */
  readonly ids: readonly string[];
  /** Accepted rules and states, and the reason of each. */
  readonly allow: ReadonlyMap<string, string>;
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
/** Maximum of requests of a run that are judged, and of those that the report shows for a rule. */
const MAX_REQUESTS = 50_000;
const MAX_SHOWN = 5;

/**
 * Runs the tests of a client against the unchanged mock, then against each state of the mock.
 *
 * @throws Problem with code `usage` if the tests fail on the unchanged mock, or send it no request
 */
export async function sweep(options: SweepOptions, context: Context): Promise<Sweep> {
  const { command, ids, parallel } = options;
  const { signal, writeError } = context;
  const [startedAt, begun] = [new Date().toISOString(), performance.now()];
  const runs = new Map<string, Run>();
  const elsewhere = await serveElsewhere();
  let [aim, done]: [Aim, number] = [aimAt([], elsewhere.url), 0];
  const runOne = async (id: string) => {
    const run = await runInState(id, { ...options, aim, elsewhere, first: runs.get('unchanged') }, context);
    if (signal.aborted) return;
    runs.set(id, run);
    const words = run.isGreen ? 'green' : `red (${run.ended})`;
    writeError(`${id}: ${words}, ${duration(run.durationMs)} (${done++} of ${ids.length})\n`);
  };
  try {
    await runOne('unchanged');
    const first = runs.get('unchanged');
    if (first !== undefined) checkFirst(first, options, context);
    aim = aimAt(first?.requests ?? [], elsewhere.url);
    const waiting = ids.values();
    const work = async () => {
      for (const id of waiting) if (!signal.aborted) await runOne(id);
    };
    await Promise.all(Array.from({ length: parallel }, work));
    // Other runs may have slowed a red one down, but hardly one that took the maximum.
    const isDoubtful = (id: string) => {
      const { isGreen = true, durationMs = 0 } = runs.get(id) ?? {};
      const isJudged = ['survive', 'advice'].includes(states.get(id)!.kind);
      return isJudged && !isGreen && durationMs < options.maxDuration;
    };
    if (parallel > 1) for (const id of ids.filter(isDoubtful)) if (!signal.aborted) await runOne(id);
  } finally {
    elsewhere.close();
  }
  const swept = ids.map((id) => judgeState(id, runs.get(id), options.allow));
  const rules = judgeRules(runs).map((judged) => sweptRule(judged, options.allow));
  return {
    format: 'ib-conformance/sweep/2',
    version,
    verdict: sweepVerdict(swept, rules),
    interrupted: signal.aborted,
    command: redactorFor(options, '')(command.map(shellWord).join(' ')),
    startedAt,
    durationMs: Math.round(performance.now() - begun),
    states: swept,
    rules,
  };
}

/** @throws Problem with code `usage` if the first run cannot be a yardstick */
function checkFirst({ isGreen, ended, lines, requests }: Run, options: SweepOptions, context: Context): void {
  if (!isGreen) {
    if (!options.showOutput) context.writeError(lines.slice(-LAST_LINES).join(''));
    throw wrongUsage(`the tests fail on the unchanged mock (${ended}): make them pass there first`);
  }
  const named = (wanted: string) =>
    options.env.flatMap(([name, what]) => (what === wanted ? [name] : [])).join(', ');
  if (requests.length === 0)
    throw wrongUsage(
      `the tests pass, but no request reached the mock. The client has to read the base URL from ${named('url')} and the key from ${named('key')}; --env renames these variables. Its code must not contain another URL.`,
    );
}

/** Chooses the lookups that states aim at: those that got 200, and that the tests send least often. */
function aimAt(requests: readonly SeenRequest[], elsewhere: string): Aim {
  const counts = new Map<string, number>();
  for (const { target } of requests) counts.set(target, (counts.get(target) ?? 0) + 1);
  const found = requests.filter(({ target }) =>
    requests.every((one) => one.target !== target || (one.status === 200 && one.endpoint !== undefined)),
  );
  const fewest = Math.min(...found.map(({ target }) => counts.get(target)!));
  const rarest = found.filter(({ target }) => counts.get(target) === fewest);
  const targets = [...new Set(rarest.map(({ target }) => target))];
  const ofEach = [...new Map(rarest.toReversed().map(({ endpoint, target }) => [endpoint, target])).values()];
  const two = [...new Set([...ofEach, ...targets])].slice(0, 2);
  const hasExecuted = found.some(({ endpoint }) => endpoint === 'deposit-check');
  return { targets, two, hasExecuted, requests: requests.length, elsewhere };
}

/** Accepted rules cover states: a client that never repeats a request fails in them. */
const coveredBy: Readonly<Record<string, string>> = {
  limited: 'retry',
  'limited-without-retry-after': 'retry',
};

function judgeState(id: string, run: Run | undefined, allow: SweepOptions['allow']): SweptState {
  const { kind, what, advice, shows } = states.get(id)!;
  const state = { id, kind, what, advice };
  if (run === undefined) return { ...state, outcome: 'notRun' };
  const { isGreen, ended, durationMs, lines, requests, changed } = run;
  const shown = { isGreen, ended, durationMs, requests: requests.length, changed };
  const isSeen = shows === undefined || !isGreen || lines.some((line) => line.includes(shows));
  if (changed === 0 || !isSeen) return { ...state, outcome: 'notReached', run: shown };
  if (kind === 'probe') return { ...state, outcome: 'done', run: shown };
  const isRight = isGreen === (kind === 'survive' || kind === 'advice');
  const isAllowed = allow.has(id) || allow.has(coveredBy[id] ?? id);
  return { ...state, outcome: isRight ? 'passed' : isAllowed ? 'allowed' : 'failed', run: shown };
}

function sweptRule({ grade, states: shownBy }: JudgedRule, allow: SweepOptions['allow']): SweptRule {
  const { id: rule, title, clause, level, outcome, advice, needs, readings, requests = [] } = grade;
  const reason = outcome === 'broken' ? allow.get(rule) : undefined;
  // The journal has no keys. If the target contained one, do not show the rest either.
  const lines = requests
    .slice(0, MAX_SHOWN)
    .map((one) => `${one.method} ${one.keyInTarget ? '…' : one.target} → ${one.status}, ${one.elapsedMs} ms`);
  return {
    rule,
    title,
    clause,
    level,
    outcome: reason === undefined ? outcome : 'allowed',
    states: [...shownBy],
    ...(reason !== undefined && reason !== '' && { reason }),
    ...(readings && { readings: [...readings] }),
    ...(lines.length > 0 && { requests: lines }),
    ...(advice !== undefined && { advice }),
    ...(needs !== undefined && { needs }),
  };
}

/** Redacts the key of a run, and the keys of a fixture that are secret. */
function redactorFor({ arePublicKeys, fixture: { apiKeys = [] } }: SweepOptions, key: string) {
  const secrets = arePublicKeys ? [] : namedKeys(apiKeys).map(({ name, key: value }) => ({ name, value }));
  return redactorOf(key === '' ? secrets : [...secrets, { name: '<key of the run>', value: key }]);
}

/** Another origin: another host name and port. Remembers what it was sent. */
async function serveElsewhere() {
  const seen: string[] = [];
  const server = () =>
    createServer(({ url, headers }, response) => {
      seen.push(`${url} ${JSON.stringify(headers)}`);
      response.writeHead(401, { 'Content-Type': 'application/json' }).end('{"error":"Unauthorized"}');
    });
  const [first, second] = [server(), server()];
  await once(first.listen(0, '127.0.0.1'), 'listening');
  const { port } = first.address() as AddressInfo;
  // `localhost` may be an IPv6 address; not every machine has one.
  await once(second.listen(port, '::1'), 'listening').catch(() => undefined);
  return {
    url: `http://localhost:${port}`,
    hasSeen: (hasKey: (text: string) => boolean) => seen.some(hasKey),
    close: () => {
      for (const one of [first, second]) {
        one.close();
        one.closeAllConnections();
      }
    },
  };
}

interface Run extends RunFacts, Pick<SweptRun, 'ended' | 'durationMs' | 'changed'> {
  /** The last lines of the output. */
  readonly lines: readonly string[];
}

interface RunOptions extends SweepOptions {
  readonly aim: Aim;
  readonly elsewhere: Awaited<ReturnType<typeof serveElsewhere>>;
  readonly first: RunFacts | undefined;
}

/** Adds a random key of the first partner: only what this run sends and prints contains it. */
function withOwnKey(fixture: Fixture) {
  const partner = findMagicValues(fixture, factsOf(fixture))[0]?.key.partner;
  if (partner === undefined) throw wrongUsage('the fixture has no active key of a partner for the client');
  const key = `sweep-${randomBytes(16).toString('hex')}`;
  const apiKeys = [...(fixture.apiKeys ?? []), { key, partner, state: 'active' as const }];
  return { key, fixture: { ...fixture, apiKeys } };
}

/** Runs the command against a new mock, in the state with this id or else unchanged. */
async function runInState(id: string, options: RunOptions, context: Context): Promise<Run> {
  const { arePublicKeys, showOutput, aim, elsewhere, first } = options;
  const { fixture, key } = withOwnKey(options.fixture);
  const redact = redactorFor(options, key);
  const withoutKey = redactorOf([{ name: '', value: key }]);
  const hasKey = (text: string) => withoutKey(text) !== text;
  const state = states.get(id);
  const change = state?.change?.(aim);
  const requests: SeenRequest[] = [];
  const decided = new AbortController();
  let [changed, isChanged] = [0, false];
  const output = { lines: 0, withKey: 0, byRunner: 0 };
  const mock = await startMock({
    fixture,
    arePublicKeys,
    deviation: change && { id, change: observeChange(change, () => void (isChanged = true)) },
    firstChaos: state !== undefined && change === undefined ? id : undefined,
    onExchange: ({ entry, request }) => {
      const line = entry();
      const seen = {
        ...line,
        isChanged: isChanged || line.chaos !== undefined,
        hasKeyInTarget: hasKey(request.target),
      };
      isChanged = false;
      if (seen.isChanged) changed += 1;
      if (requests.length < MAX_REQUESTS) requests.push(seen);
      const isHastyPoll = id === 'pending-longer' && seen.isChanged && first !== undefined;
      if (isHastyPoll && requests.length % 50 === 0 && isHasty({ requests }, first)) decided.abort();
      if (id === 'redirected' && elsewhere.hasSeen(hasKey)) decided.abort();
    },
  });
  try {
    const variables = options.env.map(([name, what]) => [name, { url: mock.url, key }[what]] as const);
    const env = { ...context.env, ...Object.fromEntries(variables) };
    const lines: string[] = [];
    const ended = await runCommand(
      options,
      env,
      AbortSignal.any([context.signal, decided.signal]),
      (line) => {
        output.lines += 1;
        if (hasKey(line)) output[RUNNER_LINE.test(line) ? 'byRunner' : 'withKey'] += 1;
        const text = `${redact(line)}\n`;
        if (showOutput) context.writeError(`${id}: ${text}`);
        if (lines.push(text) > MAX_LINES) lines.shift();
      },
    );
    const isKeyElsewhere = elsewhere.hasSeen(hasKey);
    return { ...ended, lines, requests, changed, output, isKeyElsewhere };
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
  { command, maxDuration }: Pick<SweepOptions, 'command' | 'maxDuration'>,
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
    const code = codeOf(error);
    const why = code === 'ENOENT' ? 'there is no such program' : code;
    throw wrongUsage(`${program}: cannot be started (${why})`);
  } finally {
    running.delete(child);
    for (const signal of [stop, timeout]) signal.removeEventListener('abort', end);
    child.stdout.destroy();
    child.stderr.destroy();
  }
}
