import type { Fixture, FixtureUser } from '../../schemas/generated/types.ts';
import { readBody, type Answer } from '../answer.ts';
import { knownFrom } from '../known.ts';
import { createLimiter, type LimiterOptions } from '../limits/limiter.ts';
import type { Scenario } from '../rules/requirement.ts';
import type { Context } from '../rules/scenario-context.ts';

/** An answer as the engine reads it. An object as body is sent as JSON. */
export function answerOf(
  status: number,
  body: string | Uint8Array | object,
  headers: Readonly<Record<string, string>> = {},
): Answer {
  const bytes =
    body instanceof Uint8Array
      ? body
      : new TextEncoder().encode(typeof body === 'string' ? body : JSON.stringify(body));
  return {
    kind: 'answer',
    status,
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]])),
    ...readBody(bytes),
    sentAt: 0,
    receivedAt: 0,
    tookMs: 0,
  };
}

const user = (user_id: string, partner: string | null, date_joined: string): FixtureUser => ({
  user_id,
  partner,
  date_joined,
});
const one = '1a000000-0000-4000-8000-00000000000a';
const two = '1b000000-0000-4000-8000-00000000000b';
const theirs = '2c000000-0000-4000-8000-00000000000c';
const nobodys = '3d000000-0000-4000-8000-00000000000d';

const deposit = <More>(start: string, end: number, user_id: string, more: More) => ({
  reference_id: `${start}000000-0000-4000-8000-0000000000a${end}`,
  user_id,
  ...more,
});
const pending = { state: 'pending' } as const;
const becoming = { state: 'EXECUTED', amountInUsd: 10 } as const;

/** Two partners, a key in every state, a user and a deposit of every kind. */
export const sampleFixture: Fixture = {
  partners: [{ id: 'northwind' }, { id: 'contoso' }, { id: 'fabrikam' }],
  apiKeys: [
    { key: 'pk_old_R7q2ZmK9', partner: 'northwind', state: 'revoked' },
    { key: 'uk_jane_H3v8LpX1', partner: null, state: 'active' },
    { key: 'pk_live_aB3dE6gH9', partner: 'northwind', state: 'active' },
    { key: 'pk_cont_Yt5Wn0Qs', partner: 'contoso', state: 'active' },
    { key: 'pk_spare_zX8cV1bN', partner: 'northwind', state: 'active' },
    { key: 'pk_gone_Mn4Jk7Lo', partner: 'northwind', state: 'expired' },
  ],
  users: [
    user(one.toUpperCase(), 'northwind', '2024-02-29T23:59:59.999Z'),
    user(two, 'northwind', '2023-01-02T03:04:05Z'),
    user(theirs, 'contoso', '2022-11-05T00:00:00.5Z'),
    user(nobodys, null, '2021-06-30T06:30:00Z'),
  ],
  deposits: [
    deposit('4a', 1, one, { state: 'EXECUTED', amountInUsd: 250.5, executedAt: 1705314600000 } as const),
    deposit('4b', 2, two, pending),
    deposit('4c', 3, two, { state: 'failed' } as const),
    deposit('4d', 4, two, { ...pending, becomes: { ...becoming, afterPolls: 3 } }),
    deposit('5a', 5, theirs, { state: 'EXECUTED', amountInUsd: 1, executedAt: 1706745600000 } as const),
    deposit('5b', 6, nobodys, pending),
    deposit('5c', 7, theirs, { ...pending, becomes: { ...becoming, afterSeconds: 3 } }),
  ],
  limits: { 'user-status': { failedLookups: 60, windowSeconds: 3 } },
};

/** The sample fixture as seen by northwind. */
export const sampleKnown = knownFrom(sampleFixture);

/** Runs a scenario in a partial context. */
export function resultIn({ run }: Scenario, some: Partial<Context>, known = sampleKnown) {
  const context = { once: ({ make }, of) => make(context, of), ...some } as Context;
  return run(context, known);
}

/** What it finds. */
export const runScenario = async (...run: Parameters<typeof resultIn>) => (await resultIn(...run)).finding;

/** A limiter without a stated limit, that nothing ends. */
export const limiterOn = (clock: LimiterOptions['clock'], more: Partial<LimiterOptions> = {}) =>
  createLimiter({
    clock,
    signal: new AbortController().signal,
    budget: { ended: () => undefined },
    stated: {},
    deadline: Infinity,
    lookupsEndAt: Infinity,
    reserved: { 'user-status': 0, 'deposit-check': 0 },
    ...more,
  });

/** For a sender whose answers nobody judges. */
export const unjudged = {
  redact: (text: string) => text,
  verdictsOn: () => [],
  judge: () => undefined,
  leaveOpen: () => undefined,
  onLost: () => undefined,
};
