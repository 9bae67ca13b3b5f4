import { setFlagsFromString } from 'node:v8';

/** Both, or the second would have everything optimized at once. Versions of V8 that know one no longer say so on standard error. */
const flags = ['--no-wasm-tier-up', '--no-wasm-dynamic-tiering'];

/**
 * undici reads answers with WebAssembly, which V8 optimizes beside the run; no process ends before that
 * is done, on Node 20 up to 0.2 s after a short run. What even a long run gains by it was not to be
 * measured, so it is left out. For a process of our own: it holds for all of it.
 */
export const spareOptimizing = () => flags.forEach((flag) => setFlagsFromString(flag));
