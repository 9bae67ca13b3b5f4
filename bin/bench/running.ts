import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { get } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { freePort } from '../free-port.ts';
import { commandIn } from './installations.ts';
import type { Bench } from './part.ts';
import type { Server } from './servers.ts';

const POLL_MS = 2;
const REST_MS = 1_000;
const PATIENCE_MS = 60_000;

/** A server that answers. */
export interface Running extends AsyncDisposable {
  readonly origin: string;
  readonly request: string;
  readonly key: string;
  /** From the start of the process to the first 200, in s. */
  readonly startSeconds: number;
  /** Resident memory of the process and its children, in MB (2^20 bytes). */
  readonly residentMb: () => number;
  /** The same when it was left alone for a second. */
  readonly restMb: () => Promise<number>;
}

/**
 * Starts a server, and waits for its first 200.
 *
 * @throws Error where it gives no 200 in a minute, or ends by itself
 */
export async function running({ installations, signal }: Bench, server: Server): Promise<Running> {
  const { argv, request, key = 'northwind-key' } = server;
  const folder = await installations.folderOf(server);
  const command = commandIn(folder, server);
  const port = await freePort();
  const begun = performance.now();
  // A group of its own: a shim may start a process of its own, and all are to end.
  const child = spawn(command, [...argv(port)], { cwd: folder, stdio: 'ignore', detached: true });
  const ended = once(child, 'exit');
  const kill = () => {
    if (child.exitCode === null && child.signalCode === null) process.kill(-child.pid!, 'SIGKILL');
  };
  const end = async () => {
    signal.removeEventListener('abort', kill);
    kill();
    await ended;
  };
  signal.addEventListener('abort', kill);
  try {
    while ((await statusOf(port, request, key)) !== 200) {
      signal.throwIfAborted();
      if (child.exitCode !== null) throw new Error(`${command}: ended with ${child.exitCode}`);
      if (performance.now() - begun > PATIENCE_MS) throw new Error(`${command}: gave no 200`);
      await wait(POLL_MS);
    }
  } catch (error) {
    await end();
    throw error;
  }
  const startSeconds = (performance.now() - begun) / 1000;
  const resident = () => residentMb(child.pid!);
  return {
    origin: `http://127.0.0.1:${port}`,
    request,
    key,
    startSeconds,
    residentMb: resident,
    restMb: async () => {
      await wait(REST_MS);
      return resident();
    },
    [Symbol.asyncDispose]: end,
  };
}

function statusOf(port: number, path: string, key: string): Promise<number | undefined> {
  const headers = { authorization: `Bearer ${key}` };
  return new Promise((resolve) => {
    get({ host: '127.0.0.1', port, path, headers, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode);
    }).on('error', () => resolve(undefined));
  });
}

function residentMb(pid: number): number {
  const rows = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,rss='], { encoding: 'utf8' })
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number) as [pid: number, parent: number, kilobytes: number]);
  const sum = (id: number): number =>
    rows.reduce(
      (total, [own, parent, kilobytes]) =>
        total + (own === id ? kilobytes : 0) + (parent === id ? sum(own) : 0),
      0,
    );
  return sum(pid) / 1024;
}
