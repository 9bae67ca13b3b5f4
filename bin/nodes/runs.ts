import { execSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../package/paths.ts';

/** Files of `npm test` whose subject is the same on every Node, and is tested on the oldest and the newest; and why. */
export const sameEverywhere: Readonly<Record<string, string>> = {
  'bin/self-test.test.ts': 'sends what the others send, once for every fault',
  'reports/': 'a record in, text out',
  'suites/limiter/': 'simulated limiters in a time of their own',
};

/** What can be run on a version of Node, as files of tests. */
export const runs = {
  /** What `npm test` runs. */
  everything: () => testFiles(),
  /** What meets sockets, processes, files, streams, timers, or the parsers of V8. */
  runtime: () =>
    testFiles().filter((file) => !Object.keys(sameEverywhere).some((one) => file.startsWith(one))),
  /** What `npm run test:package` runs. */
  package: () => ['bin/package/check.ts'],
} as const satisfies Readonly<Record<string, () => readonly string[]>>;

export type RunName = keyof typeof runs;

/** The files of `npm test`, by the command that finds them there. */
function testFiles(): readonly string[] {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    readonly scripts: { readonly test: string };
  };
  const [, find] = /\$\((find .+?)\)/.exec(scripts.test)!;
  return execSync(find!, { cwd: root, encoding: 'utf8' }).trim().split('\n');
}
