import type { Answer, Reply } from '../answer.ts';
import type { Doors } from '../requirement.ts';
import type { DoorCall, DoorName, OnEvent } from './events.ts';

/** The same doors; what a scenario gets from each is told, in the order in which it asked. */
export function tapedDoors(doors: Doors, of: string, onEvent: OnEvent): Doors {
  let calls = 0;
  const tell = (nth: number, door: DoorName, what: Pick<DoorCall, 'replies' | 'refused' | 'value'>) =>
    onEvent({ kind: 'door', of, nth, door, ...what });
  const taped = async <Result extends Reply | readonly Reply[]>(
    door: DoorName,
    work: Promise<Result>,
    refused: readonly Answer[] = [],
  ) => {
    const nth = calls++;
    const result = await work;
    const replies = [result].flat() as readonly Reply[];
    tell(nth, door, refused.length === 0 ? { replies } : { replies, refused });
    return result;
  };
  const read = <Value extends number | boolean | undefined>(door: DoorName, value: Value): Value => {
    tell(calls++, door, value === undefined ? {} : { value });
    return value;
  };
  const { withState } = doors;
  return {
    ...doors,
    send: (...requests) => taped('send', doors.send(...requests)),
    sendAtOnce: (...requests) => taped('sendAtOnce', doors.sendAtOnce(...requests)),
    burst: (...requests) => taped('burst', doors.burst(...requests)),
    stream: async (make, pace) => {
      const nth = calls++;
      const sent = await doors.stream(make, pace);
      tell(nth, 'burst', { replies: sent.map(({ reply }) => reply) });
      return sent;
    },
    first: (request) => taped('first', doors.first(request)),
    patiently: (request, onRefused) => {
      const refused: Answer[] = [];
      const seen = (answer: Answer) => {
        refused.push(answer);
        onRefused(answer);
      };
      return taped('patiently', doors.patiently(request, seen), refused);
    },
    now: () => read('now', doors.now()),
    leftMs: () => read('leftMs', doors.leftMs()),
    keyWorks: () => read('keyWorks', doors.keyWorks()),
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
