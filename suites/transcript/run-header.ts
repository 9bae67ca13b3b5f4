import type { Fixture } from '../../schemas/generated/types.ts';
import type { RecordOptions } from '../engine/record.ts';

/** What was to be done in a run: the first line of its transcript. */
export interface RunHeader extends RecordOptions {
  readonly fixture: Fixture;
  /** Ids of what is checked, in the order of the record. */
  readonly requirements: readonly string[];
  /** Whether that is the whole catalogue. */
  readonly whole: boolean;
  /** Ids that are left out on request. */
  readonly skip: ReadonlySet<string>;
  readonly hasStateHook: boolean;
  /** The one input that was asked for: a path of fast-check. */
  readonly path?: string;
  /** Faults of the mock that the suites caught before the run. */
  readonly canary?: readonly string[];
}
