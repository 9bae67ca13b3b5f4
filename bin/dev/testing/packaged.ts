import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { bundle } from '../package/bundle.ts';
import { root } from '../paths.ts';

/**
 * The program as packaged, for tests that start a process. It starts four times as fast as a checkout, which
 * compiles its sources, and uses 70 MB less. The folder is deleted after the tests.
 */
export const packagedFolder = mkdtempSync(join(tmpdir(), 'ib-conformance-packaged-'));
export const packagedProgram = join(packagedFolder, 'bin/ib-conformance.mjs');
/** The module that the program runs. */
export const packagedMain = join(packagedFolder, 'dist/main.mjs');

after(() => rmSync(packagedFolder, { recursive: true }));
for (const name of ['action', 'schemas', 'package.json', 'bin/ib-conformance.mjs'])
  cpSync(join(root, name), join(packagedFolder, name), { recursive: true });
for (const name of ['undici', 'esm'] as const) await bundle(name, join(packagedFolder, 'dist/'));
