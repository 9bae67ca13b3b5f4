import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { root } from '../dev/paths.ts';
import type { Mount } from './sandbox.ts';

const folder = join(root, 'examples/compose');

/** The example's compose file, as it stands there. */
export const composeFile: Compose = parse(readFileSync(join(folder, 'compose.yaml'), 'utf8')) as Compose;

/** What is read of a compose file. */
export interface Compose {
  readonly services: Readonly<Record<string, Service>>;
}
interface Service {
  /** Folder that the image is made of, from the file's folder on. */
  readonly build?: string;
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** `from:to:ro`, from the file's folder on. */
  readonly volumes: readonly string[];
  readonly user?: string;
  readonly read_only: boolean;
  readonly cap_drop: readonly string[];
  readonly security_opt: readonly string[];
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
}

/** A service of the example, to be started without an engine. */
export interface Startable {
  /** Folder that its image is made of. */
  readonly context: string | undefined;
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly mounts: readonly Mount[];
}

/** The mock of the example, and the partner's program. */
export function example(): { readonly mock: Startable; readonly partner: Startable } {
  return { mock: startable('mock'), partner: startable('partner') };
}

function startable(name: string): Startable {
  const { build, command, environment, volumes } = composeFile.services[name]!;
  const mounts = volumes.map((volume) => {
    const [from = '', to = '', mode] = volume.split(':');
    return { from: join(folder, from), to, isWritable: mode !== 'ro' };
  });
  const context = build === undefined ? undefined : join(folder, build);
  return { context, command, environment, mounts };
}
