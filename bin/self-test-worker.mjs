// A thread of its own needs tsx registered again.
import { parentPort, workerData } from 'node:worker_threads';
import { register } from 'tsx/esm/api';

register();
const { killsOf } = await import('./self-test.ts');
parentPort.postMessage(await killsOf(workerData));
