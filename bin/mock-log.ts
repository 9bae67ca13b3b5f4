import type { JournalEntry } from '../mock/journal.ts';
import type { Example } from '../mock/examples.ts';

/** @param at in Unix ms */
export const jsonLine = (at: number, fields: object) =>
  `${JSON.stringify({ time: new Date(at).toISOString(), ...fields })}\n`;

function prettyLine({ method, target, reason, key, world }: JournalEntry): string {
  const [status, ...why] = reason.split(': ');
  const who = `${key ?? ''}${world === '' ? '' : ` ~${world}`}`;
  return `${status} ${method} ${target}  ${why.join(': ')}${who === '' ? '' : `  ${who}`}\n`;
}

/** Formats of a request in the log by value of `mock --log`. */
export const logFormats = {
  pretty: prettyLine,
  json: ({ at, requestHeaders: _, responseHeaders: __, responseBody: ___, ...entry }: JournalEntry) =>
    jsonLine(at, entry),
  silent: undefined,
} as const;

/** The shell variable with a secret key. */
const VARIABLE = '$IB_API_KEY';

/**
 * Returns a curl command for each state of the fixture.
 *
 * @param origin scheme, host and port
 */
export function curlLines(values: readonly Example[], origin: string): string {
  const [first] = values;
  if (first === undefined)
    return 'The fixture has no active key of a partner: every request is answered 401.\n';
  const column = Math.max(...values.map(({ shows }) => shows.length));
  const lines = values.map(({ shows, target, key = VARIABLE, keyName, world }) => {
    const isOther = key === VARIABLE && keyName !== undefined && keyName !== first.keyName;
    const sent = world === undefined ? key : `${key}~${world}`;
    const header = keyName === undefined ? '' : `-H "Authorization: Bearer ${sent}" `;
    return `  ${shows.padEnd(column)} curl -i ${header}"${origin}${target}"${isOther ? `  # with ${keyName}` : ''}`;
  });
  return `${lines.join('\n')}\n`;
}
