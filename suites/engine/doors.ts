import type { Answer, Reply, Trouble } from '../answer.ts';
import { fingerprint, type Request } from '../request.ts';
import type { Doors, Sent, StateHook } from '../requirement.ts';
import type { Clock } from './clock.ts';
import type { Courier, Delivery } from './courier.ts';
import type { OnEvent } from './events.ts';
import { inFlightOf } from './in-flight.ts';
import { tapedDoors } from './taped-doors.ts';

export interface DoorsOptions {
  readonly courier: Courier;
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

/** What a scenario may do to the world, by its id. */
export function createDoors(options: DoorsOptions): (of: string) => Doors {
  const stories = new Map<string, Promise<unknown>>();
  const doorsOf = (of: string): Doors => {
    const doors = open(options, of, (name, make) => {
      const story = stories.get(name) ?? make(doorsOf(name));
      stories.set(name, story);
      return story as ReturnType<typeof make>;
    });
    return options.onEvent === undefined ? doors : tapedDoors(doors, of, options.onEvent);
  };
  return doorsOf;
}

function open(options: DoorsOptions, of: string, once: Doors['once']): Doors {
  const { courier, clock, signal, cases, deadline, hook } = options;
  const terms = () => {
    const until = options.until();
    return until === undefined ? { of } : { of, until };
  };
  const replyOf = async (carry: (request: Request) => Promise<Delivery>, request: Request): Promise<Reply> =>
    (await carry(request)).reply;
  const deliver = (request: Request) => courier.deliver(request, terms());
  return {
    send: async (...requests) => {
      const replies: Reply[] = [];
      for (const request of requests) replies.push(await replyOf(deliver, request));
      return replies;
    },
    sendAtOnce: (...requests) => Promise.all(requests.map((request) => replyOf(deliver, request))),
    patiently: async (request, onRefused) =>
      (await courier.deliver(request, { ...terms(), onRefused })).reply,
    burst: (...requests) =>
      Promise.all(requests.map((request) => replyOf((one) => courier.deliverAnyway(one, { of }), request))),
    stream: async (make, pace) => {
      const sent: Sent[] = [];
      const answers: Answer[] = [];
      const underWay = new Set<Promise<void>>();
      let isOver = false;
      const carry = async (nth: number, request: Request) => {
        const delivery = await courier.deliverAnyway(request, { of });
        sent[nth] = delivery;
        const { reply } = delivery;
        if (reply.kind === 'answer') answers.push(reply);
        isOver ||= reply.kind === 'answer' ? reply.status === 429 : isUnsent(reply);
      };
      for (let nth = 0; nth < pace.most; nth++) {
        if (isOver) break;
        const one = carry(nth, make()).finally(() => underWay.delete(one));
        underWay.add(one);
        while (underWay.size >= inFlightOf(pace, answers, options.burstConcurrency))
          await Promise.race(underWay);
      }
      await Promise.all(underWay);
      return sent;
    },
    first: (request) => replyOf((one) => courier.share(one, fingerprint(one), { of }), request),
    rest: courier.rest,
    settle: courier.settle,
    keyWorks: courier.keyWorks,
    once,
    wait: (ms) => clock.sleep(Math.min(ms, Math.max(0, deadline - clock.now())), signal),
    now: clock.now,
    leftMs: () => deadline - clock.now(),
    ...(hook === undefined ? {} : { withState: holder(hook) }),
    cases,
  };
}

/** What the target did not take is trouble with the hook, not with what is judged. */
function holder(hook: StateHook): NonNullable<Doors['withState']> {
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
