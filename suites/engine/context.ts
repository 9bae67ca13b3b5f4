import { defined } from '../../schemas/defined.ts';
import { trouble, type Answer, type Reply } from '../answer.ts';
import type { Request } from '../request.ts';
import type { Context, Exchange, Pace } from '../requirement.ts';
import type { CallName, ContextCall } from './events.ts';
import type { RunOptions } from './run-options.ts';
import type { Sender } from './sender.ts';

export interface ContextOptions extends Pick<
  RunOptions,
  'clock' | 'signal' | 'cases' | 'burstConcurrency' | 'stateHook' | 'onEvent'
> {
  readonly sender: Pick<Sender, 'send' | 'sendOnce' | 'waitForQuiet' | 'waitForReset' | 'keyWorks'>;
  /** When the run ends, in ms of the clock. */
  readonly deadline: number;
}

/** Returns a function that creates the context of a requirement, by id. Calls of scenarios become events. */
export function createContexts(options: ContextOptions): (of: string) => Context {
  const { sender, clock, signal, cases, deadline, stateHook, onEvent } = options;
  const shared = new Map<string, Promise<unknown>>();
  return contextOf;

  function contextOf(of: string): Context {
    let calls = 0;
    const report = (nth: number, call: CallName, what: Pick<ContextCall, 'replies' | 'refused' | 'value'>) =>
      onEvent?.({ kind: 'call', of, nth, call, ...what });
    const reported = async (call: CallName, work: Promise<readonly Reply[]>) => {
      const nth = calls++;
      const replies = await work;
      report(nth, call, { replies });
      return replies;
    };
    const read = <Value extends number | boolean | undefined>(call: CallName, value: Value): Value => {
      report(calls++, call, defined({ value }));
      return value;
    };
    const send = async (request: Request) => (await sender.send(request, { of })).reply;
    const sendOnce = (request: Request) => sender.sendOnce(request, { of });
    const sendInTurn = async (requests: readonly Request[]) => {
      const replies: Reply[] = [];
      for (const request of requests) replies.push(await send(request));
      return replies;
    };
    const sendTogether = async (requests: readonly Request[]) => {
      const replies: Reply[] = [];
      const bound = options.burstConcurrency ?? requests.length;
      for (let at = 0; at < requests.length; at += bound) {
        const sent = requests.slice(at, at + bound).map((one) => sender.send(one, { of, isAtOnce: true }));
        replies.push(...(await Promise.all(sent)).map(({ reply }) => reply));
      }
      return replies;
    };
    return {
      send: (...requests) => reported('send', sendInTurn(requests)),
      sendAtOnce: (...requests) => reported('sendAtOnce', sendTogether(requests)),
      burst: (...requests) =>
        reported('burst', Promise.all(requests.map(async (request) => (await sendOnce(request)).reply))),
      stream: async (make, pace) => {
        const nth = calls++;
        const sent = await stream(make, pace, sendOnce, options.burstConcurrency);
        report(nth, 'burst', { replies: sent.map(({ reply }) => reply) });
        return sent;
      },
      sendUntilAllowed: async (request, onRefused) => {
        const nth = calls++;
        const refused: Answer[] = [];
        const see = (answer: Answer) => {
          refused.push(answer);
          onRefused(answer);
        };
        const { reply } = await sender.send(request, { of, onRefused: see });
        report(nth, 'sendUntilAllowed', { replies: [reply], ...(refused.length === 0 ? {} : { refused }) });
        return reply;
      },
      waitForQuiet: sender.waitForQuiet,
      waitForReset: sender.waitForReset,
      once: <Result>(name: string, make: (context: Context) => Promise<Result>) => {
        const result = shared.get(name) ?? make(contextOf(name));
        shared.set(name, result);
        return result as Promise<Result>;
      },
      wait: (ms) => clock.sleep(Math.min(ms, Math.max(0, deadline - clock.now())), signal),
      now: () => read('now', clock.now()),
      leftMs: () => read('leftMs', deadline - clock.now()),
      keyWorks: () => read('keyWorks', sender.keyWorks()),
      cases,
      ...(stateHook === undefined
        ? {}
        : {
            withState: async (state, params, during) => {
              const nth = calls++;
              const failure = await stateHook
                .change('setup', state, params)
                .then(() => undefined, hookTrouble);
              report(nth, 'withState', failure === undefined ? {} : { replies: [failure] });
              if (failure !== undefined) return failure;
              try {
                return await during();
              } finally {
                // A failed teardown does not change what this run saw.
                await stateHook.change('teardown', state, params).catch(() => undefined);
              }
            },
          }),
    };
  }
}

/** A change that failed is a problem of the hook, not of the target's answers. */
const hookTrouble = (error: unknown) =>
  trouble('state-hook', error instanceof Error ? error.message : String(error));

async function stream(
  make: () => Request,
  pace: Pace,
  sendOnce: (request: Request) => Promise<Exchange>,
  bound: number | undefined,
): Promise<readonly Exchange[]> {
  const sent: Exchange[] = [];
  const latencies: Latency[] = [];
  const inFlight = new Set<Promise<void>>();
  let isOver = false;
  const sendNth = async (nth: number, request: Request) => {
    const among = inFlight.size + 1;
    const exchange = await sendOnce(request);
    sent[nth] = exchange;
    const { reply } = exchange;
    if (reply.kind === 'answer') latencies.push({ ms: reply.receivedAt - reply.sentAt, among });
    // A request that was not sent ends the stream. A lost request does not.
    isOver ||=
      reply.kind === 'answer' ? reply.status === 429 : reply.code !== 'timeout' && reply.code !== 'network';
  };
  for (let nth = 0; nth < pace.most; nth++) {
    if (isOver) break;
    const one = sendNth(nth, make()).finally(() => inFlight.delete(one));
    inFlight.add(one);
    while (inFlight.size >= inFlightOf(pace, latencies, bound)) await Promise.race(inFlight);
  }
  await Promise.all(inFlight);
  return sent;
}

/** Requests in flight at the start of a stream, before the target's latency is known. */
export const IN_FLIGHT_AT_FIRST = 4;

/** Maximum number of requests in flight. */
export const MAX_IN_FLIGHT = 256;

/** How long an answer took, and how many requests were in flight when its own was sent. */
interface Latency {
  readonly ms: number;
  readonly among: number;
}

/** Answers whose mean latency counts. */
const LATENCIES = 2 * IN_FLIGHT_AT_FIRST;

/** How many times as many requests may be in flight as the first answers suggest. */
const MAX_GROWTH = 4;

/**
 * How many requests of a stream may be in flight: as many as the pace needs at the latency of the target. The first
 * answers show it, or later ones, if they take longer though no more requests are in flight.
 *
 * @param bound set by the user
 */
export function inFlightOf(
  { most, withinMs, oneAtATime }: Pace,
  latencies: readonly Latency[],
  bound = MAX_IN_FLIGHT,
): number {
  if (oneAtATime === true) return 1;
  if (withinMs === undefined) return Math.min(bound, IN_FLIGHT_AT_FIRST);
  // Requests may queue behind each other: among twice as many, each then takes twice as long.
  const needed = (some: readonly Latency[]) =>
    ((most / withinMs) *
      some.reduce((sum, { ms, among }) => sum + ms * Math.min(1, IN_FLIGHT_AT_FIRST / among), 0)) /
    Math.max(1, some.length);
  const first = Math.max(IN_FLIGHT_AT_FIRST, Math.ceil(needed(latencies.slice(0, LATENCIES))));
  let later = 0;
  for (let at = LATENCIES; at + LATENCIES <= latencies.length; at += LATENCIES)
    later = Math.max(later, needed(latencies.slice(at, at + LATENCIES)));
  return Math.min(bound, MAX_IN_FLIGHT, Math.max(first, Math.min(MAX_GROWTH * first, Math.ceil(later))));
}
