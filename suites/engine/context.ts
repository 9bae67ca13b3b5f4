import type { Answer, Reply, Trouble } from '../answer.ts';
import { fingerprint, type Request } from '../request.ts';
import type { Context, Exchange, StateHook } from '../requirement.ts';
import type { Clock } from './clock.ts';
import type { Sender } from './sender.ts';
import type { OnEvent } from './events.ts';
import { inFlightOf } from './in-flight.ts';
import { recordingContext } from './recording-context.ts';

export interface ContextOptions {
  readonly sender: Sender;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly cases: number;
  /** Requests of a stream in flight, at most, where the user said so. */
  readonly burstConcurrency?: number | undefined;
  /** When the run ends, in ms of the clock. */
  readonly deadline: number;
  /** When the scenarios at work have to end, if earlier. */
  readonly until: () => number | undefined;
  readonly hook?: StateHook;
  readonly onEvent?: OnEvent;
}

/** A function that gives each requirement its context, by its id. */
export function createContexts(options: ContextOptions): (of: string) => Context {
  const shared = new Map<string, Promise<unknown>>();
  const contextOf = (of: string): Context => {
    const context = open(options, of, (name, make) => {
      const result = shared.get(name) ?? make(contextOf(name));
      shared.set(name, result);
      return result as ReturnType<typeof make>;
    });
    return options.onEvent === undefined ? context : recordingContext(context, of, options.onEvent);
  };
  return contextOf;
}

function open(options: ContextOptions, of: string, once: Context['once']): Context {
  const { sender, clock, signal, cases, deadline, hook } = options;
  const bounds = () => {
    const until = options.until();
    return until === undefined ? { of } : { of, until };
  };
  const replyOf = async (
    sendOne: (request: Request) => Promise<Exchange>,
    request: Request,
  ): Promise<Reply> => (await sendOne(request)).reply;
  const send = (request: Request) => sender.send(request, bounds());
  return {
    send: async (...requests) => {
      const replies: Reply[] = [];
      for (const request of requests) replies.push(await replyOf(send, request));
      return replies;
    },
    sendAtOnce: (...requests) => Promise.all(requests.map((request) => replyOf(send, request))),
    patiently: async (request, onRefused) => (await sender.send(request, { ...bounds(), onRefused })).reply,
    burst: (...requests) =>
      Promise.all(requests.map((request) => replyOf((one) => sender.sendOnce(one, { of }), request))),
    stream: async (make, pace) => {
      const sent: Exchange[] = [];
      const answers: Answer[] = [];
      const underWay = new Set<Promise<void>>();
      let isOver = false;
      const sendNth = async (nth: number, request: Request) => {
        const exchange = await sender.sendOnce(request, { of });
        sent[nth] = exchange;
        const { reply } = exchange;
        if (reply.kind === 'answer') answers.push(reply);
        isOver ||= reply.kind === 'answer' ? reply.status === 429 : isUnsent(reply);
      };
      for (let nth = 0; nth < pace.most; nth++) {
        if (isOver) break;
        const one = sendNth(nth, make()).finally(() => underWay.delete(one));
        underWay.add(one);
        while (underWay.size >= inFlightOf(pace, answers, options.burstConcurrency))
          await Promise.race(underWay);
      }
      await Promise.all(underWay);
      return sent;
    },
    first: (request) => replyOf((one) => sender.sendShared(one, fingerprint(one), { of }), request),
    rest: sender.rest,
    settle: sender.settle,
    keyWorks: sender.keyWorks,
    once,
    wait: (ms) => clock.sleep(Math.min(ms, Math.max(0, deadline - clock.now())), signal),
    now: clock.now,
    leftMs: () => deadline - clock.now(),
    ...(hook === undefined ? {} : { withState: holder(hook) }),
    cases,
  };
}

/** What the target did not take is trouble with the hook, not with what is judged. */
function holder(hook: StateHook): NonNullable<Context['withState']> {
  return async (state, params, during) => {
    try {
      await hook.change('setup', state, params);
    } catch (error) {
      return {
        kind: 'trouble',
        code: 'state-hook',
        words: error instanceof Error ? error.message : String(error),
      };
    }
    try {
      return await during();
    } finally {
      // What cannot be taken back shows in the next run, not in this one.
      await hook.change('teardown', state, params).catch(() => undefined);
    }
  };
}

/** What never went out ends a stream; a lost request does not. */
const isUnsent = ({ code }: Trouble) => code !== 'timeout' && code !== 'network';
