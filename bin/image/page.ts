import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { blocksOf, type Block } from '../docs/markdown.ts';
import { root } from '../dev/paths.ts';
import { readCall, type DockerCall } from './docker-call.ts';

/** The page on containers, as text. */
export const page: string = readFileSync(join(root, 'docs/container.md'), 'utf8');

export const blocks: readonly Block[] = blocksOf(page);

/** Who reads the page: neither root, nor the user of the image. */
export const reader = { uid: 1234, gid: 1235, env: { IB_API_KEY: 'key-of-the-reader' } } as const;

/** Writes down a call: how many words, the folder, the words. */
const docker = `#!/bin/sh\nprintf '%s\\0' "$#" "$PWD" "$@" >> "$CALLS"\n`;
const id = `#!/bin/sh\ncase $1 in -u) echo ${reader.uid} ;; -g) echo ${reader.gid} ;; *) exit 1 ;; esac\n`;

/**
 * Runs commands of the page with bash, and docker but written down.
 *
 * @param folder where the reader stands
 * @param scratch a folder for programs that stand in for others
 * @returns the calls of docker, each with the text that stands for it in a report
 * @throws Error where a command fails, or a call is not known here
 */
export function callsIn(
  commands: string,
  folder: string,
  scratch: string,
): readonly { readonly name: string; readonly call: DockerCall }[] {
  mkdirSync(scratch, { recursive: true });
  for (const [name, script] of Object.entries({ docker, id })) {
    writeFileSync(join(scratch, name), script);
    chmodSync(join(scratch, name), 0o755);
  }
  const file = join(scratch, 'calls');
  writeFileSync(file, '');
  const env = { PATH: `${scratch}:/usr/bin:/bin`, CALLS: file, ...reader.env };
  execFileSync('bash', ['-euo', 'pipefail', '-c', commands], { cwd: folder, env, stdio: 'pipe' });
  const words = readFileSync(file, 'utf8').split('\0').slice(0, -1);
  const calls = [];
  while (words.length > 0) {
    const [count, where] = words.splice(0, 2) as [string, string];
    const said = words.splice(0, Number(count));
    calls.push({
      name: ['docker', ...said].join(' '),
      call: readCall(said, { folder: where, env: reader.env }),
    });
  }
  return calls;
}
