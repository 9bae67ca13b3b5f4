import type { JournalEntry } from '../mock/journal.ts';

export type LogFormat = 'pretty' | 'json' | 'silent';

/** Writes what a mock logs, or nothing. JSON is an object a line. */
interface Log {
  readonly request: ((entry: JournalEntry) => string) | undefined;
  readonly event: (time: number, message: string, more?: Readonly<Record<string, unknown>>) => string;
}

/** `2026-01-01T00:00:00.000Z` and so on; `at` in Unix ms. */
const line = (at: number, fields: object) =>
  `${JSON.stringify({ time: new Date(at).toISOString(), ...fields })}\n`;

export const logs: Readonly<Record<LogFormat, Log>> = {
  pretty: {
    request: ({ method, target, reason, key, world }) => {
      const [status, ...why] = reason.split(': ');
      const who = `${key ?? ''}${world === '' ? '' : ` ~${world}`}`;
      return `${status} ${method} ${target}  ${why.join(': ')}${who === '' ? '' : `  ${who}`}\n`;
    },
    event: (_, message) => `${message}\n`,
  },
  json: {
    request: ({ at, ...entry }) => line(at, entry),
    event: (time, message, more) => line(time, { message, ...more }),
  },
  silent: { request: undefined, event: () => '' },
};
