import { open } from './connection.ts';

/** What became of many connections at once. */
export interface Crowd {
  readonly answered: number;
  /** Seconds until all were open. */
  readonly opening: number;
  /** Seconds from there until all were answered. */
  readonly answering: number;
}

/** Opens so many connections at once, and sends a request on each, which has to ask for the end of it. */
export async function crowdOf(port: number, count: number, request: string): Promise<Crowd> {
  const begun = performance.now();
  const opened = await Promise.all(Array.from({ length: count }, () => open(port)));
  const between = performance.now();
  const answers = await Promise.all(
    opened.map(
      (socket) =>
        new Promise<string>((resolve) => {
          let bytes = '';
          if (socket === undefined) return resolve(bytes);
          socket.on('data', (chunk) => (bytes += String(chunk))).once('close', () => resolve(bytes));
          socket.write(request, 'latin1');
        }),
    ),
  );
  return {
    answered: answers.filter((bytes) => bytes.startsWith('HTTP/1.1 ')).length,
    opening: (between - begun) / 1000,
    answering: (performance.now() - between) / 1000,
  };
}
