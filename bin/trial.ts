import type { Behaviour } from '../mock/behaviour.ts';
import { handlerOf } from '../mock/handler.ts';
import { changeState } from '../mock/provider-state.ts';
import { createWorld } from '../mock/world.ts';
import type { Fixture, RunRecord } from '../schemas/generated/types.ts';
import {
  catalogue,
  knowledge,
  run,
  virtualClock,
  type Requirement,
  type RunOptions,
} from '../suites/index.ts';
import { defaults } from './defaults.ts';
import { directClient } from './direct-client.ts';
import { version } from './version.ts';

export interface TrialOptions {
  readonly fixture: Fixture;
  readonly seed: number;
  readonly cases: number;
  /** The whole catalogue without it. */
  readonly requirements?: readonly Requirement[];
  /** Sees everything that happens in the run. */
  readonly onEvent?: RunOptions['onEvent'];
}

/** Judges a mock of a certain behaviour in this process, state hook and all, in no time but its own. */
export function tryMock(behaviour: Behaviour, options: TrialOptions): Promise<RunRecord> {
  const { fixture, seed, cases, requirements = catalogue, onEvent } = options;
  const clock = virtualClock(Date.UTC(2026, 0, 1));
  const world = createWorld(fixture, clock.now());
  const handle = handlerOf(behaviour);
  return run({
    target: new URL('http://mock.invalid'),
    known: knowledge(fixture),
    requirements,
    skip: new Set(),
    selection: { whole: requirements.length === catalogue.length, skip: [] },
    seed,
    cases,
    concurrency: defaults.concurrency,
    timeoutMs: defaults.timeoutMs,
    maxDurationMs: Number.POSITIVE_INFINITY,
    maxRequests: Number.POSITIVE_INFINITY,
    headers: {},
    tls: { insecure: false },
    clock,
    connect: () => directClient(handle, world, clock.now),
    stateHook: {
      change: async (action, state, params) => {
        const problem = changeState(world, { state, params, action });
        if (problem !== undefined) throw new Error(problem);
      },
    },
    random: () => 0.5,
    signal: new AbortController().signal,
    version,
    ...(onEvent === undefined ? {} : { onEvent }),
  });
}
