import { printable } from '../reports/text.ts';
import { wrongUsage } from '../schemas/problem.ts';

/** Parses a base URL: http or https, without query, fragment and credentials. */
export function parseUrl(text: string): URL {
  const shown = printable(withoutCredentials(text), MAX_SHOWN);
  if (shown.trim() === '')
    throw wrongUsage('the URL is empty; write it like https://api.example.com/gateway');
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    const [, port = ''] = /:(\d+)(?:[/?#]|$)/.exec(shown) ?? [];
    if (Number(port) > 65_535) throw wrongUsage(`${shown}: there is no port ${port}; the highest is 65535`);
    throw wrongUsage(`${shown}: is not a URL; write it like https://api.example.com/gateway`);
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw wrongUsage(`${shown}: a URL begins with http:// or https://; write it like http://localhost:8080`);
  if (url.username !== '' || url.password !== '')
    throw wrongUsage(
      'the URL has a user name or password: put keys in the fixture and other headers in --header',
    );
  if (url.port === '0')
    throw wrongUsage(`${shown}: no server can listen on port 0; give the port of the target`);
  // An empty query or fragment is only in `href`.
  if (/[?#]/.test(url.href)) throw wrongUsage(`${shown}: a base URL must not have a query or a fragment`);
  return url;
}

/** Parses the `{base_url}` of a target, also if a path of the interface is appended to it. */
export function parseTarget(text: string): URL {
  const url = parseUrl(text);
  url.pathname = url.pathname.replace(/\/api\/ib(?:\/(?:user-status|deposit-check))?\/?$/, '/');
  return url;
}

const MAX_SHOWN = 200;

/** Removes user name, password and query from a URL, also from an invalid one. */
const withoutCredentials = (text: string) =>
  text.replace(/^([^/?#]*\/\/)?.*@/s, '$1…@').replace(/[?#].*$/s, (rest) => `${rest[0]}…`);

/** Parses `name: value` texts; returns names in lower case. */
export function parseHeaders(texts: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    texts.map((text) => {
      const [, name, value] = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):\s*([\t\x20-\x7e]*)$/.exec(text) ?? [];
      // The value may be a secret, so the message does not show it.
      if (name === undefined || value === undefined)
        throw wrongUsage(
          `--header needs 'name: value' in ASCII${text.includes(':') ? '' : '; the colon is missing'}`,
        );
      if (name.toLowerCase() === 'authorization')
        throw wrongUsage('--header: Authorization is not allowed; put keys in the fixture');
      return [name.toLowerCase(), value];
    }),
  );
}
