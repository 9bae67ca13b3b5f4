import type { Endpoint } from '../schemas/endpoints.ts';
import type { Answer, Reply, Trouble } from './answer.ts';
import type { Change } from './catalogue/known.ts';
import type { Request } from './request.ts';
import type { Verdict } from './catalogue/verdict.ts';

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

/** What a scenario can do. Times are in ms of the engine's clock. */
export interface Context {
  /** Sends requests one after another. Waits and retries after 429. */
  readonly send: (...requests: readonly Request[]) => Promise<readonly Reply[]>;
  /** Sends requests at once, as far as --concurrency and --rate allow. Waits and retries after 429. */
  readonly sendAtOnce: (...requests: readonly Request[]) => Promise<readonly Reply[]>;
  readonly wait: (ms: number) => Promise<void>;
  readonly now: () => number;
  /** Requests that the run may still send. */
  readonly leftRequests: () => number;
  /** The stated window of a limiter, or the longest pause after a 429, in ms; 0 if none is known. */
  readonly longestWindowMs: (endpoint: Endpoint) => number;
  /** Calls `make` once per run, for requirements that share requests. */
  readonly once: <Result>(name: string, make: (context: Context) => Promise<Result>) => Promise<Result>;
  /**
   * Makes a change by the state hook, calls `during`, and undoes the change; undefined without a state hook. Only for
   * scenarios that run alone.
   */
  readonly withState?: <Result>(
    change: Change,
    during: (changed: Changed) => Promise<Result>,
  ) => Promise<Result | Trouble>;
  /** Time that a change may take until all answers must show it, in ms. */
  readonly graceMs: number;
  /** What the catalogue says of an answer to a lookup; empty if the interface is silent. */
  readonly verdictsOn: (request: Request, answer: Answer) => readonly Verdict[];
  /** Whether the rows that a wrong answer would fail have failed by other lookups. */
  readonly failsAnyway: (request: Request, answer: Answer) => boolean;

  // For the trial of a limiter: requests that do not wait for one.
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
  /** Whether the key under test was ever accepted; undefined before it was used. */
  readonly keyWorks: () => boolean | undefined;
}
