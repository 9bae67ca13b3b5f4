import { defined } from '../../schemas/values.ts';
import { waitWords } from '../../schemas/progress.ts';
import { trouble, type Reply } from '../answer.ts';
import { type Known, afterChange, afterUndo, type Change, type Present } from '../known.ts';
import type { Wait } from '../limits/limiter.ts';
import { isShed } from '../limits/stream.ts';
import type { Request } from '../request.ts';
import type { Asker, Context, Exchange, Pace, Shared } from '../rules/scenario-context.ts';
import type { RunOptions } from './run-options.ts';
import type { Sender } from './sender.ts';
import type { SendOptions } from './sending.ts';

export interface ContextOptions extends Pick<
  RunOptions,
  'clock' | 'rate' | 'burstConcurrency' | 'stateHook' | 'graceMs'
> {
  readonly verdictsOn: Context['verdictsOn'];
  readonly failsAnyway: Context['failsAnyway'];
  readonly present: Present;
  readonly leftRequests: Context['leftRequests'];
  readonly ended: Context['ended'];
  readonly sender: Pick<
    Sender,
    'send' | 'sendOnce' | 'waitForQuiet' | 'longestWindowMs' | 'keyWorks' | 'losses'
  >;
  /** Waits, and notes it. */
  readonly sleep: (wait: Wait) => Promise<void>;
  /** When the run ends, in ms of the clock. */
  readonly deadline: number;
  /** When a requirement must leave the rest of the time to others, in ms of the clock. */
  readonly untilOf: (of: Asker) => number | undefined;
}

/** Returns a function that creates the context of a scenario. */
export function createContexts(options: ContextOptions): (of: Asker) => Context {
  const { sender, clock, deadline, graceMs, verdictsOn, failsAnyway, leftRequests } = options;
  const results = new Map<Asker, { readonly result: Promise<unknown>; readonly excused: number }>();
  const withState = withStateHook(options);
  const crowd: Crowd = { most: options.burstConcurrency ?? MAX_IN_FLIGHT };
  const contextOf = (of: Asker): Context => ({
    ...sendingContext(options, of, crowd),
    waitForQuiet: sender.waitForQuiet,
    longestWindowMs: sender.longestWindowMs,
    once: <Result>(shared: Shared<Result, Context>, known: Known) => {
      // What it asked while something was lost shows nothing.
      const name = sender.losses.excused;
      const before = results.get(shared);
      const result = before?.excused === name ? before.result : shared.make(contextOf(shared), known);
      results.set(shared, { result, excused: name });
      return result as Promise<Result>;
    },
    wait: (ms, reason) => {
      const until = Math.min(clock.now() + ms, options.untilOf(of) ?? deadline);
      return options.sleep({ until, reason, why: `${waitWords[reason]}: ${of.id}` });
    },
    now: clock.now,
    leftMs: () => deadline - clock.now(),
    leftRequests,
    ended: options.ended,
    keyWorks: sender.keyWorks,
    graceMs,
    verdictsOn,
    failsAnyway,
    ...defined({ withState }),
  });
  return contextOf;
}

/** The part of a context that sends requests. */
function sendingContext(
  { sender, clock, burstConcurrency, untilOf, present: { known } }: ContextOptions,
  asker: Asker,
  crowd: Crowd,
): Pick<Context, 'send' | 'sendAtOnce' | 'burst' | 'stream' | 'sendUntilAllowed'> {
  const { id: of, reserves = false, judgesConcurrency, isAlone } = asker;
  const sendOnce = (request: Request) => sender.sendOnce(request, { of });
  const options: SendOptions = {
    of,
    until: untilOf(asker),
    isReserved: reserves,
    isUnjudged: isAlone?.(known) === true,
  };
  const atOnce = {
    ...options,
    isAtOnce: true,
    ...(judgesConcurrency === true && { isUnjudged: true }),
  } as const;
  return {
    send: (...requests) => inParts(requests, 1, (one) => sender.send(one, options)),
    sendAtOnce: (...requests) =>
      inParts(requests, burstConcurrency ?? requests.length, (one) => sender.send(one, atOnce)),
    burst: (...requests) => inParts(requests, crowd.most, sendOnce),
    stream: (make, pace) => stream(make, pace, sendOnce, clock, crowd),
    sendUntilAllowed: async (request, onRefused, waitsUntil) =>
      (await sender.send(request, { of, onRefused, until: waitsUntil })).reply,
  };
}

/** Changes what the target knows, by the state hook; undefined without one. Nothing else may be in flight. */
function withStateHook({ stateHook, clock, present, graceMs }: ContextOptions): Context['withState'] {
  if (stateHook === undefined) return undefined;
  const now = (state: Present['state'], to: Known) => void Object.assign(present, { state, known: to });
  return async (change, during) => {
    const { state } = change;
    const params = paramsOf(change);
    const askedAt = clock.now();
    const changed = afterChange(change, present.known);
    const undone = afterUndo(change, present.known);
    now('changing', changed);
    const failure = await stateHook.change('setup', state, params).then(
      () => undefined,
      hookTrouble(change, () => clock.now() - askedAt),
    );
    try {
      if (failure !== undefined) return failure;
      const dueAt = clock.now() + graceMs;
      return await during({
        askedAt,
        dueAt,
        judged: async (ask) => {
          now('changed', changed);
          return ask().finally(() => now('changing', changed));
        },
      });
    } finally {
      // What timed out may have been done. A failed teardown does not change what this run saw.
      await stateHook.change('teardown', state, params).catch(() => undefined);
      now('as before', undone);
    }
  };
}

/** What the state hook is asked. */
const paramsOf = (change: Change): Readonly<Record<string, unknown>> => {
  if (change.state === 'key revoked') return { key: change.key.key };
  const { reference_id, amountInUsd, executedAt } = change.deposit;
  return { reference_id, amountInUsd, executedAt };
};

/** A change that failed is a problem of the hook, not of the target's answers. */
const hookTrouble = (change: Change, elapsedMs: () => number) => (error: unknown) => {
  const what = change.state === 'key revoked' ? change.key.name : change.deposit.reference_id;
  const why = error instanceof Error ? error.message : String(error);
  const waited = `waited ${(elapsedMs() / 1000).toFixed(1)} s`;
  return trouble('state-hook', `${why} (asked for "${change.state}" of ${what}, ${waited})`);
};

/** Sends requests, so many at once. */
async function inParts(
  requests: readonly Request[],
  inFlight: number,
  send: (request: Request) => Promise<Exchange>,
): Promise<readonly Reply[]> {
  const replies: Reply[] = [];
  for (let at = 0; at < requests.length; at += inFlight) {
    const sent = requests.slice(at, at + inFlight).map(async (one) => (await send(one)).reply);
    replies.push(...(await Promise.all(sent)));
  }
  return replies;
}

/** How many requests a target takes at once: one that drops others, or answers 503 to them, gets no more. */
interface Crowd {
  most: number;
}

/** A target that sheds load sheds more than a network loses: so many requests, and so large a part. */
const [MIN_SHED, SHED_PART] = [3, 0.25];

/** A limiter may answer 503, too: it says nothing about so few at once. */
const MIN_CROWD = 4;

async function stream(
  make: () => Request,
  { most, inFlight: wanted, gapMs = 0, endsAt, isLast }: Pace,
  sendOnce: (request: Request) => Promise<Exchange>,
  clock: RunOptions['clock'],
  crowd: Crowd,
): Promise<readonly Exchange[]> {
  const sent: Exchange[] = [];
  const inFlight = new Set<Promise<void>>();
  const state = { isOver: false, lost: 0 };
  const sendNth = async (nth: number, request: Request) => {
    const others = inFlight.size;
    const exchange = await sendOnce(request);
    sent[nth] = exchange;
    const { reply } = exchange;
    if (isShed(reply) && ++state.lost >= MIN_SHED && state.lost > SHED_PART * nth)
      crowd.most = Math.min(crowd.most, Math.max(MIN_CROWD, others));
    // A request that was not sent ends the stream. A lost request does not.
    state.isOver ||=
      reply.kind === 'answer' ? isLast(reply) : reply.code !== 'timeout' && reply.code !== 'network';
  };
  for (let nth = 0; nth < most && !state.isOver && clock.now() < endsAt; nth++) {
    const one = sendNth(nth, make()).then(() => void inFlight.delete(one));
    inFlight.add(one);
    // It fails while nobody awaits it: the stream ends, and throws this.
    one.catch(() => (state.isOver = true));
    if (gapMs > 0) await clock.sleep(gapMs);
    while (inFlight.size >= Math.min(wanted, crowd.most)) await Promise.race(inFlight);
  }
  await Promise.all(inFlight);
  return sent;
}

/** Maximum number of requests in flight. */
export const MAX_IN_FLIGHT = 256;
