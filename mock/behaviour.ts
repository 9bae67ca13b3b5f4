import { finished } from './answer.ts';
import type { HttpRequest, Serve } from './exchange.ts';
import { createCallReader, createHandler, defaultRules, type Rules } from './handler.ts';
import type { World } from './world.ts';

/** A server: the rules of the handler, and what a fault or a variant puts around it. */
export interface Behaviour extends Rules {
  readonly around: (serve: Serve) => Serve;
}

/** The conforming behaviour. */
export const reference: Behaviour = { ...defaultRules, around: (serve) => serve };

/** A service with a certain behaviour. */
export interface Service extends ReturnType<typeof createService> {}

/**
 * Creates a service (Endpoints).
 *
 * @param basePath path of {base_url}, with or without a trailing slash
 */
export function createService(behaviour: Behaviour = reference, basePath = '/') {
  const serve = behaviour.around(createHandler(behaviour, basePath));
  return {
    behaviour,
    /** Answers a request in a world at `now` (Unix ms). Changes only the counters of the world. */
    answer: (world: World, request: HttpRequest, now: number) => finished(serve(world, request, now)),
    /** Returns the call of a request, without counting it; undefined: it reaches no endpoint. */
    callOf: createCallReader(basePath),
  };
}
