import type { HttpResponse } from '../mock/exchange.ts';
import type { Handler } from '../mock/handler.ts';
import type { World } from '../mock/world.ts';
import { decodeBody, type Client } from '../suites/index.ts';

/**
 * A way to the mock without sockets: where hundreds of mocks are judged, only the answers matter.
 * Requests that are under way together see each other, as they do over connections.
 */
export function directClient(handle: Handler, world: World, now: () => number): Client {
  let inFlight = 0;
  return {
    send: async ({ method, target, headers, body }) => {
      const sentAt = now();
      inFlight++;
      // Whoever sends together is under way together.
      await Promise.resolve();
      const response = handle(
        world,
        { method, target, headers, alongside: inFlight - 1, ...(body === undefined ? {} : { body }) },
        now(),
      );
      await Promise.resolve();
      inFlight--;
      if (response.dropped === true)
        return {
          kind: 'trouble',
          code: 'network',
          words: 'the connection was closed before the answer',
          unreachable: false,
        };
      const fields = Object.entries(response.headers).map(
        ([name, value]) => [name.toLowerCase(), [value]] as const,
      );
      const encoding = fields.find(([name]) => name === 'content-encoding')?.[1][0];
      return {
        kind: 'answer',
        status: response.status,
        headers: Object.fromEntries(fields),
        ...decodeBody(bytesOf(method, response), encoding),
        sentAt,
        receivedAt: now(),
        tookMs: 0,
      };
    },
    close: () => Promise.resolve(),
  };
}

/** What HTTP lets through: no body for HEAD, 204 and 304 (RFC 9112 6.3). */
function bytesOf(method: string, { status, body }: HttpResponse): Uint8Array {
  if (method === 'HEAD' || status === 204 || status === 304) return new Uint8Array();
  return typeof body === 'string' ? Buffer.from(body) : body;
}
