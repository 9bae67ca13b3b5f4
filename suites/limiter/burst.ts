import type { Answer, Trouble } from '../answer.ts';
import type { Request } from '../request.ts';
import type { Context, Exchange, Pace } from '../requirement.ts';
import { IN_FLIGHT_AT_FIRST } from '../engine/context.ts';
import type { Burst, Rule, Sighting } from './history.ts';
import type { Supply } from './kinds.ts';
import { beyond } from './rule.ts';

/** Requests of one kind, until the first 429 or to the end. */
export interface Stream {
  readonly kind: string;
  readonly sent: number;
  /** Answers that a limiter let through. */
  readonly passed: number;
  readonly elapsedMs: number;
  readonly history: readonly Sighting[];
  /** The first 429, and what it answered. */
  readonly refusal?: { readonly request: Request; readonly answer: Answer };
  /** A request that got no answer, or was not sent. */
  readonly trouble?: Trouble;
}

/** Statuses that the network or a front end may cause: they do not say whether the server counted the request. */
const isLost = (status: number) => status === 408 || status >= 500;

/** Sends fresh requests until one is answered 429, or `most` went out. Nothing is sent again. */
export async function stream(context: Context, { kind, next }: Supply, pace: Pace): Promise<Stream> {
  const startedAt = context.now();
  const sent = await context.stream(next, pace);
  const history = sightingsOf(sent, startedAt);
  const refused = sent.find(({ reply }) => reply.kind === 'answer' && reply.status === 429);
  const trouble = sent.find(({ reply }) => reply.kind === 'trouble')?.reply;
  return {
    kind,
    sent: sent.length,
    passed: history.filter(({ result }) => result === 'passed').length,
    elapsedMs: context.now() - startedAt,
    history,
    ...(refused?.reply.kind === 'answer'
      ? { refusal: { request: refused.request, answer: refused.reply } }
      : {}),
    ...(trouble?.kind === 'trouble' ? { trouble } : {}),
  };
}

/** What became of requests, in the order of sending; those that were never sent are left out. */
function sightingsOf(sent: readonly Exchange[], startedAt: number): readonly Sighting[] {
  let last = startedAt;
  return sent.flatMap(({ reply }): readonly Sighting[] => {
    if (reply.kind === 'trouble')
      return reply.code === 'network' || reply.code === 'timeout'
        ? [{ sentAt: last, receivedAt: Number.POSITIVE_INFINITY, result: 'lost', words: reply.words }]
        : [];
    last = reply.sentAt;
    return [sightingOf(reply)];
  });
}

export function sightingOf({ sentAt, receivedAt, status }: Answer): Sighting {
  if (status === 429) return { sentAt, receivedAt, result: 'refused' };
  return isLost(status)
    ? { sentAt, receivedAt, result: 'lost', words: `${status}` }
    : { sentAt, receivedAt, result: 'passed' };
}

/** A limited key is tried again at these parts of its window: a refilled bucket or a shorter window lets it in. */
const PROBES = [0.3, 0.6, 0.9];

const PROBE_TRIES = 3;

/** What a burst from rest showed: the stream up to the first 429, and all of it for the judge. */
export interface Drive {
  readonly first: Stream;
  readonly burst: Burst;
}

/**
 * Drives a limiter from rest to its limit, and tries the limited key again before its window ends.
 *
 * @param whileLimited looks at other things at once after the first 429; gives what may have been counted of it
 */
export async function drive(
  context: Context,
  rule: Rule,
  supply: Supply,
  oneAtATime: boolean,
  whileLimited: () => Promise<readonly Sighting[]>,
): Promise<Drive> {
  const startedAt = context.now();
  const pace = { most: beyond(rule), ...(oneAtATime ? { oneAtATime } : { withinMs: rule.windowMs / 4 }) };
  const first = await stream(context, supply, pace);
  const history = [...first.history];
  if (first.refusal !== undefined) {
    history.push(...(await whileLimited()));
    for (const part of PROBES) {
      await context.wait(Math.max(0, startedAt + part * rule.windowMs - context.now()));
      let probe: Sighting | undefined;
      // A lost one says nothing, and another one may be sent.
      for (let tries = 0; tries < PROBE_TRIES && (probe?.result ?? 'lost') === 'lost'; tries++) {
        [probe] = (await stream(context, supply, { most: 1 })).history;
        if (probe !== undefined) history.push(probe);
      }
      if (probe?.result === 'passed') history.push(...(await stream(context, supply, pace)).history);
    }
  }
  const inFlight = oneAtATime ? 1 : Math.max(IN_FLIGHT_AT_FIRST, mostInFlight(history));
  return { first, burst: { startedAt, history, inFlight } };
}

/** Requests that were under way when another one was sent, and that one, at most. */
function mostInFlight(history: readonly Sighting[]): number {
  return Math.max(
    0,
    ...history.map(
      ({ sentAt }, at) => 1 + history.slice(0, at).filter(({ receivedAt }) => receivedAt > sentAt).length,
    ),
  );
}
