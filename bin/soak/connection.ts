import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** A request for a connection: its bytes, and whether its answer has a body. */
export interface Sent {
  readonly bytes: string;
  readonly isHead: boolean;
}

export interface Heard {
  readonly status: number;
  readonly body: string;
}

/** How long (ms) a client waits for an answer before it gives up. */
const PATIENCE = 10_000;

/**
 * Sends requests over one connection after the other, so many at once, and hears the answers in their
 * order. `lost` stands for each that was under way when its connection ended, or that took too long.
 */
export async function exchange(
  port: number,
  requests: readonly Sent[],
  depth: number,
  patience = PATIENCE,
): Promise<readonly (Heard | 'lost')[]> {
  const heard: (Heard | 'lost')[] = [];
  while (heard.length < requests.length) {
    const socket = await open(port);
    if (socket === undefined) throw new Error('the mock takes no connection any more');
    await overOne(socket, requests, heard, depth, patience);
  }
  return heard;
}

/** A connection, or undefined where there is none to be had. */
export async function open(port: number): Promise<Socket | undefined> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  try {
    await once(socket, 'connect');
  } catch {
    return undefined;
  }
  return socket.on('error', () => socket.destroy()).setEncoding('latin1');
}

/** Goes on behind what was heard, as far as the connection lasts. */
function overOne(
  socket: Socket,
  requests: readonly Sent[],
  heard: (Heard | 'lost')[],
  depth: number,
  patience: number,
): Promise<void> {
  return new Promise((resolve) => {
    let bytes = '';
    let sent = heard.length;
    const next = () => {
      const until = Math.min(requests.length, heard.length + depth);
      // As many as there were, in one go.
      if (sent > heard.length || sent === until) return;
      socket.write(
        requests
          .slice(sent, until)
          .map((request) => request.bytes)
          .join(''),
        'latin1',
      );
      sent = until;
    };
    socket.setTimeout(patience, () => socket.destroy());
    socket.on('data', (chunk) => {
      bytes += String(chunk);
      let at = 0;
      while (heard.length < sent) {
        const answer = readHead(bytes, at, requests[heard.length]!.isHead);
        if (answer === undefined) break;
        heard.push({ status: answer.status, body: answer.body });
        at = answer.end;
      }
      bytes = bytes.slice(at);
      if (heard.length === requests.length) socket.destroy();
      else next();
    });
    socket.once('end', () => socket.destroy());
    socket.once('close', () => {
      // Those behind the one that ended it are as lost.
      while (heard.length < sent) heard.push('lost');
      resolve();
    });
    next();
  });
}

function readHead(bytes: string, from: number, isHead: boolean) {
  const head = bytes.indexOf('\r\n\r\n', from);
  if (head < 0) return undefined;
  const fields = bytes.slice(from, head);
  const status = Number(fields.slice(9, 12));
  const length = isHead ? 0 : Number(/\r\ncontent-length: (\d+)/i.exec(fields)?.[1] ?? Number.NaN);
  const end = head + 4 + length;
  if (!fields.startsWith('HTTP/1.1 ') || Number.isNaN(end)) throw new Error(`no answer: ${fields}`);
  return end > bytes.length ? undefined : { status, body: bytes.slice(head + 4, end), end };
}
