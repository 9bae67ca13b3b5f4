import { once } from 'node:events';
import { createServer, request as ask, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** Requests as they went over the wire; the fields of most of them are the same ones. */
export interface Recorded {
  /** Fields, names and values in turn, without those of the connection. */
  readonly headers: readonly (readonly string[])[];
  readonly requests: readonly (readonly [
    method: string,
    path: string,
    headers: number,
    body: string | null,
  ])[];
}

const ofTheConnection = new Set(['host', 'connection', 'content-length', 'transfer-encoding']);

/** What is asked of a server, keys and all, by a run that is given another URL for it. */
export async function recorded(origin: string, run: (origin: string) => Promise<unknown>): Promise<Recorded> {
  const known = new Map<string, number>();
  const requests: Recorded['requests'][number][] = [];
  const proxy = createServer((incoming, outgoing) => {
    void (async () => {
      const headers = endToEnd(incoming);
      const [fields, body] = [JSON.stringify(headers), await text(incoming)];
      if (!known.has(fields)) known.set(fields, known.size);
      const [method, path] = [incoming.method!, incoming.url!];
      requests.push([method, path, known.get(fields)!, body === '' ? null : body]);
      // Of itself node gives the body of a GET no length, and then it is read as the next request.
      const length = body === '' ? [] : ['content-length', String(Buffer.byteLength(body))];
      const onward = ask(origin, {
        method,
        path,
        headers: ['host', new URL(origin).host, ...headers, ...length],
      });
      onward.end(body);
      const [answer] = (await once(onward, 'response')) as [IncomingMessage];
      outgoing.writeHead(answer.statusCode!, answer.rawHeaders);
      answer.pipe(outgoing);
    })();
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  await run(`http://127.0.0.1:${(proxy.address() as AddressInfo).port}`);
  proxy.closeAllConnections();
  proxy.close();
  return { headers: [...known.keys()].map((fields) => JSON.parse(fields) as string[]), requests };
}

const endToEnd = ({ rawHeaders }: IncomingMessage) =>
  rawHeaders.filter((_, place) => !ofTheConnection.has(rawHeaders[place - (place % 2)]!.toLowerCase()));
