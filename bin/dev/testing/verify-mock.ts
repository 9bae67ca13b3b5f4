import { createService, type Behaviour, type Service } from '../../../mock/server/handler.ts';
import type { HttpResponse } from '../../../mock/server/exchange.ts';
import { applyState } from '../../../mock/control/entities.ts';
import { createWorld, type World } from '../../../mock/server/world.ts';
import type { Fixture, RunRecord, StateChange } from '../../../schemas/generated/types.ts';
import { oncePer } from '../../../schemas/values.ts';
import { catalogue, decodeBody, drawnOnce, run, virtualClock } from '../../../suites/index.ts';
import type { Client, Requirement, RunOptions } from '../../../suites/index.ts';
import { runOptions } from '../../run-options.ts';

/** Returns limits with these windows, by default the same for both endpoints. */
export const limitsOf = (failedLookups: number, requests: number, seconds: number, others = seconds) => ({
  'user-status': { failedLookups, windowSeconds: seconds },
  'deposit-check': { requests, windowSeconds: others },
});

/** Low limits: rate-limit requirements take most of the time. */
export const limits = limitsOf(12, 12, 3);

/** Enough lookups for all pairs of conditions and every example of a malformed id. */
export const ENOUGH_CASES = 800;

/** Ids of the required and recommended requirements that failed. */
export const failedIds = ({ requirements }: RunRecord): readonly string[] =>
  requirements.flatMap(({ id, level, outcome }) =>
    outcome === 'failed' && level !== 'observed' ? [id] : [],
  );

type Network = (client: Client, clock: RunOptions['clock']) => Client;

export interface MockRunOptions extends Pick<
  RunOptions,
  'isBrief' | 'isEnough' | 'onExchange' | 'onProgress' | 'onRemark' | 'onWait' | 'path'
> {
  readonly fixture: Fixture;
  readonly seed: number;
  readonly cases: number;
  readonly rate?: number;
  /** Maximum duration by the virtual clock; unlimited by default. */
  readonly maxDurationMs?: number;
  readonly maxRequests?: number;
  /** The whole catalogue by default. */
  readonly requirements?: readonly Requirement[];
  readonly hasStateHook?: boolean;
  /** Simulates a network in front of the mock; it may wait on the clock. */
  readonly network?: Network;
  /** Suites or ids to skip. */
  readonly skip?: readonly string[];
}

type Send = (
  request: Parameters<Client['send']>[0],
  client: Client,
  clock: RunOptions['clock'],
) => ReturnType<Client['send']>;

/** A network with so many ms of latency for each way. It may send otherwise, which may take time. */
export const delayed =
  (there: number, back: number, send: Send = (request, client) => client.send(request)): Network =>
  (client, clock) => ({
    ...client,
    send: async (request) => {
      const sentAt = clock.now();
      if (there > 0) await clock.sleep(there);
      const reply = await send(request, client, clock);
      if (back > 0) await clock.sleep(back);
      return reply.kind === 'answer' ? { ...reply, sentAt, receivedAt: clock.now() } : reply;
    },
  });

/** All runs with the same fixture and seed share their lookups. */
const drawn = oncePer((_: RunOptions['known']) => new Map<number, NonNullable<RunOptions['plan']>>());

const sharedLookups: RunOptions['plan'] = (endpoint, known, seed) => {
  const plan = drawn(known).get(seed) ?? drawnOnce();
  drawn(known).set(seed, plan);
  return plan(endpoint, known, seed);
};

/**
 * Verifies a mock in this process, without sockets and on a virtual clock.
 *
 * @param served the fixture of the mock, if it differs from that of the run
 */
export function verifyMock(
  behaviour: Behaviour,
  { requirements = catalogue, hasStateHook = true, network, ...options }: MockRunOptions,
  served: Fixture = options.fixture,
): Promise<RunRecord> {
  const clock = virtualClock(Date.UTC(2026, 0, 1));
  const world = createWorld(served, clock.now());
  const stateHook: RunOptions['stateHook'] = {
    change: async (action, state, params) => applyState(world, { state, params, action } as StateChange),
  };
  return run({
    ...options,
    ...runOptions({ maxDurationMs: Number.POSITIVE_INFINITY, ...options }),
    plan: sharedLookups,
    requirements,
    selection: { whole: true, skip: [] },
    target: new URL('http://mock.invalid'),
    headers: {},
    // Time passes while a request is in flight.
    clock: network === undefined ? clock : { ...clock, during: (work) => work },
    connect: () => {
      const client = directClient(createService(behaviour), world, clock.now);
      return network?.(client, clock) ?? client;
    },
    ...(hasStateHook && { stateHook }),
  });
}

/** Sends requests to the mock without sockets. Concurrent requests are in flight together, as over HTTP. */
function directClient({ answer }: Service, world: World, now: () => number): Client {
  let inFlight = 0;
  return {
    send: async ({ method, target: local, isAbsolute, headers: fields, body }) => {
      const target = isAbsolute === true ? `http://mock.invalid${local}` : local;
      const headers: Record<string, string> = {};
      const rawHeaders: string[] = [];
      for (const name in fields) {
        headers[name.toLowerCase()] = fields[name]!;
        rawHeaders.push(name, fields[name]!);
      }
      const sentAt = now();
      inFlight++;
      await Promise.resolve();
      const alongside = inFlight - 1;
      const request = { method, target, headers, rawHeaders, alongside, ...(body !== undefined && { body }) };
      const { response } = answer(world, request, now());
      await Promise.resolve();
      inFlight--;
      if (response.transportFault === 'reset')
        return { kind: 'trouble', code: 'network', words: 'the connection was closed before the answer' };
      const received: Record<string, readonly string[]> = {};
      for (const name in response.headers) received[name.toLowerCase()] = [response.headers[name]!];
      return {
        kind: 'answer',
        status: response.status,
        headers: received,
        ...decodeBody(bytesOf(method, response), received['content-encoding']?.[0]),
        sentAt,
        receivedAt: now(),
        tookMs: 0,
      };
    },
    close: () => Promise.resolve(),
  };
}

/** HTTP allows no body for HEAD, 204 and 304 (RFC 9112 6.3). */
function bytesOf(method: string, { status, body }: HttpResponse): Uint8Array {
  if (method === 'HEAD' || status === 204 || status === 304) return new Uint8Array();
  return Buffer.from(body);
}
