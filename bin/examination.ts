import type { Checkup, Fixture } from '../schemas/generated/types.ts';
import { catalogue, examine, knowledge, realClock, stateHookAt } from '../suites/index.ts';
import { defaults } from './defaults.ts';
import { version } from './version.ts';

export interface Examination {
  readonly target: URL;
  readonly fixture: Fixture;
  /** Id of the partner whose key asks; that of the first active key without one. */
  readonly partner?: string | undefined;
  /** Bound on each request, in ms. */
  readonly timeoutMs: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly trust: { readonly insecure: boolean; readonly ca?: string };
  readonly stateUrl?: URL;
  readonly signal: AbortSignal;
  readonly notes: readonly string[];
}

/** Looks at a target over the network, with a view to a run as it is made where nobody says otherwise. */
export function examination({ partner, stateUrl, trust, ...options }: Examination): Promise<Checkup> {
  return examine({
    ...defaults,
    ...options,
    tls: trust,
    known: knowledge(options.fixture, partner),
    requirements: catalogue,
    skip: new Set(),
    seed: 1,
    maxRequests: Number.POSITIVE_INFINITY,
    ...(stateUrl === undefined ? {} : { stateHook: stateHookAt(stateUrl, options.timeoutMs) }),
    clock: realClock,
    random: Math.random,
    version,
  });
}
