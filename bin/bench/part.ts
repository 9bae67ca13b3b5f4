import type { Column } from './columns.ts';
import type { Installations } from './installations.ts';

/** What one measurement came to: figures by name, each with its unit in it; what does not apply is missing. */
export type Sample = Readonly<Record<string, number | undefined>>;

/** Of each entrant, by its name, a sample for each round. */
export type Samples = Readonly<Record<string, readonly Sample[]>>;

/** What a part may use. */
export interface Bench {
  readonly installations: Installations;
  /** A folder for files, removed at the end. */
  readonly folder: string;
  /** How long a load takes. */
  readonly seconds: number;
  /** Ends all servers. */
  readonly signal: AbortSignal;
}

/** Measures one entrant once; the round counts from 0. */
export type Measure = (round: number) => Promise<Sample>;

/** Who takes part, in the order of the table. */
export interface Prepared {
  readonly entrants: Readonly<Record<string, Measure>>;
  /** Of the packages that are measured. */
  readonly versions: Readonly<Record<string, string>>;
}

/** A part of the benchmark: entrants that are measured in turn, and the table that is made of it. */
export interface Part {
  readonly title: string;
  /** What a row of the table is. */
  readonly rows: string;
  /** Whether it is run where no part is named. */
  readonly byDefault: boolean;
  readonly prepare: (bench: Bench) => Promise<Prepared>;
  readonly columns: readonly Column[];
}
