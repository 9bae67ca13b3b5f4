/** The thread that works out its share of the kill matrix. */
import { parentPort, workerData } from 'node:worker_threads';
import { killsOf, type Share } from './self-test.ts';

const kills = await killsOf(workerData as Share);
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
parentPort?.postMessage(kills);
