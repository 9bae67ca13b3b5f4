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
  readonly atMs?: number;
}

/** `key: null` sends no Authorization header. */
export function probe(target: string, details: Details = {}): Probe {
  const { key = 'northwind-key', authorization = `Bearer ${key}`, method = 'GET', atMs = 0 } = details;
  const headers = { ...(key === null ? {} : { authorization }), ...details.headers };
  const body = details.body === undefined ? {} : { body: details.body };
  return { request: { method, target, headers, ...body }, atMs };
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

const member = '11111111-1111-4111-8111-111111111111';
const foreignUser = '22222222-2222-4222-8222-222222222222';
const nobody = 'abcdef01-2345-4678-9abc-def012345678';
const times = (count: number, one: Probe) => Array.from({ length: count }, () => one);

/** Requests about everything that variants answer in another way. */
export const openProbes: readonly Probe[] = [
  user(member),
  user('1e500000-0000-4000-8000-000000000001'),
  deposit('44444444-4444-4444-8444-444444444444'),
  probe(USER + member, { method: 'HEAD' }),
  probe(USER + member, { method: 'POST' }),
  probe(USER + member, { method: 'OPTIONS' }),
  probe('/api/ib/user-status/'),
  probe(`/API/IB/user-status?user_id=${member}`),
  probe('/', { key: null }),
  probe(`${USER}${member}&user_id=${foreignUser}`),
  probe(`${USER}${member}&page=1`),
  probe(`/api/ib/user-status?USER_ID=${member}`),
  deposit('00000000-0000-0000-0000-000000000000'),
  user(member, { authorization: 'bearer northwind-key' }),
  user('x', { key: null }),
  ...times(61, user('x')),
  user(nobody),
  user('x'),
  user(nobody, { key: 'northwind-spare-key' }),
  user(nobody, { key: 'contoso-key' }),
  ...times(61, user(nobody, { key: 'contoso-key', atMs: 1000 })),
  ...times(2, user(nobody, { key: 'contoso-key', atMs: 3500 })),
  ...times(61, user(nobody, { key: 'nope', atMs: 10_000 })),
  ...times(60, user(nobody, { atMs: 20_000 })),
  { revoke: 'northwind-key', atMs: 20_000 },
  user(nobody, { atMs: 20_000 }),
  user(member, { headers: { 'accept-encoding': 'br, gzip' } }),
];
