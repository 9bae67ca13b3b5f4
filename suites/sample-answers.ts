import { readBody, type Answer } from './answer.ts';

/** An answer as the engine reads it off the wire; a body that is no text stands for its JSON. */
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
