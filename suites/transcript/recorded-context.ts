import type { TranscriptDoor, TranscriptTrouble } from '../../schemas/generated/types.ts';
import type { Answer, Reply } from '../answer.ts';
import { notRecorded, type CallName } from '../engine/events.ts';
import type { Request } from '../request.ts';
import type { Context } from '../requirement.ts';
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

/** Contexts that answer from a transcript: each call gets what the same call got in the run. */
export function createRecordedContexts(transcript: Transcript): (of: string) => Context {
  const shared = new Map<string, Promise<unknown>>();
  const contextOf = (of: string): Context => {
    const calls = transcript.calls.get(of) ?? [];
    let nth = 0;
    /** The next call, where it is one of that name. */
    const next = (name: CallName): TranscriptDoor | undefined => {
      const call = calls[nth];
      if (call?.door !== name) return undefined;
      nth++;
      return call;
    };
    const several =
      (name: CallName) =>
      (...requests: readonly Request[]) => {
        const { replies = [] } = next(name) ?? {};
        return Promise.resolve(requests.map((request, at) => replyAt(transcript, replies[at], request)));
      };
    const one = (name: CallName, request: Request) => {
      const call = next(name);
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
      once: <Result>(name: string, make: (context: Context) => Promise<Result>) => {
        const result = shared.get(name) ?? make(contextOf(name));
        shared.set(name, result);
        return result as Promise<Result>;
      },
    };
  };
  return contextOf;
}
