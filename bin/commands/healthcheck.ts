import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { endpoints } from '../../schemas/endpoints.ts';
import { codeOf } from '../../schemas/problem.ts';
import { command } from './command.ts';
import { url as anyUrl } from './flags.ts';

export const healthcheck = command({
  usage: 'healthcheck [url]',
  what: 'exit with 0 if a mock answers, else with 1',
  positionals: {
    url: { ...anyUrl, default: 'http://127.0.0.1:4010', describe: 'base URL of the mock' },
  },
  run: async ({ url }, { writeError }) => {
    const problem = await problemAt(url);
    if (problem === undefined) return 0;
    writeError(`ib-conformance: ${url.href} is not healthy: ${problem}\n`);
    return 1;
  },
});

const TIMEOUT_MS = 2000;

const probes = [
  { path: '/__admin/health', status: 200, contains: '"healthy"' },
  { path: endpoints['user-status'].path, status: 401, contains: endpoints['user-status'].messages[401] },
] as const;

async function problemAt(base: URL): Promise<string | undefined> {
  let last = '';
  for (const { path, status, contains } of probes) {
    const root = path.startsWith('/__admin') ? '' : base.pathname.replace(/\/+$/, '');
    try {
      const answer = await ask(new URL(root + path, base));
      if (answer.status === status && answer.body.includes(contains)) return undefined;
      last = `${path} answers ${answer.status}`;
    } catch (error) {
      return codeOf(error) || (error as Error).message;
    }
  }
  return last;
}

/** Sends a GET. Does not check certificates: no secret is sent, and a container has none for localhost. */
async function ask(url: URL) {
  const { get } = await (url.protocol === 'https:' ? import('node:https') : import('node:http'));
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  try {
    const request = get(url, { agent: false, rejectUnauthorized: false, signal });
    const [answer] = (await once(request, 'response')) as [IncomingMessage];
    return { status: answer.statusCode, body: await text(answer) };
  } catch (error) {
    throw signal.aborted ? new Error(`no answer in ${TIMEOUT_MS} ms`) : error;
  }
}
