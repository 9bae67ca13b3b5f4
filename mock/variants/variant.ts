import type { Change } from '../change.ts';

/** A legal reading of something that the interface leaves open. */
export interface Variant {
  /** One sentence that says what the server does otherwise than the reference. */
  readonly what: string;
  readonly change: Change;
}

export type Variants = Readonly<Record<string, Variant>>;
