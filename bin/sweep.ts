import { sweepVerdict } from '../reports/sweep.ts';
import { duration, shellWord } from '../reports/text.ts';
import { findsUsers } from '../schemas/endpoints.ts';
import type { Sweep, SweptRule, SweptState } from '../schemas/generated/types.ts';
import { wrongUsage } from '../schemas/problem.ts';
import type { CliContext } from './cli-context.ts';
import { limitedStates } from './sweep/judges.ts';
import {
  attemptsIn,
  mostOf,
  plainOf,
  type Attempt,
  type RunFacts,
  type SeenRequest,
} from './sweep/requests.ts';
import { judgeRules } from './sweep/rules.ts';
import { redactorFor, runInState, serveElsewhere, type Run, type SweepOptions } from './sweep/run-state.ts';
import { states, type Aim } from './sweep/states.ts';
import { version } from './version.ts';

/** Number of printed lines if the first run fails. */
const LAST_LINES = 40;

const DISTURBED =
  'red beside other runs, but green alone, so red runs are repeated alone. Do two runs of your tests share files or ports? --parallel 1 keeps them apart';

/** What clients may wait for in a state, in ms: their own time limit, or until they stop polling. */
const waitIn = (id: string) =>
  ({
    timeout: 10_000,
    'wrong-path': 60_000,
    'limited-thrice': 15_000,
    '503-thrice': 15_000,
    'limited-for-an-hour': 0,
  })[id] ?? 6000;

/** Maximum duration of a run, in ms: a state may slow the tests down, and end some by a time limit. */
const maxDurationOf = (id: string, unchanged: Run | undefined) =>
  unchanged === undefined ? Infinity : 4 * unchanged.durationMs + waitIn(id) + 5000;

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
  let [aim, done, total]: [Aim, number, number] = [aimAt([], elsewhere.url), 0, ids.length];
  const runOne = async (id: string) => {
    if (signal.aborted) return;
    const maxDuration = Math.min(options.maxDuration, maxDurationOf(id, runs.get('unchanged')));
    const run = await runInState(id, { ...options, maxDuration }, aim, elsewhere, context);
    if (signal.aborted) return;
    runs.set(id, run);
    writeError(`${id}: ${wordsOf(run)}, ${duration(run.durationMs)} (${done++} of ${total})\n`);
  };
  const runAll = async (all: readonly string[], most: number, isAgain = true) => {
    if (isAgain) total += all.length;
    const waiting = all.values();
    const work = async () => {
      for (const id of waiting) await runOne(id);
    };
    await Promise.all(Array.from({ length: most }, work));
  };
  try {
    await runOne('unchanged');
    const first = runs.get('unchanged');
    if (first !== undefined) checkFirst(first, options, context);
    aim = aimAt(first?.requests ?? [], elsewhere.url);
    // The longest are not to run alone at the end.
    const longestFirst = ids.toSorted((one, other) => waitIn(other) - waitIn(one));
    await runAll(longestFirst, parallel, false);
    const isRed = (id: string) => runs.get(id)?.isGreen === false;
    // Other runs may have turned a test red, or the machine. What takes the maximum as mere advice is not tried again.
    const isDoubtful = (id: string) =>
      states.get(id)!.kind === 'survive' || (parallel > 1 && isGreenWanted(id) && !runs.get(id)!.isStopped);
    const doubtful = ids.filter((id) => isRed(id) && isDoubtful(id));
    await runAll(doubtful, 1);
    const disturbed = doubtful.filter((id) => !isRed(id));
    if (parallel > 1 && disturbed.length > 0) {
      writeError(`${disturbed.join(', ')}: ${DISTURBED}\n`);
      await runAll(
        ids.filter((id) => !isGreenWanted(id) && isRed(id)),
        1,
      );
    }
  } finally {
    elsewhere.close();
  }
  const rank = (id: string) => ids.indexOf(id);
  const inOrder = [...runs].toSorted(([one], [other]) => rank(one) - rank(other));
  const rules = judgeRules(new Map(inOrder), options.allow);
  const found = { allow: options.allow, unchanged: runs.get('unchanged'), rules };
  const swept = ids.map((id) => judgeState(id, runs.get(id), found));
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
  const accepted = plainOf({ requests }).filter(({ status }) => status !== 401);
  const others = new Set(accepted.filter((one) => !isFound(one)).map(({ target }) => target));
  const found = accepted.filter(({ target }) => !others.has(target));
  const counts = mostOf(found);
  const fewest = Math.min(...counts.values());
  const rarest = found.filter(({ target }) => counts.get(target) === fewest);
  return {
    targets: [...new Set(rarest.map(({ target }) => target))],
    perEndpoint: 2 / new Set(rarest.map(({ endpoint }) => endpoint)).size,
    hasExecuted: found.some(({ endpoint }) => endpoint !== undefined && !findsUsers(endpoint)),
    requests: requests.length,
    elsewhere,
  };
}

/** What else a state is judged by. */
interface StateContext extends Pick<SweepOptions, 'allow'> {
  readonly unchanged: RunFacts | undefined;
  readonly rules: readonly SweptRule[];
}

/** What to do if red tests do not show that the client did something wrong. */
const LOOK = 'see whether the red test counts requests or time: what the client sent shows no mistake';

/** Judges a state by the run of the tests in it; undefined: there was none. */
export function judgeState(
  id: string,
  run: Omit<Run, 'output' | 'isKeyElsewhere'> | undefined,
  context: StateContext,
): SweptState {
  const { kind, what, advice, counts } = states.get(id)!;
  const state = { id, kind, what, advice };
  if (run === undefined) return { ...state, outcome: 'notRun' };
  const { isGreen, isStopped, ended, durationMs, lines, requests, changed, redTest } = run;
  const named = redTest === undefined || isGreen ? {} : { redTest };
  const shown = { isGreen, ended, durationMs, requests: requests.length, changed, ...named };
  const isSeen = !isGreen || lines.join('').includes(counts?.green ?? '');
  if (changed === 0 || !isSeen) return { ...state, outcome: 'notReached', run: shown };
  if (kind === 'probe') return { ...state, outcome: 'done', run: shown };
  const isRed = !isGreen && !(isStopped && counts?.red === 'ended');
  const isRight = isGreenWanted(id) ? isGreen : isRed;
  const outcome = isRight ? 'passed' : outcomeOfWrong(id, run, context);
  return { ...state, ...(outcome === 'unclear' && { advice: LOOK }), outcome, run: shown };
}

/** Tests may count requests: if they are red after failures, only what the client sent shows its mistake. */
function outcomeOfWrong(
  id: string,
  run: Pick<Run, 'requests' | 'isStopped'>,
  { allow, unchanged, rules }: StateContext,
) {
  if (allow.has(id)) return 'allowed';
  if (limitedStates.includes(id)) {
    const rule = rules.find((one) => one.rule === 'repeat' && one.states.includes(id));
    return rule?.outcome === 'broken' ? 'failed' : rule?.outcome === 'allowed' ? 'allowed' : 'unclear';
  }
  const attempts = unchanged === undefined ? [] : attemptsIn(run, unchanged);
  // A refused poll counts as a poll, so a deposit that polls execute needs no more of them.
  const isPolled = ({ lookup }: Attempt) => lookup.some(({ status }) => status === 404);
  // A client may have been stopped in a wait.
  const isRepeated = (one: Attempt) => (one.isRepeated || isPolled(one)) && !one.isGivenUp;
  const areRepeated = run.isStopped ? attempts.some(isRepeated) : attempts.every(isRepeated);
  return states.get(id)!.kind === 'advice' && attempts.length > 0 && areRepeated ? 'unclear' : 'failed';
}
