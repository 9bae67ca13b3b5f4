import { createSecureContext } from 'node:tls';
import { endpointNames } from '../schemas/endpoints.ts';
import { defined } from '../schemas/values.ts';
import type { Environment } from '../schemas/fixture.ts';
import { wrongUsage } from '../schemas/problem.ts';
import type { RunOptions } from '../suites/index.ts';
import type { CliContext } from './cli-context.ts';
import { readText } from './input-files.ts';
import { printable } from '../reports/text.ts';

type Network = RunOptions['tls'];

/** The flags that say how a target is reached. */
export interface NetworkFlags {
  readonly ca: string | undefined;
  readonly cert: string | undefined;
  readonly certKey: string | undefined;
  readonly insecure: boolean;
}

/**
 * Reads the certificates that the flags name, and the proxies of the environment.
 *
 * @throws Problem with code `usage` for a file that cannot be read or has something else, and for an invalid proxy
 */
export async function networkOf(flags: NetworkFlags, context: CliContext): Promise<Network> {
  if (flags.certKey !== undefined && flags.cert === undefined)
    throw wrongUsage('--cert-key needs --cert with the certificate of this key');
  const read = async (flag: Kind, file: string | undefined) =>
    file === undefined
      ? undefined
      : pemOf(flag, file, await readText(file, context, { what: `--${flag} ${file}` }));
  const ca = await read('ca', flags.ca);
  const cert = await read('cert', flags.cert);
  const ownKey = await read('cert-key', flags.certKey);
  // The file of the certificate may have its key, too.
  const certKey = cert && (ownKey ?? pemOf('cert-key', flags.cert!, cert));
  if (cert !== undefined) rejectMismatch(cert, certKey!);
  return defined({ insecure: flags.insecure, ca, cert, certKey, proxy: proxyIn(context.env) });
}

const certificate = {
  begins: '-----BEGIN CERTIFICATE-----',
  pattern: /^-----BEGIN (?:TRUSTED |X509 )?CERTIFICATE-----/m,
  other: 'has no certificate in PEM',
};

/** What the files of the flags must have. */
const contents = {
  ca: certificate,
  cert: certificate,
  'cert-key': {
    begins: '-----BEGIN PRIVATE KEY-----',
    pattern: /^-----BEGIN (?:RSA |EC )?PRIVATE KEY-----/m,
    other: 'has no private key in PEM without a passphrase',
  },
} as const;

type Kind = keyof typeof contents;

/** Returns the text of a file if it has what its flag needs. */
function pemOf(flag: Kind, file: string, text: string): string {
  const { begins, pattern, other } = contents[flag];
  if (pattern.test(text)) return text;
  const isKey = flag !== 'cert-key' && text.includes('PRIVATE KEY-----');
  throw wrongUsage(
    `--${flag} ${file}: ${isKey ? 'is a private key' : other}; give the file that begins with ${begins}`,
  );
}

function rejectMismatch(cert: string, key: string): void {
  try {
    createSecureContext({ cert, key });
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException;
    const why = code.includes('MISMATCH') ? 'the key belongs to another certificate' : message;
    throw wrongUsage(`--cert, --cert-key: cannot be used: ${why}`);
  }
}

/** The proxies that HTTP_PROXY, HTTPS_PROXY and NO_PROXY name; undefined if there is none. */
export function proxyIn(env: Environment): Network['proxy'] {
  const [httpProxy, httpsProxy] = [proxyUrlIn(env, 'HTTP_PROXY'), proxyUrlIn(env, 'HTTPS_PROXY')];
  if (httpProxy === '' && httpsProxy === '') return undefined;
  return { httpProxy, httpsProxy, noProxy: variableIn(env, 'NO_PROXY') };
}

/** curl and others prefer lower case. */
const variableIn = (env: Environment, name: string) => env[name.toLowerCase()] ?? env[name] ?? '';

/** The message does not show the URL, which may have a password. */
function proxyUrlIn(env: Environment, name: string): string {
  const text = variableIn(env, name);
  if (text === '') return '';
  // Without a scheme, it is an HTTP proxy.
  const whole = /^[a-z][a-z\d+.-]*:\/\//i.test(text) ? text : `http://${text}`;
  if (URL.canParse(whole) && /^(?:https?|socks5?):$/.test(new URL(whole).protocol)) return whole;
  throw wrongUsage(`${name} is not the URL of a proxy; write it like http://proxy.example.com:3128`);
}

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

/** What follows the base URL in the paths of the interface. */
const interfacePath = new RegExp(`/api/ib(?:/(?:${endpointNames.join('|')}))?/?$`);

/** Parses the `{base_url}` of a target, also if a path of the interface is appended to it. */
export function parseTarget(text: string): URL {
  const url = parseUrl(text);
  url.pathname = url.pathname.replace(interfacePath, '/');
  return url;
}

const MAX_SHOWN = 200;

/** Removes user name, password and query from a URL, also from an invalid one. */
const withoutCredentials = (text: string) =>
  text.replace(/^([^/?#]*\/\/)?.*@/s, '$1…@').replace(/[?#].*$/s, (rest) => `${rest[0]}…`);

/** Fields that belong to a connection or to the body of a request. */
const ofConnection = /^(?:connection|content-length|expect|keep-alive|transfer-encoding|upgrade)$/i;

/** Parses `name: value` texts; returns names in lower case. */
export function parseHeaders(texts: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    texts.map((text) => {
      const [, name, value] = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):\s*([\t\x20-\x7e]*)$/.exec(text) ?? [];
      // The value may be a secret, so the message does not show it.
      if (name === undefined || value === undefined)
        throw wrongUsage(
          `--header needs 'name: value' in ASCII${text.includes(':') ? '' : '; the colon is missing'}${text.endsWith('…') ? '; write the value in place of …' : ''}`,
        );
      if (name.toLowerCase() === 'authorization')
        throw wrongUsage('--header: Authorization is not allowed; put keys in the fixture');
      if (ofConnection.test(name))
        throw wrongUsage(`--header: ${name} is not allowed: the client sets it for each connection`);
      return [name.toLowerCase(), value];
    }),
  );
}
