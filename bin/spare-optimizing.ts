import { setFlagsFromString } from 'node:v8';

/** Both, or the second would have everything optimized at once. */
const flags = ['--no-wasm-tier-up', '--no-wasm-dynamic-tiering'];

/** From here on a process waits no longer at its end; and a V8 that has lost one of the flags would say so on standard error. */
const FIRST_WITHOUT = 26;

/**
 * undici reads answers with WebAssembly, which V8 optimizes beside the run; before Node 26 no process ends
 * until that is done, on Node 20 up to 0.2 s after a short run. What even a long run gains by it was not to
 * be measured, so it is left out. For a process of our own: it holds for all of it.
 */
export function spareOptimizing(): void {
  if (Number.parseInt(process.versions.node, 10) >= FIRST_WITHOUT) return;
  for (const flag of flags) setFlagsFromString(flag);
}
