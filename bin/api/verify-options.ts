import type { Environment } from '../../schemas/fixture.ts';
import type { Progress } from '../../schemas/progress.ts';
import type { Fixture } from '../../schemas/generated/types.ts';

/** The server to verify, and the options of the run. */
export interface VerifyOptions {
  /** `{base_url}`; may contain a path. */
  readonly url: string | URL;
  /** The data of the server; validated like a fixture file. */
  readonly fixture: Fixture;
  /** Variables for `${NAME}` in keys of the fixture, and of proxies; `process.env` by default. */
  readonly env?: Environment;
  /** Id of the partner whose keys are used; that of the first active key by default. */
  readonly partner?: string;
  /** Maximum number of cases per endpoint; 1800 by default. */
  readonly cases?: number;
  /** Seed of all random values, a 32-bit integer. The same seed gives the same inputs. */
  readonly seed?: number;
  /** Suites, requirements or beginnings of ids to check, and those to skip; by default all are checked. */
  readonly only?: readonly string[];
  readonly skip?: readonly string[];
  /** URL of the state hook, which changes the server's state on request. */
  readonly stateUrl?: string | URL;
  /** Time after a change by the state hook until all answers must show it, in ms; 5000 by default. */
  readonly graceMs?: number;
  /** Timeout of each request, in ms; 5000 by default. */
  readonly timeoutMs?: number;
  /** How long to wait for a server that does not answer yet, in ms; not at all by default. */
  readonly waitMs?: number;
  /** Maximum duration of the run, in ms; five minutes by default. */
  readonly maxDurationMs?: number;
  /** Maximum number of requests of the run; unlimited by default. */
  readonly maxRequests?: number;
  /** Maximum number of requests per second; unlimited by default. */
  readonly rate?: number;
  /** Maximum number of simultaneous requests to an endpoint; 16 by default. */
  readonly concurrency?: number;
  /** Header fields of every request. Values that look secret, such as tokens, are in no output. */
  readonly headers?: Readonly<Record<string, string>>;
  /** In PEM: certificates to trust, a client certificate and its key. And whether to accept any certificate. */
  readonly tls?: {
    readonly ca?: string;
    readonly cert?: string;
    readonly certKey?: string;
    readonly insecure?: boolean;
  };
  /** Exit with 1 also if a recommended requirement failed, and with 3 if a level was not tried. */
  readonly strict?: boolean;
  /** Exit with 0 also if only data, levels or time were missing, unless no required requirement was verified. */
  readonly allowIncomplete?: boolean;
  /** Called repeatedly with the progress of the run. */
  readonly onProgress?: (progress: Progress) => void;
  /** Ends the run; the record covers the run so far. */
  readonly signal?: AbortSignal;
}
