import type { RunRecord } from '../schemas/generated/types.ts';

/** Formats of a report of a run. */
export const reportFormats = ['console', 'html', 'json', 'junit', 'markdown', 'github'] as const;

/** Formats of the report of a sweep. */
export const sweepFormats = ['console', 'json', 'junit', 'markdown'] as const;

/** Name of a format of a report. */
export type ReportName = (typeof reportFormats)[number];

/** Options of a report. */
export interface ReportOptions {
  readonly color: boolean;
  /** Columns of the terminal or log. Formats for files ignore it. */
  readonly width: number;
  /** Whether the console shows every requirement and observation. */
  readonly verbose?: boolean;
  /** File with what a short console report leaves out. Without it, the console names `--verbose`. */
  readonly file?: string;
}

/** Renders a report from its data and options only. */
export type Render<Data = RunRecord> = (data: Data, options: ReportOptions) => string;
