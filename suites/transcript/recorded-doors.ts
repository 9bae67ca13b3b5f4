import type { TranscriptDoor, TranscriptTrouble } from '../../schemas/generated/types.ts';
import type { Answer, Reply } from '../answer.ts';
import { notRecorded, type DoorName } from '../engine/events.ts';
import type { Request } from '../request.ts';
import type { Doors } from '../requirement.ts';
import type { RecordedExchange, Transcript } from './transcript.ts';

/** What came of a request by its place in the transcript; of another request than that it tells nothing. */
function replyAt(
  { exchanges }: Pick<Transcript, 'exchanges'>,
  reference: number | TranscriptTrouble | undefined,
  asked: Request,
): Reply {
  if (reference === undefined) return notRecorded;
  if (typeof reference === 'object') return { kind: 'trouble', code: reference.code, words: reference.words };
  const exchange = exchanges[reference];
  return exchange !== undefined && isSame(exchange, asked) ? exchange.reply : notRecorded;
}

/** A key in the place of the query or the body is written in many ways: there, the rest has to do. */
const isSame = ({ request }: RecordedExchange, asked: Request) =>
  request.method === asked.method &&
  (asked.misplaced !== undefined || (request.target === asked.target && request.body === asked.body));

/** Doors that lead into a transcript: each call gets what the same call got in the run. */
export function createRecordedDoors(transcript: Transcript): (of: string) => Doors {
  const stories = new Map<string, Promise<unknown>>();
  const doorsOf = (of: string): Doors => {
    const calls = transcript.doors.get(of) ?? [];
    let nth = 0;
    /** The next call, where it is one of that door. */
    const next = (door: DoorName): TranscriptDoor | undefined => {
      const call = calls[nth];
      if (call?.door !== door) return undefined;
      nth++;
      return call;
    };
    const several =
      (door: DoorName) =>
      (...requests: readonly Request[]) => {
        const { replies = [] } = next(door) ?? {};
        return Promise.resolve(requests.map((request, at) => replyAt(transcript, replies[at], request)));
      };
    const one = (door: DoorName, request: Request) => {
      const call = next(door);
      return { call, reply: replyAt(transcript, call?.replies?.[0], request) };
    };
    return {
      send: several('send'),
      sendAtOnce: several('sendAtOnce'),
      burst: several('burst'),
      stream: (make) =>
        Promise.resolve(
          (next('burst')?.replies ?? []).map((reference) => {
            const request = make();
            return { request, reply: replyAt(transcript, reference, request) };
          }),
        ),
      first: (request) => Promise.resolve(one('first', request).reply),
      patiently: (request, onRefused) => {
        const { call, reply } = one('patiently', request);
        for (const n of call?.refused ?? []) onRefused(transcript.exchanges[n]!.reply as Answer);
        return Promise.resolve(reply);
      },
      ...(transcript.start.stateHook
        ? {
            withState: (_state, _params, during) => {
              const trouble = next('withState')?.replies?.[0];
              return typeof trouble === 'object'
                ? Promise.resolve({ kind: 'trouble', code: trouble.code, words: trouble.words })
                : during();
            },
          }
        : {}),
      rest: () => Promise.resolve(),
      settle: () => Promise.resolve(),
      wait: () => Promise.resolve(),
      now: () => Number(next('now')?.value ?? 0),
      leftMs: () => Number(next('leftMs')?.value ?? Number.POSITIVE_INFINITY),
      keyWorks: () => next('keyWorks')?.value as boolean | undefined,
      cases: transcript.start.cases,
      once: <Result>(name: string, make: (doors: Doors) => Promise<Result>) => {
        const story = stories.get(name) ?? make(doorsOf(name));
        stories.set(name, story);
        return story as Promise<Result>;
      },
    };
  };
  return doorsOf;
}
