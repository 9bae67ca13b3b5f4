import fixture from '../../schemas/built-in.fixture.json' with { type: 'json' };
import type { Fixture } from '../../schemas/generated/types.ts';
import type { Behaviour } from '../behaviour.ts';
import type { HttpRequest, HttpResponse } from '../exchange.ts';
import { handlerOf } from '../handler.ts';
import { changeState } from '../provider-state.ts';
import { createWorld } from '../world.ts';

export const builtIn = fixture as Fixture;

/** Unix ms at which the worlds of tests are created. */
export const START = Date.UTC(2025, 0, 15, 12);

/** A request at so many ms after the creation of the world, or the revocation of a key. */
export type Probe =
  | { readonly request: HttpRequest; readonly atMs: number }
  | { readonly revoke: string; readonly atMs: number };

interface Details {
  readonly key?: string | null;
  readonly authorization?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly method?: string;
  readonly body?: string;
  readonly alongside?: number;
  readonly atMs?: number;
}

/** `key: null` sends no Authorization header. */
export function probe(target: string, details: Details = {}): Probe {
  const { key = 'northwind-key', authorization = `Bearer ${key}`, method = 'GET' } = details;
  const { alongside = 0, atMs = 0 } = details;
  const headers = { ...(key === null ? {} : { authorization }), ...details.headers };
  const body = details.body === undefined ? {} : { body: details.body };
  return { request: { method, target, headers, alongside, ...body }, atMs };
}

const USER = '/api/ib/user-status?user_id=';
const DEPOSIT = '/api/ib/deposit-check?reference_id=';
export const user = (value: string, details?: Details) => probe(USER + encodeURIComponent(value), details);
export const deposit = (value: string, details?: Details) =>
  probe(DEPOSIT + encodeURIComponent(value), details);

/** The answers to probes sent one after another in a new world. */
export function answersTo(probes: readonly Probe[], behaviour?: Behaviour): readonly HttpResponse[] {
  const world = createWorld(builtIn, START);
  const handle = handlerOf(behaviour);
  return probes.flatMap((one) => {
    if ('request' in one) return [handle(world, one.request, START + one.atMs)];
    changeState(world, { state: 'key revoked', params: { key: one.revoke } });
    return [];
  });
}
