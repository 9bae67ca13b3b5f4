import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../dev/paths.ts';

/**
 * What is sent to the engine: what `.dockerignore` lets through.
 *
 * @throws Error where it says anything but "all that is ignored, save these names at the top"
 */
export function allowed(ignoreFile = readFileSync(`${root}.dockerignore`, 'utf8')): readonly string[] {
  const [all, ...others] = ignoreFile.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  const names = others.map((line) => /^!([\w.-]+)$/.exec(line)?.[1]);
  if (all !== '*' || names.includes(undefined))
    throw new Error('.dockerignore: the first rule is to be *, and all others !name');
  return names as readonly string[];
}

/** Puts the build context into an empty folder. */
export function copyContext(folder: string): void {
  mkdirSync(folder);
  const sources = allowed().map((name) => join(root, name));
  execFileSync('cp', ['-a', ...sources, folder]);
}
