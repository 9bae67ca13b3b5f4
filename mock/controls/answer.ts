import type { HttpResponse } from '../exchange.ts';

/** Creates an answer of the admin API; without a type, it has no body. */
export function answerOf(status: number, type = '', body = '', headers: HttpResponse['headers'] = {}) {
  const content = type !== '' && { 'Content-Type': type, 'Content-Length': `${Buffer.byteLength(body)}` };
  const common = { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' };
  return { status, headers: { ...common, ...content, ...headers }, body } satisfies HttpResponse;
}
