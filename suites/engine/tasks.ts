import { defined } from '../../schemas/values.ts';
import type { Endpoint } from '../../schemas/endpoints.ts';
import { sleep, untilReply, wakeAll, type Limiter, type Wait } from '../limits/limiter.ts';

/** One thing to do: a lookup, a scenario or an explanation. */
export interface Task {
  /** Whether no lookup may be in flight beside it. */
  readonly isAlone?: boolean;
  readonly run: () => Promise<void>;
}

/** How many tasks of a kind are in flight, and how many may be. */
export interface Lane {
  readonly most: number;
  readonly isOfLookups?: boolean;
  inFlight: number;
}

/** A line of the list: tasks that are sent as soon as a limiter allows, in their order. */
export interface Step {
  readonly name: string;
  /** Endpoints whose later tasks come after those of this step, except while these wait for a limiter. */
  readonly endpoints: readonly Endpoint[];
  /** Whether later steps of its endpoints wait until it has ended. */
  readonly holds?: boolean;
  /** Whether it waits until all steps before it have ended. */
  readonly isLast?: boolean;
  readonly lane: Lane;
  /** The first task that may be sent now, or when one may (`reply`: that depends on one); undefined if none is left. */
  readonly next: () => Task | Wait | 'reply' | undefined;
  /** Called once, after its last task. */
  readonly end?: () => Promise<void>;
}

/** A step, and what became of it. */
interface Line {
  readonly step: Step;
  inFlight: number;
  state: 'open' | 'ending' | 'ended';
}

/** Sends a task. */
interface Start {
  readonly kind: 'start';
  readonly line: Line;
  readonly task: Task;
}

/** What to do now. */
type Move =
  Start | { readonly kind: 'end'; readonly line: Line } | { readonly kind: 'wait'; readonly until?: Wait };

interface ListOptions {
  readonly limiter: Limiter;
  readonly signal: AbortSignal;
  /** Called when the first task of a step is sent. */
  readonly onBegin: (step: Step) => void;
}

/** Sends the tasks of a list: always the first one that may be sent now. If none may, it waits until one may. */
export async function runList(steps: readonly Step[], options: ListOptions): Promise<void> {
  const { limiter, signal, onBegin } = options;
  const lines = steps.map((step): Line => ({ step, inFlight: 0, state: 'open' }));
  const running = new Set<Promise<void>>();
  const begun = new Set<Step>();
  /** Runs while nothing else begins: a task that is alone, or one that waits until lookups have ended. */
  let alone: Start | undefined;
  const failures: unknown[] = [];
  const begin = (work: () => Promise<void>, atEnd: () => void) => {
    const one = work()
      .catch((error: unknown) => void failures.push(error))
      .finally(() => {
        atEnd();
        running.delete(one);
        wakeAll(limiter);
      });
    running.add(one);
  };
  const start = (move: Start) => {
    const { line, task } = move;
    const { step } = line;
    if (!begun.has(step)) onBegin(step);
    begun.add(step);
    line.inFlight++;
    step.lane.inFlight++;
    begin(task.run, () => {
      line.inFlight--;
      step.lane.inFlight--;
      if (alone === move) alone = undefined;
    });
  };
  const end = (line: Line) => {
    line.state = 'ending';
    begin(line.step.end ?? (async () => {}), () => (line.state = 'ended'));
  };
  const hasLookups = () => lines.some(({ step, inFlight }) => step.lane.isOfLookups === true && inFlight > 0);
  while (failures.length === 0) {
    const move = alone === undefined ? nextMove(lines) : undefined;
    if (move?.kind === 'start' && move.task.isAlone === true) {
      alone = move;
      while (hasLookups() && failures.length === 0) await untilReply(limiter);
    }
    if (move?.kind === 'start') start(move);
    else if (move?.kind === 'end') end(move.line);
    else if (lines.every(({ state }) => state === 'ended')) break;
    else await untilChange(limiter, signal, move?.until);
  }
  await Promise.all(running);
  if (failures.length > 0) throw failures[0];
}

/** What a list does now. */
function nextMove(lines: readonly Line[]): Move {
  const open = lines.filter(({ state }) => state !== 'ended');
  const closed = new Set<Endpoint>();
  let until: Wait | undefined;
  for (const line of open) {
    const { step, state, inFlight } = line;
    const { endpoints, lane } = step;
    const isFirst = line === open[0];
    if (step.isLast === true && !isFirst) break;
    const isHeld = endpoints.some((endpoint) => closed.has(endpoint));
    const isBusy = lane.inFlight >= lane.most || state === 'ending';
    if (!isHeld && !isBusy) {
      const next = step.next();
      if (next === undefined && inFlight === 0) return { kind: 'end', line };
      if (typeof next === 'object' && 'run' in next) return { kind: 'start', line, task: next };
      if (typeof next === 'object' && (until === undefined || next.until < until.until)) until = next;
    }
    if (step.isLast === true) break;
    if (isHeld || isBusy || step.holds === true) for (const endpoint of endpoints) closed.add(endpoint);
  }
  return { kind: 'wait', ...defined({ until }) };
}

/** Waits for a time, or until a reply or the end of a task may have changed what may be sent. */
async function untilChange(limiter: Limiter, signal: AbortSignal, until: Wait | undefined): Promise<void> {
  if (until === undefined) return untilReply(limiter);
  const stop = new AbortController();
  const end = () => stop.abort();
  signal.addEventListener('abort', end);
  if (signal.aborted) end();
  await Promise.race([sleep(limiter, until, stop.signal), untilReply(limiter)]);
  signal.removeEventListener('abort', end);
  end();
}
