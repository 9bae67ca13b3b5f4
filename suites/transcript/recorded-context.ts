import type { TranscriptTrouble } from '../../schemas/generated/types.ts';
import { trouble, type Answer, type Reply } from '../answer.ts';
import type { CallName, NotedExchange } from '../engine/events.ts';
import type { Request } from '../request.ts';
import type { Context } from '../requirement.ts';
import type { LineOf, Transcript } from './transcript.ts';

/** Evidence that a transcript does not hold. */
const notRecorded = trouble('not-recorded', 'the transcript holds no answer to this');

/** A key in the place of the query or the body is written in many ways: there, the rest has to do. */
const isSame = ({ request }: NotedExchange, asked: Request) =>
  request.method === asked.method &&
  (asked.misplaced !== undefined || (request.target === asked.target && request.body === asked.body));

/** Contexts that answer from a transcript: each call gets what the same call got in the run. */
export function createRecordedContexts({ exchanges, calls, start }: Transcript): (of: string) => Context {
  const shared = new Map<string, Promise<unknown>>();
  /** What came of a request by its place in the transcript; of another request than that it tells nothing. */
  const replyAt = (reference: number | TranscriptTrouble | undefined, asked: Request): Reply => {
    if (typeof reference === 'object') return { kind: 'trouble', ...reference };
    const exchange = reference === undefined ? undefined : exchanges[reference];
    return exchange !== undefined && isSame(exchange, asked) ? exchange.reply : notRecorded;
  };
  return contextOf;

  function contextOf(of: string): Context {
    const list = calls.filter((call) => call.of === of);
    let nth = 0;
    /** The next call, if it has that name. */
    const next = (name: CallName): Partial<LineOf<'door'>> => (list[nth]?.door === name ? list[nth++]! : {});
    const repliesOf =
      (name: CallName) =>
      async (...requests: readonly Request[]) => {
        const { replies = [] } = next(name);
        return requests.map((request, at) => replyAt(replies[at], request));
      };
    return {
      send: repliesOf('send'),
      sendAtOnce: repliesOf('sendAtOnce'),
      burst: repliesOf('burst'),
      stream: async (make) =>
        (next('burst').replies ?? []).map((reference) => {
          const request = make();
          return { request, reply: replyAt(reference, request) };
        }),
      patiently: async (request, onRefused) => {
        const { refused = [], replies } = next('patiently');
        for (const n of refused) onRefused(exchanges[n]!.reply as Answer);
        return replyAt(replies?.[0], request);
      },
      ...(start.stateHook
        ? {
            withState: async (_state, _params, during) => {
              const failure = next('withState').replies?.[0];
              return typeof failure === 'object' ? { kind: 'trouble', ...failure } : during();
            },
          }
        : {}),
      rest: () => Promise.resolve(),
      settle: () => Promise.resolve(),
      wait: () => Promise.resolve(),
      now: () => Number(next('now').value ?? 0),
      leftMs: () => Number(next('leftMs').value ?? Number.POSITIVE_INFINITY),
      keyWorks: () => next('keyWorks').value as boolean | undefined,
      cases: start.cases,
      once: <Result>(name: string, make: (context: Context) => Promise<Result>) => {
        const result = shared.get(name) ?? make(contextOf(name));
        shared.set(name, result);
        return result as Promise<Result>;
      },
    };
  }
}
