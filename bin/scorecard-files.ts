import { scorecardFormats, type Scorecard } from '../mock/scorecard.ts';
import type { CliContext } from './cli-context.ts';
import { parseReports, prepareReports } from './report-files.ts';

/**
 * Makes sure, before the mock starts, that its scorecards can be written when it ends.
 *
 * @param texts values of --scorecard
 * @throws Problem with code `usage`
 */
export async function prepareScorecards(texts: readonly string[], context: CliContext) {
  const outputs = await prepareReports(parseReports('scorecard', scorecardFormats, texts), context);
  return {
    write: (card: Scorecard) => outputs.write((format) => scorecardFormats[format].write(card)),
    discard: outputs.discard,
  };
}
