import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { get } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';

/** A server to start: how, where, and the request that it is to answer with 200. */
export interface Startable {
  readonly command: string;
  readonly argv: readonly string[];
  readonly folder: string;
  readonly port: number;
  readonly request: string;
}

export interface Start {
  /** From the start of the process to the first 200, in ms. */
  readonly coldStartMs: number;
  /** Resident memory of the process and its children, a second later, in MB (2^20 bytes). */
  readonly restMb: number;
}

const POLL_MS = 2;
const REST_MS = 1_000;
const PATIENCE_MS = 60_000;

/** A server that answers. */
export interface Running extends AsyncDisposable {
  /** From the start of the process to the first 200, in ms. */
  readonly coldStartMs: number;
  /** Resident memory of the process and its children, in MB (2^20 bytes). */
  readonly residentMb: () => number;
}

/**
 * Starts a server, and waits for its first 200.
 *
 * @throws Error where it gives no 200 in a minute, or ends by itself
 */
export async function running({ command, argv, folder, port, request }: Startable): Promise<Running> {
  const begun = performance.now();
  const server = spawn(command, [...argv], { cwd: folder, stdio: 'ignore', detached: true });
  const ended = once(server, 'exit');
  const end = async () => {
    // Its group: a shim may have started a process of its own.
    if (server.exitCode === null) process.kill(-server.pid!, 'SIGKILL');
    await ended;
  };
  try {
    while ((await statusOf(port, request)) !== 200) {
      if (server.exitCode !== null) throw new Error(`${command}: ended with ${server.exitCode}`);
      if (performance.now() - begun > PATIENCE_MS) throw new Error(`${command}: gave no 200`);
      await wait(POLL_MS);
    }
  } catch (error) {
    await end();
    throw error;
  }
  const coldStartMs = performance.now() - begun;
  return { coldStartMs, residentMb: () => residentMb(server.pid!), [Symbol.asyncDispose]: end };
}

/** Starts a server once, waits for its first 200, lets it rest, and ends it. */
export async function startOnce(startable: Startable): Promise<Start> {
  await using server = await running(startable);
  await wait(REST_MS);
  return { coldStartMs: server.coldStartMs, restMb: server.residentMb() };
}

function statusOf(port: number, path: string): Promise<number | undefined> {
  const headers = { authorization: 'Bearer northwind-key' };
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
