import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { ended } from '../child-process.ts';
import { copyContext } from './context.ts';
import type { Stage, Step } from './dockerfile.ts';
import { start, type Mount } from './sandbox.ts';

/**
 * Carries out the stages of a Dockerfile as an engine would, but on files of this machine: a stage that runs
 * something has all of its programs, one that only copies has nothing but what `runtime` mounts.
 *
 * @param folder an empty one, for all that is made
 * @returns the root folder of the last stage
 * @throws Error for an instruction that this cannot carry out, or a command that fails
 */
export async function build(stages: readonly Stage[], folder: string): Promise<string> {
  const context = join(folder, 'context');
  copyContext(context);
  const roots = new Map<string | undefined, string>([[undefined, context]]);
  let last = '';
  for (const [index, stage] of stages.entries()) {
    last = join(folder, `stage-${index}`);
    mkdirSync(last);
    await carryOut(stage, last, roots);
    roots.set(stage.name ?? `${index}`, last);
  }
  return last;
}

/** They change no file. */
const configuration: ReadonlySet<string> = new Set([
  'ARG',
  'CMD',
  'ENTRYPOINT',
  'EXPOSE',
  'HEALTHCHECK',
  'LABEL',
  'STOPSIGNAL',
  'USER',
]);

async function carryOut(
  { steps }: Stage,
  root: string,
  roots: ReadonlyMap<string | undefined, string>,
): Promise<void> {
  let workFolder = '/';
  for (const step of steps) {
    const { keyword, text: written, flags, line } = step;
    if (keyword === 'WORKDIR') {
      workFolder = resolve(workFolder, written);
      mkdirSync(join(root, workFolder), { recursive: true });
    } else if (keyword === 'COPY') {
      const from = roots.get(flags['from']);
      if (from === undefined) throw new Error(`Dockerfile:${line}: there is no stage ${flags['from']}`);
      copy(written.split(/\s+/), from, join(root, resolve(workFolder, written.split(/\s+/).at(-1)!)));
    } else if (keyword === 'RUN') await runStep(step, root, workFolder);
    else if (!configuration.has(keyword)) throw new Error(`Dockerfile:${line}: ${keyword} is not known here`);
  }
}

/** Of a folder its content is copied, as engines do. */
function copy(words: readonly string[], from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  const sources = words.slice(0, -1).map((name) => join(from, name));
  execFileSync('cp', ['-a', ...sources.map((path) => (isFolder(path) ? `${path}/.` : path)), to]);
}

const isFolder = (path: string) => existsSync(`${path}/.`);

async function runStep({ text: command, line }: Step, root: string, folder: string): Promise<void> {
  const { PATH: _, ...env } = process.env as Record<string, string>;
  const child = start(
    {
      root,
      folder,
      isReadOnly: false,
      mounts: wholeMachine(),
      env: { ...env, PATH: `${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin` },
      network: 'host',
    },
    ['sh', '-c', command],
  );
  const { code, complaint } = await ended(child);
  if (code !== 0) throw new Error(`Dockerfile:${line}: ${command}: exit code ${code}\n${complaint}`);
}

/** This machine's programs and its npm cache, in the place of the image that a stage begins with. */
function wholeMachine(): readonly Mount[] {
  const programs = [
    '/usr',
    '/bin',
    '/sbin',
    '/lib',
    '/lib64',
    '/etc',
    '/dev',
    dirname(dirname(process.execPath)),
  ];
  return [
    ...programs.filter((path) => existsSync(path) && path !== '/').map((path) => ({ from: path, to: path })),
    { from: homedir(), to: homedir(), isWritable: true },
  ];
}

/** What a command of the package needs to run: node, `env`, the C library, and nothing to look things up with. */
export function runtime(): readonly Mount[] {
  const libraries = execFileSync('ldd', [process.execPath, '/usr/bin/env'], { encoding: 'utf8' });
  const files = new Set([...libraries.matchAll(/(\/[^\s:]+)(?= \(0x)/g)].map(([, path]) => path!));
  return [
    { from: process.execPath, to: '/usr/local/bin/node' },
    { from: '/usr/bin/env', to: '/usr/bin/env' },
    { from: '/dev/null', to: '/dev/null' },
    ...[...files].map((path) => ({ from: path, to: path })),
  ];
}
