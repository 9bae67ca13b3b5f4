import { sweepVerdict } from '../reports/sweep.ts';
import { duration, shellWord } from '../reports/text.ts';
import type { Sweep, SweptState } from '../schemas/generated/types.ts';
import { wrongUsage } from '../schemas/problem.ts';
import type { CliContext } from './cli-context.ts';
import { mostOf, type SeenRequest } from './sweep/requests.ts';
import { judgeRules } from './sweep/rules.ts';
import { redactorFor, runInState, serveElsewhere, type Run, type SweepOptions } from './sweep/run-state.ts';
import { states, type Aim } from './sweep/states.ts';
import { version } from './version.ts';

/** Number of printed lines if the first run fails. */
const LAST_LINES = 40;

/** Kinds of states in which the tests should be green. */
const isGreenWanted = (id: string) => ['survive', 'advice'].includes(states.get(id)!.kind);

/**
 * Runs the tests of a client against the unchanged mock, then against each state of the mock.
 *
 * @throws Problem with code `usage` if the tests fail on the unchanged mock, or send it no request
 */
export async function sweep(
  options: SweepOptions,
  context: Pick<CliContext, 'clock' | 'env' | 'signal' | 'writeError'>,
): Promise<Sweep> {
  const { command, ids, parallel, strict } = options;
  const { signal, writeError } = context;
  const [startedAt, begun] = [new Date().toISOString(), performance.now()];
  const runs = new Map<string, Run>();
  const elsewhere = await serveElsewhere();
  let [aim, done]: [Aim, number] = [aimAt([], elsewhere.url), 0];
  const runOne = async (id: string) => {
    if (signal.aborted) return;
    const run = await runInState(id, options, aim, elsewhere, context);
    if (signal.aborted) return;
    runs.set(id, run);
    writeError(`${id}: ${wordsOf(run)}, ${duration(run.durationMs)} (${done++} of ${ids.length})\n`);
  };
  try {
    await runOne('unchanged');
    const first = runs.get('unchanged');
    if (first !== undefined) checkFirst(first, options, context);
    aim = aimAt(first?.requests ?? [], elsewhere.url);
    const waiting = ids.values();
    const work = async () => {
      for (const id of waiting) await runOne(id);
    };
    await Promise.all(Array.from({ length: parallel }, work));
    // Other runs may have slowed a red one down, but hardly one that took the maximum.
    const isDoubtful = (id: string) => {
      const run = runs.get(id);
      return parallel > 1 && isGreenWanted(id) && run?.isGreen === false && !run.isStopped;
    };
    for (const id of ids.filter(isDoubtful)) await runOne(id);
  } finally {
    elsewhere.close();
  }
  const swept = ids.map((id) => judgeState(id, runs.get(id), options.allow));
  const rules = judgeRules(runs, options.allow);
  return {
    format: 'ib-conformance/sweep/2',
    version,
    verdict: sweepVerdict({ states: swept, rules, strict }),
    strict,
    interrupted: signal.aborted,
    command: redactorFor(options)(command.map(shellWord).join(' ')),
    startedAt,
    durationMs: Math.round(performance.now() - begun),
    states: swept,
    rules,
  };
}

const wordsOf = ({ isGreen, ended }: Run) => (isGreen ? 'green' : `red (${ended})`);

/** @throws Problem with code `usage` if the first run cannot be a yardstick */
function checkFirst(
  { isGreen, ended, lines, requests }: Run,
  { env, showOutput }: SweepOptions,
  { writeError }: Pick<CliContext, 'writeError'>,
): void {
  if (!isGreen) {
    if (!showOutput) writeError(lines.slice(-LAST_LINES).join(''));
    throw wrongUsage(`the tests fail on the unchanged mock (${ended}): make them pass there first`);
  }
  const named = (wanted: string) => env.flatMap(([name, what]) => (what === wanted ? [name] : [])).join(', ');
  if (requests.length === 0)
    throw wrongUsage(
      `the tests pass, but no request reached the mock. The client has to read the base URL from ${named('url')} and the key from ${named('key')}; --env renames these variables. Its code must not contain another URL.`,
    );
}

/** Chooses the lookups that states aim at: those that got 200, and that the tests send least often. */
function aimAt(requests: readonly SeenRequest[], elsewhere: string): Aim {
  const isFound = ({ status, endpoint }: SeenRequest) => status === 200 && endpoint !== undefined;
  // States do not change the answer to a wrong key.
  const accepted = requests.filter(({ status }) => status !== 401);
  const others = new Set(accepted.filter((one) => !isFound(one)).map(({ target }) => target));
  const found = accepted.filter(({ target }) => !others.has(target));
  const counts = mostOf(found);
  const fewest = Math.min(...counts.values());
  const rarest = found.filter(({ target }) => counts.get(target) === fewest);
  return {
    targets: [...new Set(rarest.map(({ target }) => target))],
    perEndpoint: 2 / new Set(rarest.map(({ endpoint }) => endpoint)).size,
    hasExecuted: found.some(({ endpoint }) => endpoint === 'deposit-check'),
    requests: requests.length,
    elsewhere,
  };
}

/** Judges a state by the run of the tests in it; undefined: there was none. */
export function judgeState(
  id: string,
  run: Omit<Run, 'output' | 'isKeyElsewhere'> | undefined,
  allow: SweepOptions['allow'],
): SweptState {
  const { kind, what, advice, counts } = states.get(id)!;
  const state = { id, kind, what, advice };
  if (run === undefined) return { ...state, outcome: 'notRun' };
  const { isGreen, isStopped, ended, durationMs, lines, requests, changed } = run;
  const shown = { isGreen, ended, durationMs, requests: requests.length, changed };
  const isSeen = !isGreen || lines.join('').includes(counts?.green ?? '');
  if (changed === 0 || !isSeen) return { ...state, outcome: 'notReached', run: shown };
  if (kind === 'probe') return { ...state, outcome: 'done', run: shown };
  const isRed = !isGreen && !(isStopped && counts?.red === 'ended');
  const isRight = isGreenWanted(id) ? isGreen : isRed;
  return { ...state, outcome: isRight ? 'passed' : allow.has(id) ? 'allowed' : 'failed', run: shown };
}
