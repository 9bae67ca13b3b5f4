import type { Example } from './answers.ts';

/**
 * The command line that sends an example, for a shell of the Bourne family. World names and paths come
 * from elsewhere: nothing in them means anything to the shell.
 *
 * @param base the service, without a trailing slash; the targets have its path
 */
export function curlOf({ target, key }: Example, base: string, world: string): string {
  const suffix = world === '' ? '' : `~${world}`;
  const field =
    key === undefined
      ? `"Authorization: Bearer $IB_API_KEY"${suffix === '' ? '' : quoted(suffix)}`
      : quoted(`Authorization: Bearer ${key}${suffix}`);
  return `curl -i -H ${field} ${quoted(base + target)}`;
}

/** A text as one word of a shell, whatever is in it. */
const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

/**
 * Where the service is, seen from this page.
 *
 * @param port that of the service, where the page has another
 */
export function serviceAt(page: Pick<URL, 'protocol' | 'hostname' | 'host'>, port?: number): string {
  return `${page.protocol}//${port === undefined ? page.host : `${page.hostname}:${port}`}`;
}
