/** A server-sent event: what it is, and its text. */
export interface StreamEvent {
  readonly kind: string;
  readonly data: string;
}

/**
 * Reads server-sent events until the stream ends. `EventSource` cannot present a token, hence this.
 *
 * @throws whatever breaks the connection
 */
export async function readEvents(
  stream: ReadableStream<Uint8Array>,
  onEvent: (event: StreamEvent) => void,
): Promise<void> {
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  let rest = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const blocks = (rest + decoder.decode(value, { stream: true })).split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const [, kind] = /^event: (.*)$/m.exec(block) ?? [];
      const [, data] = /^data: (.*)$/m.exec(block) ?? [];
      if (kind !== undefined && data !== undefined) onEvent({ kind, data });
    }
  }
}
