import fixture from '../../schemas/built-in.fixture.json' with { type: 'json' };
import { defined } from '../../schemas/values.ts';
import { endpoints } from '../../schemas/endpoints.ts';
import type { Fixture } from '../../schemas/generated/types.ts';
import { answerRequest } from '../server/answer-request.ts';
import { readJournal } from '../control/journal.ts';
import type { HttpResponse } from '../server/exchange.ts';
import type { Behaviour } from '../server/handler.ts';
import type { ClockMode, MockData } from '../control/options.ts';
import { createSession, peekSandbox } from '../control/session.ts';
import { createControls } from '../control/api.ts';

export const builtIn = fixture as Fixture;

/** Unix ms at the creation of the worlds of tests. */
export const START = Date.UTC(2025, 0, 15, 12);

export const ids = {
  member: '11111111-1111-4111-8111-111111111111',
  foreignUser: '22222222-2222-4222-8222-222222222222',
  nobody: '12345678-1234-4234-8234-123456789abc',
  executed: '44444444-4444-4444-8444-444444444444',
  pending: '55555555-5555-4555-8555-555555555555',
  failed: '66666666-6666-4666-8666-666666666666',
  afterPolls: '77777777-7777-4777-8777-777777777777',
  afterSeconds: '88888888-8888-4888-8888-888888888888',
  foreign: '99999999-9999-4999-8999-999999999999',
} as const;

/** The body of the answer to a lookup of `ids.member`. */
export const FOUND = '{"is_under_ib":true,"date_joined":"2024-02-29T23:59:59.999Z"}';

export const userPath = (id: string) => `${endpoints['user-status'].path}?user_id=${id}`;
export const depositPath = (id: string) => `${endpoints['deposit-check'].path}?reference_id=${id}`;

type TestOptions = Omit<MockData, 'clock'> & {
  readonly clock?: ClockMode;
  readonly elapsed?: () => number;
};

/** Creates a session with a clock (ms) that only the test moves, with the controls of its main world. */
export function testSession({ clock: mode, elapsed, ...options }: TestOptions = {}) {
  let base = START;
  const clock = { now: () => base, mode };
  const session = createSession({ fixture: builtIn, ...options, clock }, elapsed);
  const get = (target: string, key?: string | null) =>
    answerRequest(session, lookup(target, { key }).request).response;
  return {
    ...createControls(session),
    session,
    passTime: (ms: number) => void (base += ms),
    get,
    user: (id: string, key?: string | null) => get(userPath(id), key),
    deposit: (id: string, key?: string | null) => get(depositPath(id), key),
    entries: (world = '') => readJournal(peekSandbox(session, world).journal).kept,
  };
}

/** A request with its time, in ms after the creation of the world. */
export interface TimedRequest extends ReturnType<typeof lookup> {}

interface Details {
  readonly key?: string | null | undefined;
  readonly authorization?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly method?: string;
  readonly body?: string;
  readonly rawHeaders?: readonly string[];
  readonly alongside?: number;
  readonly atMs?: number;
}

/** Creates a request; `key: null` sends no Authorization header. */
export function lookup(target: string, details: Details = {}) {
  const { key = 'northwind-key', authorization = `Bearer ${key}`, method = 'GET' } = details;
  const { alongside = 0, atMs = 0 } = details;
  const headers = { ...(key === null ? {} : { authorization }), ...details.headers };
  const { body, rawHeaders } = details;
  return { request: { method, target, headers, alongside, ...defined({ body, rawHeaders }) }, atMs };
}

export const user = (id: string, details?: Details) => lookup(userPath(encodeURIComponent(id)), details);
export const deposit = (id: string, details?: Details) =>
  lookup(depositPath(encodeURIComponent(id)), details);

/** Sends requests in order in a new session and returns the responses. */
export function sendAll(probes: readonly TimedRequest[], behaviour?: Behaviour): readonly HttpResponse[] {
  const { session, passTime } = testSession({ behaviour });
  let passed = 0;
  return probes.map(({ request, atMs }) => {
    passTime(atMs - passed);
    passed = atMs;
    return answerRequest(session, request).response;
  });
}

/** Sends requests in order in a new session and returns the last response. */
export const lastAnswer = (...probes: readonly TimedRequest[]) => sendAll(probes).at(-1)!;
