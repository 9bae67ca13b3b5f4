import { setFlagsFromString } from 'node:v8';

/**
 * undici reads answers with WebAssembly, which V8 optimizes beside the run; no process ends before that
 * is done, 0.2 s after a short run. What a run gains by it was not to be measured, so it is left out.
 * For a process of our own: it holds for all of it.
 */
export const spareOptimizing = () => setFlagsFromString('--liftoff-only');
