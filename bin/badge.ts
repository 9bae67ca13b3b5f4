import { narrowedBy, ONLY_WHOLE, unfitForBadge } from '../reports/index.ts';
import type { RunRecord } from '../schemas/generated/types.ts';
import { Problem } from '../schemas/problem.ts';
import type { Output, ReportRequest } from './report-files.ts';

/**
 * A badge of a part of the catalogue would be taken for one of the whole: that is said before the run.
 *
 * @throws Problem with code `usage`
 */
export function refuseBadgeOfPart(
  requests: readonly ReportRequest<string>[],
  selection: NonNullable<RunRecord['selection']>,
): void {
  const why = requests.some(({ format }) => format === 'badge') ? narrowedBy(selection) : undefined;
  if (why !== undefined) throw new Problem('usage', `--report badge: ${ONLY_WHOLE}${why}`);
}

/** The reports that can be made of a record: a run that came to no good end has no badge, and its exit code says why. */
export function withoutUnfitBadge(
  outputs: readonly Output[],
  record: RunRecord,
  writeError: (text: string) => void,
): readonly Output[] {
  const why = unfitForBadge(record);
  if (why === undefined || outputs.every(({ format }) => format !== 'badge')) return outputs;
  writeError(`ib-conformance: --report badge: ${ONLY_WHOLE}${why}\n`);
  return outputs.filter(({ format }) => format !== 'badge');
}
