import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { output, root } from '../dev/paths.ts';

/** Writes the declarations of the API, and of what they refer to, into `types/`. */
export function declarations(): void {
  const all = `${output}all-types/`;
  execFileSync(`${root}node_modules/.bin/tsc`, ['--project', `${root}bin/package`, '--outDir', all], {
    stdio: 'inherit',
  });
  const { files } = JSON.parse(readFileSync(`${root}bin/package/tsconfig.json`, 'utf8')) as {
    readonly files: readonly string[];
  };
  const seen = new Set<string>();
  for (const file of files) follow(join(all, 'bin/package', file).replace(/\.ts$/, '.d.ts'), seen);
  for (const file of seen) {
    const target = join(output, 'types', relative(all, file));
    mkdirSync(dirname(target), { recursive: true });
    cpSync(file, target);
    writeFileSync(target, readFileSync(file, 'utf8').replaceAll(localImport, '$1$2.js'));
  }
  rmSync(all, { recursive: true });
}

/** A declaration names the file that it stands for: `.js`. */
const localImport = /((?:from\s*|import\()['"])(\.[^'"]+)\.ts(?=['"])/g;

function follow(file: string, seen: Set<string>): void {
  if (seen.has(file)) return;
  if (!existsSync(file)) throw new Error(`${file}: there is no such declaration`);
  seen.add(file);
  for (const [, , name] of readFileSync(file, 'utf8').matchAll(localImport))
    follow(join(dirname(file), `${name}.d.ts`), seen);
}
