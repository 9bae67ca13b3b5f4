const MAX_LENGTH = 400;

/** `1,000,000` */
export const number = (count: number) => count.toLocaleString('en-US');

/** `16,777,217.01`: every digit, and at least two decimals. */
export const amount = (usd: number) =>
  usd.toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 20 });

/** Formats Unix ms as `2026-11-21 05:38:10`; returns the number if it is out of range. */
export function dateAndTime(at: number): string {
  const date = new Date(at);
  return Number.isNaN(date.getTime()) ? `${at}` : date.toISOString().slice(0, -5).replace('T', ' ');
}

/** `05:38:10.123` */
export const timeOfDay = (at: number) => new Date(at).toISOString().slice(11, -1);

/** `5 s`, `2 min 5 s`, `1 h 1 min` or `3 d 2 h` for ms, rounded up to a second. */
export function duration(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1000));
  const counts = [seconds / 86_400, (seconds / 3600) % 24, (seconds / 60) % 60, seconds % 60].map(Math.floor);
  const first = counts.findIndex((count) => count > 0);
  const parts = counts.map((count, at) => (count > 0 ? `${count} ${['d', 'h', 'min', 's'][at]}` : ''));
  const shown = parts.slice(first, first + 2).filter((part) => part !== '');
  return shown.join(' ') || '0 s';
}

/** `1 key`, `2 keys` */
export const plural = (count: number, word: string) => `${number(count)} ${word}${count === 1 ? '' : 's'}`;

/** Truncates a client's text after 400 characters and escapes invisible characters. */
export function escapeText(text: string): string {
  const rest = text.length - MAX_LENGTH;
  const cut = rest > 0 ? `${text.slice(0, MAX_LENGTH)}… (${number(rest)} more)` : text;
  return cut.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (hidden) => `\\u{${hidden.codePointAt(0)?.toString(16)}}`);
}

/** Uses double quotes if possible, because cmd.exe knows no others. */
const quoted = (text: string) =>
  /^[\w .:/?=&~@,+#()[\]<>|;-]*$/.test(text) ? `"${text}"` : `'${text.replaceAll("'", `'\\''`)}'`;

/**
 * Returns a curl command for a POSIX shell, and for cmd.exe if the key is public. Quotes everything, because
 * clients choose world names and paths.
 *
 * @param key undefined for a secret key, which the shell reads from IB_API_KEY; null for none
 */
export function curl(url: string, key: string | null | undefined, world: string): string {
  if (key === null) return `curl -i ${quoted(url)}`;
  const suffix = world === '' ? '' : `~${world}`;
  const secret = `"Authorization: Bearer $IB_API_KEY"${suffix === '' ? '' : quoted(suffix)}`;
  return `curl -i -H ${key === undefined ? secret : quoted(`Authorization: Bearer ${key}${suffix}`)} ${quoted(url)}`;
}
