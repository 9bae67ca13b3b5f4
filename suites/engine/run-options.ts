import type { Endpoint } from '../../schemas/endpoints.ts';
import type { Progress, Waiting } from '../../schemas/progress.ts';
import type { Rank } from '../plan/factors.ts';
import type { LookupOptions } from '../plan/lookups.ts';
import type { Requirement } from '../rules/requirement.ts';
import type { StateHook } from '../rules/scenario-context.ts';
import type { RunExchange } from '../judging/evaluation.ts';
import type { Client, ClientOptions, Network } from '../client/client.ts';
import type { Clock } from './clock.ts';
import type { RecordOptions } from '../judging/record.ts';

/** Everything a run depends on, with all side effects injected. */
export interface RunOptions extends Omit<RecordOptions, 'target' | 'headers'> {
  readonly target: URL;
  readonly requirements: readonly Requirement[];
  /** Ids to skip. They stay in the record. */
  readonly skip: ReadonlySet<string>;
  readonly concurrency: number;
  /** Maximum number of burst requests in flight; without it, as many as the limit needs. */
  readonly burstConcurrency?: number | undefined;
  readonly timeoutMs: number;
  /** How long to wait for a target that does not answer yet, in ms. */
  readonly waitMs?: number;
  readonly maxDurationMs: number;
  /** The same in real time, for a run on a virtual clock. */
  readonly maxRealMs?: number;
  readonly maxRequests: number;
  /** Time that a change of the target's data may take until all answers must show it, in ms. */
  readonly graceMs: number;
  /** Maximum requests per second; unlimited without it. */
  readonly rate?: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly tls: Network;
  readonly clock: Clock;
  /** Changes the state of the target for requirements that need it. */
  readonly stateHook?: StateHook;
  /** Creates the client; without it, one that uses sockets. */
  readonly connect?: (options: ClientOptions) => Client;
  /** Stops the run early. Results so far are recorded. */
  readonly signal: AbortSignal;
  /** Error message if the target refuses the key under test; without it, the refusal is judged. */
  readonly ifRefused?: string;
  /** Path of the only input to judge. Needs a single requirement. */
  readonly path?: string;
  /** The lookups of an endpoint in their order, for runs that share them; without it, they are drawn. */
  readonly plan?: LookupOptions['plan'];
  /** Whether to skip the explanation of failures. */
  readonly isBrief?: boolean;
  /**
   * Whether to send no lookups of a rank.
   *
   * @param failing ids of the requirements that have failed so far
   */
  readonly isEnough?: (failing: readonly string[], endpoint: Endpoint, rank: Rank) => boolean;
  readonly onProgress?: (progress: Progress) => void;
  /**
   * Called when a wait begins.
   *
   * @param failing ids of the requirements that have failed so far
   */
  readonly onWait?: (waiting: Waiting, failing: readonly string[]) => void;
  /** Called with what a person should know at once, such as a target that contradicts the fixture. */
  readonly onRemark?: (words: string) => void;
  /** Called with every exchange as it ends. */
  readonly onExchange?: (exchange: RunExchange) => void;
}
