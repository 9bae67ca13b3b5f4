import { createHash } from 'node:crypto';
import type { RunRecord } from '../schemas/generated/types.ts';
import { wrongUsage } from '../schemas/problem.ts';
import { renderJson } from './json.ts';
import { isLowStrength, narrowedBy } from './strength.ts';

/** Colour of the badge, and path of its icon (16 × 16): a tick, a cross, a question mark. */
const badgeStyles = {
  conformant: { color: 'brightgreen', sign: 'M2 9l4 4 8-10' },
  nonconformant: { color: 'red', sign: 'M3 3l10 10M13 3L3 13' },
  incomplete: { color: 'yellow', sign: 'M4 6a4 4 0 1 1 5 4q-1 .4-1 2M8 14v1' },
} as const satisfies Record<RunRecord['verdict'], { readonly color: string; readonly sign: string }>;

/** The message before the reason from `whyNoBadge`. */
export const NO_BADGE = 'a badge needs a complete run, but ';

/**
 * Renders a badge for the endpoint API of shields.io (schema version 1). The logo contains the SHA-256 of
 * the json report of the run, because shields.io rejects unknown members.
 *
 * @throws Problem with code `usage` if the record is not of a complete run
 */
export function renderBadge(record: RunRecord): string {
  const why = whyNoBadge(record);
  if (why !== undefined) throw wrongUsage(`${NO_BADGE}${why}`);
  const required = record.requirements.filter(({ level }) => level === 'required');
  const passed = required.filter(({ outcome }) => outcome === 'passed').length;
  const failed = required.filter(({ outcome }) => outcome === 'failed').length;
  const { color, sign } = badgeStyles[record.verdict];
  const remark = isLowStrength(record) ? `, strength ${record.strength}` : '';
  const green = record.mock === true ? 'blue' : passed < required.length ? 'green' : color;
  const digest = createHash('sha256').update(renderJson(record)).digest('hex');
  const badge = {
    schemaVersion: 1,
    // Without it, a badge of the mock would look like that of a server.
    label: `ib-conformance${record.mock === true ? ' mock' : ''}`,
    message: `${failed === 0 ? '' : `${failed} failed, `}${passed}/${required.length} verified${remark}`,
    color: record.verdict !== 'conformant' ? color : isLowStrength(record) ? 'yellow' : green,
    // With `isError`, shields.io ignores another colour in the badge's URL.
    isError: record.verdict === 'nonconformant',
    logoSvg: `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><metadata>sha256:${digest}</metadata><path fill="none" stroke="#fff" stroke-width="2" d="${sign}"/></svg>`,
  };
  return `${JSON.stringify(badge, undefined, 2)}\n`;
}

/** Returns why a record cannot have a badge; undefined if it can. */
export function whyNoBadge({ selection, interrupted, requirements }: RunRecord): string | undefined {
  if (interrupted) return 'this one was interrupted';
  if (requirements.length === 0) return 'this one checked nothing';
  if (requirements.some(({ outcome }) => outcome === 'broken'))
    return 'this one failed because of a bug of ib-conformance';
  if (selection === undefined) return 'this record does not say whether it is one';
  const narrowed = narrowedBy({ selection });
  return narrowed && `this one was ${narrowed}`;
}
