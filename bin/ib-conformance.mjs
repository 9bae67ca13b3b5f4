#!/usr/bin/env node
// A checkout runs its TypeScript sources as they are: tsx takes the types out while they load.
// The package carries no sources, but what was built of them.
import { existsSync } from 'node:fs';

const isCheckout = existsSync(new URL('./main.ts', import.meta.url));
if (isCheckout) (await import('tsx/esm/api')).register();
const { main } = await import(isCheckout ? './main.ts' : '../dist/main.mjs');
process.exitCode = await main(process.argv.slice(2));
