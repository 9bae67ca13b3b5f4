import { get as getPlain } from 'node:http';
import { get as getTls } from 'node:https';
import { text } from 'node:stream/consumers';
import { endpoints } from '../schemas/endpoints.ts';

/** How long (ms) an answer may take. */
const PATIENCE = 2000;

/** Signs of life, the cheapest first: the mock's own, and what every server of the interface says without a key. */
const signs = [
  { path: '/__admin/health', status: 200, says: '"healthy"' },
  { path: endpoints['user-status'].path, status: 401, says: endpoints['user-status'].messages[401] },
] as const;

/**
 * Whether a mock, or any server of the interface, answers at a URL.
 *
 * @param base its {base_url}
 * @returns what is wrong; undefined: it is healthy
 */
export async function ailment(base: URL): Promise<string | undefined> {
  let last = '';
  for (const { path, status, says } of signs) {
    const root = path.startsWith('/__admin') ? '' : base.pathname.replace(/\/+$/, '');
    try {
      const answer = await ask(new URL(root + path, base));
      if (answer.status === status && answer.body.includes(says)) return undefined;
      last = `${path} answers ${answer.status}`;
    } catch (error) {
      return (error as NodeJS.ErrnoException).code ?? (error as Error).message;
    }
  }
  return last;
}

/** Nothing secret is sent, so certificates are not checked: a container has none for its inside. */
function ask(url: URL): Promise<{ readonly status: number | undefined; readonly body: string }> {
  const get = url.protocol === 'https:' ? getTls : getPlain;
  return new Promise((resolve, reject) => {
    const signal = AbortSignal.timeout(PATIENCE);
    get(url, { agent: false, rejectUnauthorized: false, signal }, (incoming) => {
      text(incoming).then((body) => resolve({ status: incoming.statusCode, body }), reject);
    }).once('error', (error) => reject(signal.aborted ? new Error(`no answer in ${PATIENCE} ms`) : error));
  });
}
