import { on, type Change } from '../../mock/deviate.ts';
import type { Exchange, HttpResponse } from '../../mock/exchange.ts';
import type { World } from '../../mock/world.ts';

/** What happens to the next answer: another one takes its place, or the usual one is delayed, reset or truncated. */
export interface NextAnswer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** A time such as `2s`. */
  readonly delay?: string;
  readonly reset?: true;
  readonly truncate?: true;
}

function edited({ status, headers, body, delay, reset, truncate }: NextAnswer): Partial<HttpResponse> {
  if (reset) return { transportFault: 'reset' };
  if (truncate) return { transportFault: 'truncate' };
  if (delay === '10m') return { transportFault: 'timeout' };
  if (delay !== undefined) return { delayMs: Number.parseInt(delay, 10) * 1000 };
  return { status: status!, body: body ?? '{"error":"Service Unavailable"}', ...(headers && { headers }) };
}

/** Changes the first answer of each endpoint in each world. */
export function firstOfEach(next: NextAnswer): Change {
  const seen = new WeakMap<World, Set<string>>();
  const where = ({ world, call }: Exchange) => {
    const endpoints = seen.get(world) ?? new Set();
    seen.set(world, endpoints);
    if (call === undefined || endpoints.has(call.endpoint)) return false;
    endpoints.add(call.endpoint);
    return true;
  };
  return on(where, () => edited(next));
}
