/** `16,777,217.01`, with every digit. */
export const number = (value: number) => value.toLocaleString('en-US', { maximumFractionDigits: 20 });

/** Formats Unix ms as `2026-11-21 05:38:10 UTC`; returns the number if it is out of range, where `toJSON` returns null. */
export const dateAndTime = (at: number) =>
  new Date(at).toJSON()?.replace(/T(.*)\.\d+Z$/, ' $1 UTC') ?? `${at}`;

/** Makes invisible characters visible. */
export const escapeText = (text: string) =>
  text.replace(/[^\P{C}\n]|[\p{Zl}\p{Zp}]/gu, (hidden) => `\\u{${hidden.codePointAt(0)?.toString(16)}}`);

/** Uses double quotes if possible, because cmd.exe knows no others. */
const quoted = (text: string) =>
  /^[\w .:/?=&~@,+#()[\]<>|;-]*$/.test(text) ? `"${text}"` : `'${text.replaceAll("'", `'\\''`)}'`;

/**
 * Returns a curl command for a POSIX shell, and for cmd.exe if the key is public. Clients choose world names.
 *
 * @param key missing for none; a secret one is in a variable of the shell
 */
export function curl(
  url: string,
  { key, variable }: { readonly key?: string; readonly variable?: string },
  world: string,
): string {
  const suffix = world && `~${world}`;
  const secret = variable && `"Authorization: Bearer $${variable}"${suffix && quoted(suffix)}`;
  const field = key === undefined ? secret : quoted(`Authorization: Bearer ${key}${suffix}`);
  return `curl -i ${field === undefined ? '' : `-H ${field} `}${quoted(url)}`;
}
