import type { Reply } from '../answer.ts';
import type { Request } from '../request.ts';
import type { Doors, StateHook } from '../requirement.ts';
import type { Clock } from './clock.ts';
import type { Courier } from './courier.ts';

/** What a scenario may do to the world. */
export function createDoors(
  courier: Courier,
  clock: Clock,
  signal: AbortSignal,
  cases: number,
  deadline: number,
  hook?: StateHook,
): Doors {
  const stories = new Map<string, Promise<unknown>>();
  const replyOf = async (carry: Courier['deliver'], request: Request): Promise<Reply> =>
    (await carry(request)).reply;
  return {
    send: async (...requests) => {
      const replies: Reply[] = [];
      for (const request of requests) replies.push(await replyOf(courier.deliver, request));
      return replies;
    },
    sendAtOnce: (...requests) => Promise.all(requests.map((request) => replyOf(courier.deliver, request))),
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
