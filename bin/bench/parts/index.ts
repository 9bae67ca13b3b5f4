import type { Part } from '../part.ts';
import { endurance } from './endurance.ts';
import { growth } from './growth.ts';
import { harness } from './harness.ts';
import { inProcess } from './in-process.ts';
import { mock } from './mock.ts';
import { start } from './start.ts';

/** The parts of the benchmark, by the names that `--part` takes. */
export const parts = {
  mock,
  start,
  'in-process': inProcess,
  harness,
  growth,
  endurance,
} as const satisfies Record<string, Part>;
