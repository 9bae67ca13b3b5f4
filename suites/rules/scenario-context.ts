import type { Endpoint } from '../../schemas/endpoints.ts';
import type { WaitReason } from '../../schemas/generated/types.ts';
import type { Answer, Reply, Trouble } from '../answer.ts';
import type { Change, Known } from '../known.ts';
import type { Request } from '../request.ts';
import type { Verdict } from './verdict.ts';

/**
 * Changes the state of the target, like provider states in Pact: `deposit executed` with `reference_id`,
 * `amountInUsd` and `executedAt`; `key revoked` with `key`.
 */
export interface StateHook {
  /** Rejects if the target did not accept the change. */
  readonly change: (
    action: 'setup' | 'teardown',
    state: string,
    params: Readonly<Record<string, unknown>>,
  ) => Promise<void>;
}

/** A change that was made. */
export interface Changed {
  /** When the state hook was asked for it, and when all answers must show it, in ms of the clock. */
  readonly askedAt: number;
  readonly dueAt: number;
  /** Asks for what rows about lookups judge, by the new state. They judge nothing else during a change. */
  readonly judged: <Result>(ask: () => Promise<Result>) => Promise<Result>;
}

/** How a stream of requests is sent. Times are in ms of the engine's clock. */
export interface Pace {
  readonly most: number;
  readonly inFlight: number;
  /** The time between two requests, in ms. */
  readonly gapMs?: number;
  /** No request is sent after it. */
  readonly endsAt: number;
  /** Whether an answer ends the stream. */
  readonly isLast: (answer: Answer) => boolean;
}

/** A request and its reply. */
export interface Exchange {
  readonly request: Request;
  readonly reply: Reply;
}

/** When a scenario runs. Without a phase, it runs beside lookups. */
export type Phase =
  /** After the lookups, while nothing else is in flight: it may change the state of the target. */
  | 'alone'
  /** After everything else, one after another: it uses up a rate limit. */
  | 'last';

/** Who asks: a scenario, or what several scenarios ask for together. */
export interface Asker {
  /** As logs and progress name it. */
  readonly id: string;
  readonly phase?: Phase;
  /** Set if it may use what lookups leave of a stated limit, because nobody can ask later. */
  readonly reserves?: true;
  /** Set if it compares answers to requests sent at once, which no row about lookups judges. */
  readonly judgesConcurrency?: true;
  /** Whether it judges all answers alone: rows about lookups do not. */
  readonly isAlone?: (known: Known) => boolean;
}

/** What several scenarios ask for together, once per run. */
export interface Shared<Result, Powers = Asking> extends Asker {
  readonly make: (context: Powers, known: Known) => Promise<Result>;
}

/** What every scenario can do: ask. Times are in ms of the engine's clock. */
export interface Asking {
  /** Sends requests one after another. Waits and retries after 429. */
  readonly send: (...requests: readonly Request[]) => Promise<readonly Reply[]>;
  /** Sends requests at once, as far as --concurrency and --rate allow. Waits and retries after 429. */
  readonly sendAtOnce: (...requests: readonly Request[]) => Promise<readonly Reply[]>;
  readonly wait: (ms: number, reason: WaitReason) => Promise<void>;
  readonly now: () => number;
  /** Requests that the run may still send. */
  readonly leftRequests: () => number;
  /** The stated window of a limiter, or the longest pause after a 429, in ms; 0 if none is known. */
  readonly longestWindowMs: (endpoint: Endpoint) => number;
  /** The result of what is shared. The first call asks for it. */
  readonly once: <Result>(shared: Shared<Result, Context>, known: Known) => Promise<Result>;
  /** Time that a change may take until all answers must show it, in ms. */
  readonly graceMs: number;
  /** What the catalogue says of an answer to a lookup; empty if the interface is silent. */
  readonly verdictsOn: (request: Request, answer: Answer) => readonly Verdict[];
  /** Whether the rows that a wrong answer would fail have failed by other lookups. */
  readonly failsAnyway: (request: Request, answer: Answer) => boolean;
}

/** What a scenario can do that runs alone: change the state of the target. */
export interface Changes {
  /** Makes a change by the state hook, calls `during`, and undoes the change; undefined without a state hook. */
  readonly withState?: <Result>(
    change: Change,
    during: (changed: Changed) => Promise<Result>,
  ) => Promise<Result | Trouble>;
}

/** What a scenario can do that comes last: send requests that do not wait for a limiter, to try it. */
export interface Bursts {
  /** Like `send`, and reports each 429. It waits until `until` at most, in ms of the clock. */
  readonly sendUntilAllowed: (
    request: Request,
    onRefused: (answer: Answer) => void,
    until?: number,
  ) => Promise<Reply>;
  /** Sends requests at once. Never retries: 429 is an answer like any other. */
  readonly burst: (...requests: readonly Request[]) => Promise<readonly Reply[]>;
  /** Sends new requests until the last answer. Never retries. Returns exchanges in the order of sending. */
  readonly stream: (make: () => Request, pace: Pace) => Promise<readonly Exchange[]>;
  /** Waits until the run got no reply for `ms`, before a burst to an endpoint. */
  readonly waitForQuiet: (endpoint: Endpoint, ms: number) => Promise<void>;
  /** Rest of the run's time, in ms. */
  readonly leftMs: () => number;
  /** Why the run has ended; undefined if it goes on. */
  readonly ended: () => Trouble | undefined;
  /** Whether the key under test was ever accepted; undefined before it was used. */
  readonly keyWorks: () => boolean | undefined;
}

export type Context = Asking & Changes & Bursts;
