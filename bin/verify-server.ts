import { randomInt } from 'node:crypto';
import { checkFixture } from '../schemas/fixture.ts';
import type { Environment } from '../schemas/fixture-keys.ts';
import type { Fixture, RunRecord } from '../schemas/generated/types.ts';
import { knowledge, realClock, run, stateHookAt } from '../suites/index.ts';
import { chosen } from './chosen.ts';
import { defaults, ourHeaders } from './defaults.ts';
import { targetUrl } from './values.ts';
import { version } from './version.ts';

/** What a program says about the server that it wants verified. */
export interface VerifyOptions {
  /** `{base_url}`; may carry a path. */
  readonly url: string;
  /** What is true of the server; checked as one in a file is. */
  readonly fixture: Fixture;
  /** What `${NAME}` in a key of the fixture is read from; the environment of the process where it is missing. */
  readonly env?: Environment;
  /** Id of the partner whose key makes the calls; without one, that of the first active key. */
  readonly partner?: string;
  /** Inputs per requirement; 100 without it. */
  readonly cases?: number;
  /** A whole number; equal seeds draw equal inputs. */
  readonly seed?: number;
  /** Suites, requirements to check, and requirements to leave out; all of them without these. */
  readonly suite?: readonly string[];
  readonly only?: readonly string[];
  readonly skip?: readonly string[];
  /** URL that changes the server's state on request. */
  readonly stateUrl?: string;
  /** Bound on each request, in ms; 5000 without it. */
  readonly timeoutMs?: number;
  /** Bound on the run, in ms; five minutes without it. */
  readonly maxDurationMs?: number;
  /** Ends the run; what was found so far is in the record. */
  readonly signal?: AbortSignal;
}

/**
 * Verifies a server.
 *
 * @returns the run record: verdict, counts, and each requirement with its outcome and evidence
 * @throws Problem for options that name what there is not, for a fixture that is wrong, and for a server
 *   that cannot be reached
 */
export async function verifyServer(options: VerifyOptions): Promise<RunRecord> {
  const { requirements, skip, selection } = chosen(options);
  const fixture = checkFixture(options.fixture, 'fixture', options.env ?? process.env);
  const timeoutMs = options.timeoutMs ?? defaults.timeoutMs;
  return run({
    target: targetUrl(options.url),
    known: knowledge(fixture, options.partner),
    requirements,
    skip,
    selection,
    seed: options.seed ?? randomInt(2 ** 31),
    cases: options.cases ?? defaults.cases,
    concurrency: defaults.concurrency,
    timeoutMs,
    maxDurationMs: options.maxDurationMs ?? defaults.maxDurationMs,
    maxRequests: Number.POSITIVE_INFINITY,
    headers: ourHeaders,
    tls: { insecure: false },
    ...(options.stateUrl === undefined
      ? {}
      : { stateHook: stateHookAt(targetUrl(options.stateUrl), timeoutMs) }),
    clock: realClock,
    random: Math.random,
    signal: options.signal ?? new AbortController().signal,
    version,
  });
}
