// A thread of its own needs tsx registered again.
import { parentPort, workerData } from 'node:worker_threads';
import { register } from 'tsx/esm/api';

register();
const { killsOf } = await import('./self-test.ts');
const kills = await killsOf(workerData);
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
parentPort.postMessage(kills);
