import type { Environment } from '../../schemas/fixture-keys.ts';
import type { Progress } from '../../schemas/plan.ts';
import type { Fixture } from '../../schemas/generated/types.ts';

/** A server to verify, and how. */
export interface VerifyOptions {
  /** `{base_url}`; may contain a path. */
  readonly url: string | URL;
  /** What is true of the server; checked like a fixture file. */
  readonly fixture: Fixture;
  /** Where `${NAME}` in a key of the fixture is read from; the environment of the process by default. */
  readonly env?: Environment;
  /** Id of the partner whose key makes the calls; that of the first active key by default. */
  readonly partner?: string;
  /** Rows of the covering array per endpoint, at most; 1500 by default. */
  readonly cases?: number;
  /** Strength below which the verdict is `incomplete`; 1 by default. */
  readonly minStrength?: number;
  /** A 32-bit integer. Equal seeds draw equal inputs. */
  readonly seed?: number;
  /** Suites and requirements to check, and requirements to leave out; all are checked by default. */
  readonly suite?: readonly string[];
  readonly only?: readonly string[];
  readonly skip?: readonly string[];
  /** URL of the state hook, which changes the server's state on request. */
  readonly stateUrl?: string | URL;
  /** Timeout of each request, in ms; 5000 by default. */
  readonly timeoutMs?: number;
  /** Maximum duration of the run, in ms; five minutes by default. */
  readonly maxDurationMs?: number;
  /** Maximum number of requests of the run; unlimited by default. */
  readonly maxRequests?: number;
  /** Maximum number of requests per second; unlimited by default. */
  readonly rate?: number;
  /** Maximum number of simultaneous requests to an endpoint; 16 by default. */
  readonly concurrency?: number;
  /** Sent with every request. No output contains values that look secret, such as tokens and cookies. */
  readonly headers?: Readonly<Record<string, string>>;
  /** PEM certificates to trust, and whether to accept any certificate. */
  readonly tls?: { readonly ca?: string; readonly insecure?: boolean };
  /** Exit with 1 also if a recommended requirement failed. */
  readonly strict?: boolean;
  /** Exit with 0 also if a required requirement could not be judged, unless none was verified. */
  readonly allowIncomplete?: boolean;
  /** Told now and then how far the run is. */
  readonly onProgress?: (progress: Progress) => void;
  /** Ends the run; the record covers the run so far. */
  readonly signal?: AbortSignal;
}
