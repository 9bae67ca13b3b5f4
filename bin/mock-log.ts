import { setTimeout } from 'node:timers/promises';
import type { JournalLine } from '../mock/journal.ts';
import type { MagicValue } from '../mock/magic-values.ts';

interface LogFormat {
  readonly request: ((entry: JournalLine) => string) | undefined;
  readonly event: (message: string, more?: Readonly<Record<string, unknown>>) => string;
}

/** @param at in Unix ms */
const jsonLine = (at: number, fields: object) =>
  `${JSON.stringify({ time: new Date(at).toISOString(), ...fields })}\n`;

/** Log formats by value of `mock --log`. */
export const logFormats: Readonly<Record<'pretty' | 'json' | 'silent', LogFormat>> = {
  pretty: {
    request: ({ method, target, reason, key, world }) => {
      const [status, ...why] = reason.split(': ');
      const who = `${key ?? ''}${world === '' ? '' : ` ~${world}`}`;
      return `${status} ${method} ${target}  ${why.join(': ')}${who === '' ? '' : `  ${who}`}\n`;
    },
    event: (message) => `${message}\n`,
  },
  json: {
    request: ({ at, ...entry }) => jsonLine(at, entry),
    event: (message, more) => jsonLine(Date.now(), { message, ...more }),
  },
  silent: { request: undefined, event: () => '' },
};

/** Limits the memory if the log is read slowly or not at all. */
const MAX_WAITING_LINES = 10_000;

export interface LogQueue extends ReturnType<typeof logQueue> {}

/** @param print resolves after a text is written */
export function logQueue(print: (text: string) => Promise<void>, format: Pick<LogFormat, 'event'>) {
  let [waiting, dropped] = [0, 0];
  let last = Promise.resolve();
  const send = (text: string) => {
    waiting += 1;
    const written = () => void (waiting -= 1);
    // The mock keeps serving if nobody reads its log.
    last = print(text).then(written, written);
  };
  return {
    /** Writes a line, or drops it if too many are waiting. Never rejects. */
    write: (line: () => string) => {
      if (waiting >= MAX_WAITING_LINES) return void (dropped += 1);
      if (dropped > 0)
        send(format.event(`${dropped} requests are missing here: the reader of the log was too slow`));
      dropped = 0;
      send(line());
    },
    /** Resolves to true once all lines are written, or to false after `ms`. */
    flushed: async (ms: number) => {
      const stop = new AbortController();
      const timeout = setTimeout(ms, false, { signal: stop.signal }).catch(() => false);
      const isEmpty = await Promise.race([last.then(() => true), timeout]);
      stop.abort();
      return isEmpty;
    },
  };
}

/** The shell variable with a secret key. */
const VARIABLE = '$IB_API_KEY';

/**
 * Returns a curl command for each state of the fixture.
 *
 * @param origin scheme, host and port
 */
export function curlLines(values: readonly MagicValue[], origin: string): string {
  const [first] = values;
  if (first === undefined)
    return 'The fixture has no active key of a partner: every request is answered 401.\n';
  const column = Math.max(...values.map(({ shows }) => shows.length));
  const lines = values.map(({ shows, target, key = VARIABLE, keyName }) => {
    const isOther = key === VARIABLE && keyName !== undefined && keyName !== first.keyName;
    const header = keyName === undefined ? '' : `-H "Authorization: Bearer ${key}" `;
    return `  ${shows.padEnd(column)} curl -i ${header}"${origin}${target}"${isOther ? `  # with ${keyName}` : ''}`;
  });
  return `${lines.join('\n')}\n`;
}
