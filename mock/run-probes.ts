import fixture from '../schemas/built-in.fixture.json' with { type: 'json' };
import type { Fixture } from '../schemas/generated/types.ts';
import type { Behaviour } from './behaviour.ts';
import type { HttpResponse } from './exchange.ts';
import { handlerOf } from './handler.ts';
import type { Probe } from './probes.ts';
import { changeState } from './provider-state.ts';
import { createWorld } from './world.ts';

export const builtIn = fixture as Fixture;

/** Unix ms at which the worlds of tests are created. */
export const START = Date.UTC(2025, 0, 15, 12);

/** The answers to probes sent one after another in a new world. */
export function answersTo(probes: readonly Probe[], behaviour?: Behaviour): readonly HttpResponse[] {
  const world = createWorld(builtIn, START);
  const handle = handlerOf(behaviour);
  return probes.flatMap((probe) => {
    if ('request' in probe) return [handle(world, probe.request, START + probe.atMs)];
    changeState(world, { state: 'key revoked', params: { key: probe.revoke } });
    return [];
  });
}
