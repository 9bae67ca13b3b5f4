import type { RunRecord } from '../schemas/generated/types.ts';

/** Formats of a report of a run. The command line starts with these names, without the code behind them. */
export const reportFormats = ['console', 'html', 'json', 'junit', 'markdown', 'github', 'badge'] as const;

/** Formats that are written while the run goes on. */
export const transcriptFormats = ['ndjson'] as const;

/** Formats of a comparison of two runs. */
export const comparisonFormats = ['console', 'markdown', 'json'] as const;

/** Name of a format of a report. */
export type ReportName = (typeof reportFormats)[number];

/** What a report may know apart from its data. */
export interface ReportOptions {
  readonly color: boolean;
  /** Columns of the terminal or log. Formats for files ignore it. */
  readonly width: number;
}

/** A format: text made of its data alone. */
export interface Report<Data = RunRecord> {
  /** What it is good for, in a few words. The documentation lists it. */
  readonly what: string;
  readonly render: (data: Data, options: ReportOptions) => string;
}
