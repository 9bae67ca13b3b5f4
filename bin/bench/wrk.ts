/** What a load came to. */
export interface Load {
  readonly requestsPerSecond: number;
  /** The latency that one in a hundred answers exceeds, in ms. */
  readonly p99Ms: number;
}

const milliseconds: Readonly<Record<string, number>> = { us: 0.001, ms: 1, s: 1000, m: 60_000 };

/**
 * Reads what `wrk --latency` prints.
 *
 * @throws Error where it is something else, or an answer was an error: those are cheaper than the right ones
 */
export function readWrk(output: string): Load {
  const [, rate] = /^Requests\/sec:\s+([\d.]+)$/m.exec(output) ?? [];
  const [, latency, unit] = /^\s+99%\s+([\d.]+)(us|ms|s|m)$/m.exec(output) ?? [];
  if (rate === undefined || latency === undefined || /Non-2xx|Socket errors/.test(output))
    throw new Error(`wrk: no figures, or not of right answers:\n${output}`);
  return { requestsPerSecond: Number(rate), p99Ms: Number(latency) * milliseconds[unit!]! };
}
