import type { RunRecord } from '../../schemas/generated/types.ts';
import type { AnchorOf } from './anchors.ts';

/** What the parts of the page are made of. */
export interface Scene {
  readonly record: RunRecord;
  readonly anchorOf: AnchorOf;
}
