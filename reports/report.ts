import type { RunRecord } from '../schemas/generated/types.ts';

/** What a report may know apart from the record. */
export interface ReportOptions {
  /** Whether colour escapes may be written. */
  readonly color: boolean;
  /** Columns of the terminal or log; formats that are not read on one do without. */
  readonly width: number;
}

/** A format that a run record, or what else it is of, can be rendered in: pure, from that alone. */
export interface Report<Data = RunRecord> {
  /** What it is good for, in a few words: shown by the command line's help. */
  readonly what: string;
  readonly render: (data: Data, options: ReportOptions) => string;
}
