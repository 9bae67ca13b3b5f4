import { spawnSync } from 'node:child_process';
import { root } from './paths.ts';

/** A number that the commit chooses, for what runs with one of many parts or seeds; 0 outside a repository. */
export function numberOfCommit(): number {
  const { stdout } = spawnSync('git', ['rev-parse', '--short=7', 'HEAD'], { cwd: root, encoding: 'utf8' });
  return Number.parseInt(stdout, 16) || 0;
}
