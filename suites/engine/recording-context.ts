import type { Answer, Reply } from '../answer.ts';
import type { Context } from '../requirement.ts';
import type { ContextCall, CallName, OnEvent } from './events.ts';

/** The same context; every call and what the scenario got from it is reported. */
export function recordingContext(context: Context, of: string, onEvent: OnEvent): Context {
  let calls = 0;
  const tell = (nth: number, call: CallName, what: Pick<ContextCall, 'replies' | 'refused' | 'value'>) =>
    onEvent({ kind: 'call', of, nth, call, ...what });
  const recorded = async <Result extends Reply | readonly Reply[]>(
    call: CallName,
    work: Promise<Result>,
    refused: readonly Answer[] = [],
  ) => {
    const nth = calls++;
    const result = await work;
    const replies = [result].flat() as readonly Reply[];
    tell(nth, call, refused.length === 0 ? { replies } : { replies, refused });
    return result;
  };
  const read = <Value extends number | boolean | undefined>(call: CallName, value: Value): Value => {
    tell(calls++, call, value === undefined ? {} : { value });
    return value;
  };
  const { withState } = context;
  return {
    ...context,
    send: (...requests) => recorded('send', context.send(...requests)),
    sendAtOnce: (...requests) => recorded('sendAtOnce', context.sendAtOnce(...requests)),
    burst: (...requests) => recorded('burst', context.burst(...requests)),
    stream: async (make, pace) => {
      const nth = calls++;
      const sent = await context.stream(make, pace);
      tell(nth, 'burst', { replies: sent.map(({ reply }) => reply) });
      return sent;
    },
    first: (request) => recorded('first', context.first(request)),
    patiently: (request, onRefused) => {
      const refused: Answer[] = [];
      const seen = (answer: Answer) => {
        refused.push(answer);
        onRefused(answer);
      };
      return recorded('patiently', context.patiently(request, seen), refused);
    },
    now: () => read('now', context.now()),
    leftMs: () => read('leftMs', context.leftMs()),
    keyWorks: () => read('keyWorks', context.keyWorks()),
    ...(withState === undefined
      ? {}
      : {
          withState: async (state, params, during) => {
            const nth = calls++;
            let isHeld = false;
            const result = await withState(state, params, () => {
              isHeld = true;
              return during();
            });
            // What the hook did not take is all that there is to tell.
            tell(nth, 'withState', isHeld ? {} : { replies: [result as Reply] });
            return result;
          },
        }),
  };
}
