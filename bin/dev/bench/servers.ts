import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import autocannon from 'autocannon';
import { root } from '../paths.ts';

/** A lookup that every server answers with 200, with a key of the built-in fixture. */
const member = {
  path: '/api/ib/user-status?user_id=11111111-1111-4111-8111-111111111111',
  key: 'northwind-key',
};

/** A server to measure. It answers the lookup on loopback, without logs. */
export interface Server {
  readonly name: string;
  /** Returns the program and its arguments. */
  readonly argv: (port: string) => readonly [program: string, ...words: string[]];
}

const nodeScript = (name: string, script: string): Server => ({
  name,
  argv: (port) => [process.execPath, '-e', script, port],
});

export const bareHttp = nodeScript(
  'bare node:http',
  `const body = Buffer.from('{"is_under_ib":true,"date_joined":"2024-02-29T23:59:59.999Z"}');
const headers = ['Content-Type', 'application/json', 'Cache-Control', 'no-store', 'Content-Length', String(body.length)];
require('node:http').createServer((_, response) => response.writeHead(200, headers).end(body)).listen(Number(process.argv[1]), '127.0.0.1');`,
);

export const barePolka = nodeScript(
  'bare polka',
  `const body = '{"is_under_ib":true,"date_joined":"2024-02-29T23:59:59.999Z"}';
require('polka')().get('/api/ib/user-status', (_, response) => response.end(body)).listen(Number(process.argv[1]), '127.0.0.1');`,
);

/** Returns the mock of this package; `command` is the installed program. */
export const thisPackage = (command: string, ...flags: readonly string[]): Server => ({
  name: 'ib-conformance',
  argv: (port) => [command, 'mock', '--port', port, '--log', 'silent', ...flags],
});

let lastPort = 24_000;
const POLL_MS = 2;
const TIMEOUT_MS = 60_000;

/**
 * Starts a server and waits for its first 200.
 *
 * @param lookup a request that gets 200
 * @throws Error if it exits or does not answer 200 within a minute
 */
export async function start({ name, argv }: Server, lookup = member) {
  const port = String((lastPort += 1));
  const [program, ...words] = argv(port);
  const origin = `http://127.0.0.1:${port}`;
  const begin = performance.now();
  // A separate process group: the program may start other processes, which have to end too.
  const child = spawn(program, words, { cwd: root, stdio: 'ignore', detached: true });
  const exited = once(child, 'exit');
  const end = async () => {
    // Node 22 and later keep compiled code when a process exits by itself.
    if (child.exitCode === null && child.signalCode === null) process.kill(-child.pid!, 'SIGTERM');
    await exited;
  };
  while (!(await isUp(origin + lookup.path, lookup.key))) {
    if (child.exitCode !== null || performance.now() - begin > TIMEOUT_MS) {
      await end();
      throw new Error(`${name} gave no 200`);
    }
    await wait(POLL_MS);
  }
  return {
    origin,
    seconds: (performance.now() - begin) / 1000,
    usage: () => processUsage(child.pid!),
    [Symbol.asyncDispose]: end,
  };
}

async function isUp(url: string, key: string): Promise<boolean> {
  const headers = { authorization: `Bearer ${key}`, connection: 'close' };
  const response = await fetch(url, { headers }).catch(() => undefined);
  await response?.arrayBuffer();
  return response?.status === 200;
}

/** Reads the resident memory (MB, 2^20 bytes) and the processor time (s) of a process from Linux. */
function processUsage(pid: number) {
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))!;
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // Fields 12 and 13 after the name in brackets: user and system time, in hundredths of a second.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return {
    'memory, MB': Number(kilobytes) / 1024,
    'processor, s': (Number(fields[11]) + Number(fields[12])) / 100,
  };
}

const CONNECTIONS = 32;

/**
 * Sends a lookup repeatedly on 32 connections, for some seconds or a number of requests.
 *
 * @throws Error if an answer is not 200
 */
export async function load(
  { origin, usage }: Awaited<ReturnType<typeof start>>,
  amount: { readonly duration: number } | { readonly amount: number },
) {
  const before = usage()['processor, s'];
  const result = await autocannon({
    url: origin + member.path,
    headers: { authorization: `Bearer ${member.key}` },
    connections: CONNECTIONS,
    timeout: 60,
    ...amount,
  });
  if (result.non2xx + result.errors > 0)
    throw new Error(`${result.non2xx} wrong answers, ${result.errors} lost`);
  const { total, average } = result.requests;
  return {
    'requests a second': average,
    'processor µs a request': ((usage()['processor, s'] - before) / total) * 1_000_000,
    'p99, ms': result.latency.p99,
  };
}
