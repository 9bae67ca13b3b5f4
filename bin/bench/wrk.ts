import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Bench } from './part.ts';
import type { Running } from './running.ts';

/** What a load came to. */
export interface Load {
  readonly requests: number;
  readonly requestsPerSecond: number;
  /** The latency that one in a hundred answers exceeds, in ms. */
  readonly p99Ms: number;
}

/** More of them make no server faster here. */
const CONNECTIONS = 32;

/** Asks for the lines of a file in turn. */
const script = fileURLToPath(new URL('in-turn.lua', import.meta.url));

/**
 * Loads a server by wrk (https://github.com/wg/wrk, Debian's package `wrk`).
 *
 * @param seconds how long
 * @param targets a file of paths and queries, one a line; where there is none, the request that the server was started with
 * @throws Error where an answer was not in the two hundreds
 */
export async function load(
  { signal }: Bench,
  { origin, request, key }: Running,
  seconds: number,
  targets?: string,
): Promise<Load> {
  const argv = [
    '--threads=1',
    `--connections=${CONNECTIONS}`,
    `--duration=${seconds}s`,
    '--latency',
    // An answer that comes late is late, and no error.
    '--timeout=60s',
    `--header=Authorization: Bearer ${key}`,
    ...(targets === undefined ? [] : [`--script=${script}`]),
    `${origin}${request}`,
    ...(targets === undefined ? [] : [targets]),
  ];
  const { stdout } = await run('wrk', argv, { signal });
  return readWrk(stdout);
}

const run = promisify(execFile);

const milliseconds: Readonly<Record<string, number>> = { us: 0.001, ms: 1, s: 1000, m: 60_000 };

/**
 * Reads what `wrk --latency` prints.
 *
 * @throws Error where it is something else, or an answer was an error: those are cheaper than the right ones
 */
export function readWrk(output: string): Load {
  const [, rate] = /^Requests\/sec:\s+([\d.]+)$/m.exec(output) ?? [];
  const [, latency, unit] = /^\s+99%\s+([\d.]+)(us|ms|s|m) *$/m.exec(output) ?? [];
  const [, requests] = /^\s+(\d+) requests in /m.exec(output) ?? [];
  if (
    rate === undefined ||
    latency === undefined ||
    requests === undefined ||
    /Non-2xx|Socket errors/.test(output)
  )
    throw new Error(`wrk: no figures, or not of right answers:\n${output}`);
  return {
    requests: Number(requests),
    requestsPerSecond: Number(rate),
    p99Ms: Number(latency) * milliseconds[unit!]!,
  };
}
