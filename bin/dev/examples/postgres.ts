import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { freePort } from '../../testing/free-port.ts';

const run = promisify(execFile);

/** Where PostgreSQL's own programs are: Debian keeps `initdb` and `postgres` out of the path. */
export function postgresFolder(): string | undefined {
  const debian = '/usr/lib/postgresql';
  const versions = existsSync(debian) ? readdirSync(debian).toSorted((a, b) => Number(b) - Number(a)) : [];
  const folders = [
    ...versions.map((version) => join(debian, version, 'bin')),
    ...process.env['PATH']!.split(':'),
  ];
  return folders.find((folder) => existsSync(join(folder, 'initdb')) && existsSync(join(folder, 'postgres')));
}

/** A database server of nobody else's. */
export interface Postgres {
  /** What tells libpq, and all who read its variables, where it is. */
  readonly env: Readonly<Record<string, string>>;
  readonly stop: () => Promise<void>;
}

/**
 * Starts a PostgreSQL that is empty, lets everybody on this machine in, and keeps nothing safe.
 *
 * @param programs the folder of `initdb` and `postgres`
 * @param folder an empty one, for its data
 */
export async function startPostgres(programs: string, folder: string): Promise<Postgres> {
  const data = join(folder, 'data');
  const who = ownerOf(folder);
  await run(
    join(programs, 'initdb'),
    ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-sync'],
    who,
  );
  const port = await freePort();
  const settings = ['listen_addresses=127.0.0.1', `port=${port}`, 'unix_socket_directories=', 'fsync=off'];
  const server = spawn(
    join(programs, 'postgres'),
    ['-D', data, ...[...settings, 'lc_messages=C'].flatMap((setting) => ['-c', setting])],
    { ...who, stdio: ['ignore', 'ignore', 'pipe'] },
  );
  const said: string[] = [];
  await new Promise<void>((resolve, reject) => {
    createInterface(server.stderr).on('line', (line) => {
      said.push(line);
      if (line.includes('ready to accept connections')) resolve();
    });
    server.once('error', reject);
    server.once('exit', () => reject(new Error(`PostgreSQL does not start:\n${said.join('\n')}`)));
  });
  return {
    env: { PGHOST: '127.0.0.1', PGPORT: String(port), PGUSER: 'postgres' },
    stop: async () => {
      const ended = once(server, 'exit');
      // Its fast shutdown.
      server.kill('SIGINT');
      await ended;
    },
  };
}

/** PostgreSQL refuses to be root's: there it is the user's that its package makes. */
function ownerOf(folder: string): { readonly cwd: string; readonly uid?: number; readonly gid?: number } {
  mkdirSync(folder, { recursive: true });
  if (process.getuid?.() !== 0) return { cwd: folder };
  const idOf = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
  const [uid, gid] = [idOf('-u'), idOf('-g')];
  chownSync(folder, uid, gid);
  return { cwd: folder, uid, gid };
}
