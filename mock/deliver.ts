import type { ServerResponse } from 'node:http';
import type { Answer, HttpResponse } from './exchange.ts';

/** Most bytes that wait for a reader of a stream; one that is slower is let go. */
const MOST_BUFFERED = 1_048_576;

/** Answers of a listener that do not end by themselves. */
export interface Underway {
  /** Streams, and answers that are held back for good. */
  readonly endless: WeakSet<ServerResponse>;
  /** Sends a delayed answer at once. */
  readonly delayed: Set<() => void>;
}

export const nothingUnderway = (): Underway => ({ endless: new WeakSet(), delayed: new Set() });

/** Sends an answer, in the way that it says. `reset` resets the connection below a response. */
export function deliver(
  response: ServerResponse,
  answer: Answer,
  { endless, delayed }: Underway,
  reset: (response: ServerResponse) => void,
): void {
  // Whoever asked is gone already, and says so no more.
  if (response.destroyed) return;
  if ('follow' in answer) {
    endless.add(response);
    letGoAtEnd(response);
    response.writeHead(answer.status, answer.headers).flushHeaders();
    const stop = answer.follow((text) => {
      if (response.writableLength > MOST_BUFFERED) response.destroy();
      else response.write(text);
    });
    response.once('close', stop);
    return;
  }
  const send = () => {
    if (answer.transportFault === 'timeout') {
      endless.add(response);
      letGoAtEnd(response);
    } else if (answer.transportFault === 'reset') reset(response);
    else write(response, answer);
  };
  const { delayMs = 0 } = answer;
  if (delayMs === 0) return send();
  const forget = () => {
    clearTimeout(timer);
    delayed.delete(now);
    response.off('close', forget);
  };
  const now = () => {
    forget();
    send();
  };
  // The connection keeps the process alive, nothing else should.
  const timer = setTimeout(now, delayMs).unref();
  delayed.add(now);
  response.once('close', forget);
  letGoAtEnd(response);
}

/** Who ends their side of the connection waits no longer for an answer that is held back. */
function letGoAtEnd(response: ServerResponse): void {
  const { socket } = response.req;
  const leave = () => void response.destroy();
  if (socket.readableEnded) return leave();
  socket.once('end', leave);
  response.once('close', () => socket.off('end', leave));
}

function write(
  response: ServerResponse,
  { status, headers, body, dropped, transportFault }: HttpResponse,
): void {
  if (dropped === true) return void response.destroy();
  if ('Date' in headers) response.sendDate = false;
  response.writeHead(status, headers);
  if (transportFault !== 'truncate' || body.length === 0) return void response.end(body);
  const whole = Buffer.from(body);
  // Only behind the half is the connection cut, or it would not arrive.
  response.write(whole.subarray(0, whole.length / 2), () => response.destroy());
}
