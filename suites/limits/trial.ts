import { endpointNames, type Endpoint } from '../../schemas/endpoints.ts';
import { repeated } from '../../schemas/values.ts';
import type { Answer, Reply, Trouble } from '../answer.ts';
import type { Known } from '../known.ts';
import type { Request } from '../request.ts';
import type { Exchange } from '../rules/scenario-context.ts';
import { failed, inconclusive, type Verdict, unanswered } from '../rules/verdict.ts';
import {
  findableLookup,
  strangersLookup,
  suppliesFor,
  stream,
  type Stream,
  type Supplies,
  type Supply,
  type Trying,
} from './stream.ts';
import { statedLimits, type RateLimit } from './limit.ts';

/** What a run finds out about the limiter of an endpoint. */
export interface Trial {
  readonly endpoint: Endpoint;
  readonly context: Trying;
  readonly known: Known;
  readonly stated: RateLimit | undefined;
  readonly supplies: Supplies;
  /** What a key of another partner got before. */
  readonly strangers: readonly Reply[];
  /** Requests in flight; four times as many where members are among them, so that failures come no slower. */
  readonly inFlight: number;
  /** All requests of one kind, up to the first refusal. */
  readonly streams: Stream[];
  /** How long the key was limited, each time, in ms. */
  readonly pauses: number[];
  /** Verdicts by the last part of a requirement's id. The limit itself is `limit`. */
  readonly verdicts: Map<Judged, Verdict>;
  /** The first 429 to requests that should get it, and what followed. */
  limited?: Limited;
  /** Why the run ended in the trial, if it did. */
  end?: Trouble | undefined;
}

export type Judged =
  'limit' | 'spares-successes' | 'counts-unknown-users' | 'not-reset' | 'counts-foreign-users';

/** A limiter that answered 429. */
export interface Limited {
  readonly refusal: { readonly request: Request; readonly reply: Answer };
  readonly by: Stream;
  /** The reply to a lookup after the waits. */
  readonly recovery: Reply;
  /** The longest time in which nothing was sent, and the one that decides that a key does not recover, in ms. */
  readonly quietMs: number;
  readonly decidingMs: number;
  /** Whether other keys were limited too, by key name. */
  readonly others: Readonly<Record<string, boolean>>;
  /** What a key of another partner got while the key was limited; undefined without one, or if the limit had ended. */
  readonly stranger: Exchange | undefined;
  /** Whether that key, if it was limited too, was free as soon as ours was: else it had used up a limit of its own. */
  readonly isStrangerFreed: boolean;
  /** Whether the key was still limited when it asked in other forms. */
  readonly isLimited: boolean;
  /** Number of forms that were answered. */
  readonly cases: number;
  /** A form that passed, again and again, while the plain form got 429. */
  readonly around: (Exchange & { readonly form: string }) | undefined;
}

/** The most requests of one kind, and the most ms that they take, if no limit is stated. */
const [MOST, MOST_MS] = [1000, 20_000];

/** A stream of a stated limit ends within its window. */
const PART_OF_WINDOW = 0.9;

/** Only a limiter that lets go after so many ms is compared with itself. */
export const SHORT_PAUSE_MS = 30_000;

/** Before a trial nothing is sent for so many ms, or for a known window up to the second number. */
const [QUIET_MS, MAX_QUIET_MS] = [2000, 8000];

/** How long nothing is sent before a trial, in ms, if there is time. @param windowMs 0 if no window is known */
export const quietBefore = (windowMs: number): number =>
  windowMs > MAX_QUIET_MS ? QUIET_MS : Math.max(QUIET_MS, windowMs);

/** How long nothing is sent before a comparison, in ms, if a key was limited for so long. */
export const restAfter = (pauseMs: number): number => 2 * pauseMs + 1000;

const [MIN_IN_FLIGHT, MAX_IN_FLIGHT] = [8, 64];

/** Lookups with a key of another partner before a trial: a limiter that is used up may let one through. */
const STRANGERS = 3;

/** Lookups of a member before a trial, which show how long answers take. */
export const PROBES = 4;

export async function createTrial(endpoint: Endpoint, context: Trying, known: Known): Promise<Trial> {
  const stated = statedLimits(known)[endpoint];
  // A member's lookup is free. The slowest of a few counts: a network may vary.
  const probes = await context.burst(
    ...Array.from({ length: PROBES }, () => findableLookup('user-status', known)),
  );
  const strangers = await context.burst(...repeated(strangersLookup(endpoint, known), STRANGERS));
  const latencyMs = Math.max(
    0,
    ...probes.map((one) => (one.kind === 'answer' ? one.receivedAt - one.sentAt : 0)),
  );
  const needed = stated === undefined ? 0 : (2.5 * mostOf(stated) * latencyMs) / stated.windowMs;
  // A limiter may count once it has answered: what is in flight passes, too.
  const bound = stated === undefined ? MAX_IN_FLIGHT : Math.max(1, Math.floor(stated.most / 2));
  return {
    endpoint,
    context,
    known,
    stated,
    strangers,
    supplies: suppliesFor(endpoint, known),
    inFlight: Math.min(MAX_IN_FLIGHT, bound, Math.max(MIN_IN_FLIGHT, Math.ceil(needed))),
    streams: [],
    pauses: [],
    verdicts: new Map(),
  };
}

const mostOf = (stated: RateLimit | undefined) => (stated === undefined ? MOST : 2 * stated.most + 2);

export const paceOf = ({ stated, inFlight }: Trial, times = 1) => ({
  most: mostOf(stated),
  // A limiter may count a lookup until it is answered.
  inFlight: Math.min(times * inFlight, stated === undefined ? Infinity : Math.max(1, stated.most - 1)),
  withinMs: stated === undefined ? MOST_MS : PART_OF_WINDOW * stated.windowMs,
});

/** What may get 429 is sent at so many times the pace of what it is compared with: the pace of both varies. */
const SLOWER = 0.6;

/** @param below a stream to stay below the pace of */
export async function send(trial: Trial, supply: Supply, below?: Stream): Promise<Stream> {
  const { context, supplies, streams } = trial;
  const gapMs = below === undefined ? 0 : below.elapsedMs / (SLOWER * Math.max(1, below.failures));
  const times = supply === supplies.members || supply === supplies.mixed ? 4 : 1;
  const sendAll = () => stream(context, supply, { ...paceOf(trial, times), gapMs });
  const first = await sendAll();
  // By now it is known how many the target takes at once.
  const { refusal, instead, shed, sent } = first;
  const isShort = refusal === undefined && instead === undefined && shed > MOST_SHED * sent;
  const one = isShort ? await sendAll() : first;
  streams.push(one);
  return one;
}

/** If the target sheds more than this part of a stream, it is sent again. */
const MOST_SHED = 0.2;

/** The same, once more after the wait if the limit was used up before. */
export async function sendAtRest(trial: Trial, supply: Supply): Promise<Stream> {
  const first = await send(trial, supply);
  return first.startsLimited && (await obey(trial, supply, first)) ? send(trial, supply) : first;
}

/** Whether more passed than any limiter of the stated limit allows. */
export const isBeyond = ({ stated }: Trial, one: Stream | undefined): boolean =>
  stated !== undefined && one !== undefined && one.failures > 2 * stated.most;

/** For what would take so many ms more. */
export const notCompared = (why: string, ms?: number): Verdict =>
  inconclusive(
    'not-compared',
    `not compared: ${why}${ms === undefined ? '' : ` (needs ${Math.ceil(ms / 60_000)}m more)`}`,
  );

/** Whether a stream ended the trial: its answers are not 429, or there are none. */
export function isOver(
  { verdicts, context }: Trial,
  { instead, isKeyRefused, refusal, trouble, passed, kind }: Stream,
): boolean {
  if (instead !== undefined && instead.reply.status !== 401) {
    const actual = `${instead.reply.status} instead of 429 after ${passed} requests (${kind})`;
    verdicts.set(
      'limit',
      passed > 0 ? failed('status', '429', actual) : inconclusive('depends', `${actual}?`),
    );
  } else if (isKeyRefused || context.keyWorks() === false) {
    const words =
      context.keyWorks() === true
        ? 'the key under test gets 401 now, although it worked before'
        : 'the target answers every request of the key under test with 401';
    verdicts.set('limit', inconclusive('key-refused', words));
  } else if (refusal === undefined && trouble !== undefined) verdicts.set('limit', unanswered(trouble));
  return verdicts.has('limit');
}

export const windowOf = ({ stated, pauses }: Trial): number =>
  Math.max(stated?.windowMs ?? 0, ...pauses, 60_000);

/** When to stop waiting, in ms of the clock: the other endpoint needs time, too. */
export const obeysUntil = ({ context, endpoint }: Trial): number =>
  context.now() + context.leftMs() / (endpointNames.length - endpointNames.indexOf(endpoint));

/** Waits until a key is free again. Returns whether it is. */
export async function obey(trial: Trial, supply: Supply, { refusal }: Stream): Promise<boolean> {
  const { context, pauses } = trial;
  const reply = await context.sendUntilAllowed(supply.next(), () => undefined, obeysUntil(trial));
  if (reply.kind !== 'answer') return false;
  pauses.push(context.now() - refusal!.reply.receivedAt);
  return true;
}

/** How much longer a pause may be than the first: a limiter whose pauses grow is not compared. */
const [GROWTH, SLACK_MS] = [1.5, 500];

/** Rests before a comparison, twice as long as the pause. Returns whether there is time and the pauses do not grow. */
export async function rests({ context, pauses, endpoint, stated }: Trial): Promise<boolean> {
  const [first] = pauses;
  if (first === undefined || first > SHORT_PAUSE_MS) return false;
  // The first pause may have begun in the middle of a window.
  const usualMs = Math.max(first, stated?.windowMs ?? 0);
  if (pauses.some((ms) => ms > GROWTH * usualMs + SLACK_MS)) return false;
  const restMs = restAfter(first);
  if (context.leftMs() < 2 * restMs + first) return false;
  await context.waitForQuiet(endpoint, restMs);
  return true;
}
