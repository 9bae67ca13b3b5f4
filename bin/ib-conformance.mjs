#!/usr/bin/env node
// A checkout runs its TypeScript sources with tsx. The package and the commit of a release contain a bundle of them.
import { existsSync } from 'node:fs';
import * as module from 'node:module';

const isCheckout = existsSync(new URL('../node_modules/tsx', import.meta.url));
// Node 22 and later keep the compiled bundle in the folder for temporary files.
if (!isCheckout) module.enableCompileCache?.();
try {
  if (isCheckout) (await import('tsx/esm/api')).register();
  const { main } = await import(isCheckout ? './main.ts' : '../dist/main.mjs');
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  // For these errors, Node would exit with 1, which means nonconformant.
  if (error.code !== 'EMFILE' && error.syscall !== 'uv_cwd') throw error;
  process.stderr.write(`ib-conformance: cannot start: ${error.message}\n`);
  process.exitCode = 2;
}
