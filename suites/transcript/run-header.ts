import type { Fixture } from '../../schemas/generated/types.ts';
import type { RecordOptions } from '../engine/record.ts';

/** What was to be done in a run: the first line of its transcript. */
export interface RunHeader extends RecordOptions {
  readonly selection: NonNullable<RecordOptions['selection']>;
  readonly fixture: Fixture;
  /** Ids of what is checked, in the order of the record. */
  readonly requirements: readonly string[];
  readonly hasStateHook: boolean;
  /** Faults of the mock that the suites caught before the run. */
  readonly canary?: readonly string[];
}
