import type { Reply } from '../answer.ts';
import type { Request } from '../request.ts';
import type { Doors, StateHook } from '../requirement.ts';
import type { Clock } from './clock.ts';
import type { Courier, Delivery } from './courier.ts';

export interface DoorsOptions {
  readonly courier: Courier;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly cases: number;
  /** When the run ends, in ms of the clock. */
  readonly deadline: number;
  /** When the scenarios at work have to end, if earlier. */
  readonly until: () => number | undefined;
  readonly hook?: StateHook;
}

/** What a scenario may do to the world. */
export function createDoors(options: DoorsOptions): Doors {
  const { courier, clock, signal, cases, deadline, hook } = options;
  const terms = () => {
    const until = options.until();
    return until === undefined ? {} : { until };
  };
  const stories = new Map<string, Promise<unknown>>();
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
    burst: (...requests) => Promise.all(requests.map((request) => replyOf(courier.deliverAnyway, request))),
    first: (request) => replyOf(courier.share, request),
    settle: courier.settle,
    keyWorks: courier.keyWorks,
    once: <Result>(name: string, make: () => Promise<Result>) => {
      const story = stories.get(name) ?? make();
      stories.set(name, story);
      return story as Promise<Result>;
    },
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
