import type { Progress } from '../../schemas/plan.ts';
import type { Requirement, StateHook } from '../requirement.ts';
import type { Client, ClientOptions } from './client.ts';
import type { Clock } from './clock.ts';
import type { OnEvent } from './events.ts';
import type { RecordOptions } from './record.ts';

/** All that a run depends on: everything with an effect comes in here. */
export interface RunOptions extends Omit<RecordOptions, 'target' | 'headers'> {
  readonly target: URL;
  /** What to check, in the order of the record. */
  readonly requirements: readonly Requirement[];
  /** Ids that are left out on request; they stay in the record. */
  readonly skip: ReadonlySet<string>;
  readonly concurrency: number;
  /** Bound on the requests of a rate-limit burst in flight; as many as the stated limit needs without it. */
  readonly burstConcurrency?: number | undefined;
  /** Bound on each request, in ms. */
  readonly timeoutMs: number;
  /** Bound on the run, in ms of the clock. */
  readonly maxDurationMs: number;
  /** Bound on the requests of the run. */
  readonly maxRequests: number;
  /** Requests a second, at most; as fast as they come without it. */
  readonly rate?: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly tls: Pick<ClientOptions, 'ca' | 'insecure'>;
  readonly clock: Clock;
  /** Changes the target's state where a requirement needs it. */
  readonly stateHook?: StateHook;
  /** Opens the way to the target; sockets without it. */
  readonly connect?: (options: ClientOptions) => Client;
  /** From 0 to 1, for jitter. */
  readonly random: () => number;
  /** Ends the run early; what was found so far is still recorded. */
  readonly signal: AbortSignal;
  /** Why nothing can be verified where the key under test is refused at once; without it, that is judged. */
  readonly ifRefused?: string;
  /** Of the only requirement, judge only the input that this path leads to. */
  readonly path?: string;
  /** Only finds what fails, without the search for its conditions. */
  readonly isBrief?: boolean;
  /**
   * Runs when the target has answered for the first time, before anything is judged.
   *
   * @returns the faults of the mock that a self-check caught
   */
  readonly onReached?: () => Promise<readonly string[] | undefined>;
  readonly onProgress?: (progress: Progress) => void;
  /** Sees everything that happens, as it happens. */
  readonly onEvent?: OnEvent;
}
