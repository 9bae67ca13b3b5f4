import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** A file or folder of this machine, and where it is in the root. */
export interface Mount {
  readonly from: string;
  readonly to: string;
  readonly isWritable?: boolean;
}

/** How a command is run in a root of its own. */
export interface Sandbox {
  /** The folder that becomes `/`. */
  readonly root: string;
  readonly isReadOnly: boolean;
  readonly mounts: readonly Mount[];
  /** `uid:gid`, without capabilities; undefined: root, as while an image is made. */
  readonly user?: string | undefined;
  /** The folder that it starts in. */
  readonly folder: string;
  /** All of its environment. */
  readonly env: Readonly<Record<string, string>>;
  /** `host`: this machine's; `own`: a new one with nothing but loopback; a process id: the one of that process. */
  readonly network: 'host' | 'own' | number;
}

const tools = ['unshare', 'nsenter', 'setpriv', 'chroot', 'mount', 'ip', 'ldd'];

/** Why no root can be made here; undefined: it can. */
export function lacks(): string | undefined {
  const missing = tools.filter((tool) => spawnSync('which', [tool]).status !== 0);
  if (missing.length > 0) return `there is no ${missing.join(', no ')}`;
  if (process.getuid?.() !== 0) return 'this is not root';
  const tried = spawnSync(
    'unshare',
    ['--mount', '--pid', '--net', '--fork', 'mount', '--make-rprivate', '/'],
    {
      encoding: 'utf8',
    },
  );
  return tried.status === 0 ? undefined : `unshare is refused: ${tried.stderr.trim()}`;
}

/** Starts a command as the first process of a root of its own. */
export function start(sandbox: Sandbox, argv: readonly string[]): ChildProcess {
  for (const { from, to } of sandbox.mounts) makePlace(from, join(sandbox.root, to));
  const { network } = sandbox;
  const unshare = ['unshare', '--mount', '--pid', '--fork', ...(network === 'own' ? ['--net'] : [])];
  const joined = typeof network === 'number' ? ['nsenter', `--net=/proc/${network}/ns/net`, '--'] : [];
  const [command, ...rest] = [...joined, ...unshare, 'sh', '-c', script(sandbox), 'sh', ...argv] as [string];
  return spawn(command, rest, { stdio: ['ignore', 'pipe', 'pipe'] });
}

/** Starts a command beside the first process of a root, as an engine's `exec` and health check do. */
export function startBeside(first: number, { user, env }: Sandbox, argv: readonly string[]): ChildProcess {
  const [uid, gid] = (user ?? '0:0').split(':');
  const into = ['--target', `${first}`, '--mount', '--pid', '--net', '--root', '--wd', '--setuid', uid!];
  return spawn('nsenter', [...into, '--setgid', gid!, '--', 'env', '-i', ...assignments(env), ...argv], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** Starts a program of this machine where it reaches the first process of a root at its addresses. */
export function startInNetwork(first: number, env: NodeJS.ProcessEnv, argv: readonly string[]): ChildProcess {
  return spawn('nsenter', ['--target', `${first}`, '--net', '--', ...argv], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** What this machine calls the first process of a root, once it is what was asked for. */
export function firstProcess({ pid }: ChildProcess): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim());
}

/** Ends a root with all that runs in it. To change one's user is to live on when `unshare` ends, so both are ended. */
export function end(child: ChildProcess): void {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const first = firstProcess(child);
  if (first > 0) process.kill(first, 'SIGKILL');
  child.kill('SIGKILL');
}

/** Mounts that only this process and those behind it see, so that nothing is left to be taken down. */
function script({ root, isReadOnly, mounts, user, folder, env, network }: Sandbox): string {
  const at = (path: string) => quoted(join(root, path));
  const readOnly = (place: string) => `mount -o remount,bind,ro ${place}`;
  for (const path of ['proc', 'tmp']) mkdirSync(join(root, path), { recursive: true });
  return [
    'set -e',
    'mount --make-rprivate /',
    ...(network === 'own' ? ['ip link set lo up'] : []),
    `mount --bind ${at('/')} ${at('/')}`,
    ...mounts.flatMap(({ from, to, isWritable = false }) => [
      `mount --rbind ${quoted(from)} ${at(to)}`,
      ...(isWritable || to.startsWith('/dev/') ? [] : [readOnly(at(to))]),
    ]),
    `mount -t proc proc ${at('/proc')}`,
    ...(isReadOnly ? [readOnly(at('/'))] : []),
    [
      'exec env -i',
      ...assignments(env).map(quoted),
      // Found by this machine's PATH; the command itself by the one of the root.
      '"$(command -v setpriv)" --no-new-privs',
      ...(user === undefined ? [] : ['--bounding-set=-all,+sys_chroot,+setuid,+setgid']),
      `"$(command -v chroot)" ${user === undefined ? '' : `--userspec=${user} --groups=`}`,
      at('/'),
      `env --chdir=${quoted(folder)} "$@"`,
    ].join(' '),
  ].join('\n');
}

function makePlace(from: string, place: string): void {
  if (statSync(from).isDirectory()) mkdirSync(place, { recursive: true });
  else {
    mkdirSync(dirname(place), { recursive: true });
    writeFileSync(place, '', { flag: 'a' });
  }
}

const assignments = (env: Sandbox['env']) => Object.entries(env).map(([name, value]) => `${name}=${value}`);
const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
