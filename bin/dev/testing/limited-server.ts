import { createServer, request, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { reference } from '../../../mock/server/handler.ts';
import type { Fixture, FixtureLimits, RunRecord } from '../../../schemas/generated/types.ts';
import { decodeBody } from '../../../suites/index.ts';
import { delayed, verifyMock, type MockRunOptions } from './verify-mock.ts';
import { askedBy, limiterOf, type Decision } from '../../../suites/testing/limiters.ts';
import type { LimiterRow } from './limiters.ts';

/** A limiter in front of the mock, which has none: decides when a request arrives. */
type Gateway = (given: Parameters<typeof askedBy>[1], now: number) => Decision;

export function gatewayOf(fixture: Fixture, row: LimiterRow, limits: FixtureLimits): Gateway {
  const decide = limiterOf(row, limits);
  return (given, now) => {
    const asked = askedBy(fixture, given);
    return asked === undefined ? { delayMs: 0 } : decide(asked, now);
  };
}

/** What a run verifies: a limiter with these limits, stated or not, with so many ms of latency. */
export interface Case {
  readonly row: LimiterRow;
  readonly limits: FixtureLimits;
  readonly isStated: boolean;
  /** What is stated, if it is not the truth. */
  readonly stated?: FixtureLimits | undefined;
  readonly latencyMs: number;
}

/** Verifies a limiter on a virtual clock. */
export function verifiedAt(
  { row, limits, isStated, stated = limits, latencyMs }: Case,
  { limits: _, ...unlimited }: Fixture,
  options: Pick<
    MockRunOptions,
    'seed' | 'cases' | 'maxDurationMs' | 'onRemark' | 'onExchange' | 'hasStateHook'
  >,
): Promise<RunRecord> {
  const gateway = gatewayOf(unlimited, row, limits);
  const run: MockRunOptions = {
    hasStateHook: false,
    ...options,
    fixture: isStated ? { ...unlimited, limits: stated } : unlimited,
    network: delayed(latencyMs / 2, latencyMs / 2, async (wire, client, clock) => {
      const { method, target: url, headers } = wire;
      const field = Object.keys(headers).find((name) => name.toLowerCase() === 'authorization');
      const asked = { method, url, ...(field !== undefined && { authorization: headers[field]! }) };
      const decision = gateway(asked, clock.now());
      if (!('delayMs' in decision)) return answerOf(decision);
      await clock.sleep(decision.delayMs);
      return client.send(wire);
    }),
  };
  return verifyMock(reference, run, unlimited);
}

const answerOf = ({ status, headers, body }: Exclude<Decision, { delayMs: number }>) => ({
  kind: 'answer' as const,
  status,
  headers: Object.fromEntries(
    Object.entries({ 'content-type': 'application/json', ...headers }).map(([name, value]) => [
      name,
      [value],
    ]),
  ),
  ...decodeBody(Buffer.from(body), undefined),
  sentAt: 0,
  receivedAt: 0,
  tookMs: 0,
});

/** A server with a limiter in front of another one, over sockets. */
export function limitedServer(gateway: Gateway, latencyMs: number, behind: number): Server {
  return createServer((incoming, outgoing) => {
    const { method = '', url = '', headers } = incoming;
    const { authorization } = headers;
    const decision = gateway(
      { method, url, ...(authorization !== undefined && { authorization }) },
      performance.now(),
    );
    setTimeout(
      () => {
        if ('delayMs' in decision) return forward(incoming, outgoing, behind);
        outgoing.writeHead(decision.status, { 'content-type': 'application/json', ...decision.headers });
        outgoing.end(method === 'HEAD' ? undefined : decision.body);
      },
      latencyMs + ('delayMs' in decision ? decision.delayMs : 0),
    );
  });
}

function forward(incoming: IncomingMessage, outgoing: ServerResponse, port: number): void {
  const { method, url, headers } = incoming;
  const on = request({ port, host: '127.0.0.1', method, path: url, headers }, (answer) => {
    outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(outgoing);
  });
  on.on('error', () => outgoing.destroy());
  incoming.pipe(on);
}
