import { join } from 'node:path';
import { parseArgs, type ParseArgsConfig } from 'node:util';
import type { Mount } from './sandbox.ts';

/** Where a call of `docker` is made. */
export interface Place {
  readonly folder: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** `docker build`. */
export interface BuildCall {
  readonly kind: 'build';
  readonly tag: string;
  /** Folder of the build context. */
  readonly context: string;
}

/** `docker run`, as far as it changes what runs. */
export interface RunCall {
  readonly kind: 'run';
  readonly image: string;
  /** What stands behind the name of the image; empty: its default command. */
  readonly command: readonly string[];
  readonly mounts: readonly Mount[];
  readonly environment: Readonly<Record<string, string>>;
  /** `uid:gid`; undefined: the one of the image. */
  readonly user: string | undefined;
  readonly isOnHost: boolean;
  readonly ports: readonly Port[];
  /** What takes the place of the health check of the image, split at blanks: no shell reads it here. */
  readonly health: readonly string[] | undefined;
}

/** A port of the machine behind which one of the container is. */
export interface Port {
  readonly address: string;
  readonly host: number;
  readonly container: number;
}

/** `docker compose up`. */
export interface ComposeCall {
  readonly kind: 'compose';
  readonly folder: string;
  readonly isBuilt: boolean;
  /** The service with whose exit code it ends. */
  readonly exitCodeFrom: string | undefined;
}

export type DockerCall = BuildCall | RunCall | ComposeCall;

type Options = NonNullable<ParseArgsConfig['options']>;

const buildOptions = { tag: { type: 'string', short: 't' } } as const satisfies Options;

/** Those that change nothing here are known, too: every command runs as if it had been given them. */
export const runOptions = {
  'cap-drop': { type: 'string' },
  env: { type: 'string', short: 'e', multiple: true, default: [] },
  'health-cmd': { type: 'string' },
  init: { type: 'boolean' },
  network: { type: 'string' },
  'no-healthcheck': { type: 'boolean' },
  publish: { type: 'string', short: 'p', multiple: true, default: [] },
  'read-only': { type: 'boolean' },
  rm: { type: 'boolean' },
  'security-opt': { type: 'string' },
  user: { type: 'string' },
  volume: { type: 'string', short: 'v', multiple: true, default: [] },
} as const satisfies Options;

const composeOptions = {
  build: { type: 'boolean', default: false },
  'exit-code-from': { type: 'string' },
} as const satisfies Options;

/**
 * What a command line of `docker` asks for.
 *
 * @param words what stands behind `docker`
 * @throws Error that names what is not known here, or what an engine would take for something else
 */
export function readCall(words: readonly string[], place: Place): DockerCall {
  const [command = '', ...rest] = words;
  if (command === 'build') return readBuild(rest, place);
  if (command === 'run') return readRun(rest, place);
  if (command === 'compose' && rest[0] === 'up') return readCompose(rest.slice(1), place);
  throw new Error(`docker ${words.join(' ')}: is not known here`);
}

function readBuild(words: readonly string[], { folder }: Place): BuildCall {
  const { values, positionals } = parseArgs({
    args: [...words],
    options: buildOptions,
    allowPositionals: true,
  });
  const [context] = positionals;
  if (values.tag === undefined || context === undefined || positionals.length > 1)
    throw new Error('docker build: needs a tag and one folder');
  return { kind: 'build', tag: values.tag, context: join(folder, context) };
}

function readRun(words: readonly string[], { env }: Place): RunCall {
  const at = imageIn(words);
  const { values } = parseArgs({ args: words.slice(0, at), options: runOptions });
  return {
    kind: 'run',
    image: words[at]!,
    command: words.slice(at + 1),
    mounts: values.volume.map(mountOf),
    environment: Object.fromEntries(values.env.map((text) => variableOf(text, env))),
    user: values.user === undefined ? undefined : userOf(values.user),
    isOnHost: networkOf(values.network) === 'host',
    ports: values.publish.map(portOf),
    health: values['health-cmd']?.split(' '),
  };
}

/** Where the name of the image stands: what follows it is not docker's. */
function imageIn(words: readonly string[]): number {
  const { tokens } = parseArgs({ args: [...words], options: runOptions, strict: false, tokens: true });
  const first = tokens.find(({ kind }) => kind !== 'option');
  if (first?.kind !== 'positional') throw new Error('docker run: needs an image');
  return first.index;
}

function mountOf(text: string): Mount {
  const [, from, to, mode] = /^(\/[^:]+):(\/[^:]+)(:ro)?$/.exec(text) ?? [];
  if (from === undefined || to === undefined)
    throw new Error(`docker run --volume ${text}: needs /from:/to, or /from:/to:ro`);
  return { from, to, isWritable: mode === undefined };
}

function variableOf(name: string, env: Place['env']): readonly [name: string, value: string] {
  const value = env[name];
  if (value === undefined) throw new Error(`docker run --env ${name}: there is no variable of this name`);
  return [name, value];
}

function userOf(text: string): string {
  if (!/^\d+:\d+$/.test(text)) throw new Error(`docker run --user ${text}: needs uid:gid`);
  return text;
}

function networkOf(name: string | undefined): 'host' | undefined {
  if (name === undefined || name === 'host') return name;
  throw new Error(`docker run --network ${name}: is not known here`);
}

function portOf(text: string): Port {
  const [, address, host, container] = /^([\d.]+):(\d+):(\d+)$/.exec(text) ?? [];
  if (address === undefined) throw new Error(`docker run --publish ${text}: needs address:port:port`);
  return { address, host: Number(host), container: Number(container) };
}

function readCompose(words: readonly string[], { folder }: Place): ComposeCall {
  const { values } = parseArgs({ args: [...words], options: composeOptions });
  return { kind: 'compose', folder, isBuilt: values.build, exitCodeFrom: values['exit-code-from'] };
}
