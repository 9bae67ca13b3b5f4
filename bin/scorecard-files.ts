import type { Scorecard } from '../mock/scorecard.ts';
import { scorecardFormats } from '../mock/scorecard/formats.ts';
import {
  discardOutputs,
  parseFormat,
  prepareOutputs,
  refuseSharedOutputs,
  writeOutputs,
} from './report-files.ts';

/** Where scorecards go when a mock ends. */
export interface ScorecardFiles {
  readonly write: (card: Scorecard, print: (text: string) => Promise<void>) => Promise<void>;
  /** Removes what was not written whole. */
  readonly discard: () => Promise<void>;
}

/**
 * Makes sure, before the mock starts, that its scorecards can be written.
 *
 * @param texts values of --scorecard
 * @throws Problem with code `usage` where they cannot
 */
export async function prepareScorecards(texts: readonly string[]): Promise<ScorecardFiles> {
  const requests = texts.map((text) => parseFormat('scorecard', scorecardFormats, text));
  refuseSharedOutputs('scorecard', requests);
  const outputs = await prepareOutputs(requests);
  return {
    write: (card, print) => writeOutputs(outputs, print, (format) => scorecardFormats[format].write(card)),
    discard: () => discardOutputs(outputs),
  };
}
