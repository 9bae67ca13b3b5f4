#!/usr/bin/env node
// Runs the TypeScript sources as they are: tsx takes the types out while they load.
import { register } from 'tsx/esm/api';

register();
const { main } = await import('./main.ts');
process.exitCode = await main(process.argv.slice(2));
