import { createHash } from 'node:crypto';
import type { RunRecord } from '../schemas/generated/types.ts';
import { wrongUsage } from '../schemas/problem.ts';
import { renderJson } from './json.ts';
import { isLowStrength, narrowedBy } from './strength.ts';

/** Colour and sign: a tick, a cross, a question mark, 16 by 16. */
const looks = {
  conformant: { color: 'brightgreen', sign: 'M2 9l4 4 8-10' },
  nonconformant: { color: 'red', sign: 'M3 3l10 10M13 3L3 13' },
  incomplete: { color: 'yellow', sign: 'M4 6a4 4 0 1 1 5 4q-1 .4-1 2M8 14v1' },
} as const satisfies Record<RunRecord['verdict'], { readonly color: string; readonly sign: string }>;

/** What stands before the reason why there is no badge. */
export const ONLY_WHOLE = 'a badge needs a complete run, but ';

/**
 * A badge as shields.io reads it from an endpoint (schema version 1). The SHA-256 of the json report
 * of the same run stands in its logo, because shields.io refuses members that it does not know.
 *
 * @throws Problem with code `usage` for a record that does not show a whole run
 */
export function renderBadge(record: RunRecord): string {
  const why = unfitForBadge(record);
  if (why !== undefined) throw wrongUsage(`${ONLY_WHOLE}${why}`);
  const required = record.requirements.filter(({ level }) => level === 'required');
  const passed = required.filter(({ outcome }) => outcome === 'passed').length;
  const failed = required.filter(({ outcome }) => outcome === 'failed').length;
  const { color, sign } = looks[record.verdict];
  const remark = isLowStrength(record) ? `, strength ${record.strength}` : '';
  const green = record.mock === true ? 'blue' : passed < required.length ? 'green' : color;
  const digest = createHash('sha256').update(renderJson(record)).digest('hex');
  const badge = {
    schemaVersion: 1,
    // Nobody is to take our own mock for a server.
    label: `ib-conformance${record.mock === true ? ' mock' : ''}`,
    message: `${failed === 0 ? '' : `${failed} failed, `}${passed}/${required.length} verified${remark}`,
    color: record.verdict !== 'conformant' ? color : isLowStrength(record) ? 'yellow' : green,
    // Whoever embeds the badge cannot paint this one green.
    isError: record.verdict === 'nonconformant',
    logoSvg: `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><metadata>sha256:${digest}</metadata><path fill="none" stroke="#fff" stroke-width="2" d="${sign}"/></svg>`,
  };
  return `${JSON.stringify(badge, undefined, 2)}\n`;
}

/** Why no badge can be made of a record; undefined where one can. */
export function unfitForBadge({ selection, interrupted, requirements }: RunRecord): string | undefined {
  if (interrupted) return 'this one was interrupted';
  if (requirements.length === 0) return 'this one checked nothing';
  if (requirements.some(({ outcome }) => outcome === 'broken'))
    return 'this one failed because of a bug of ib-conformance';
  if (selection === undefined) return 'this record does not say whether it is one';
  const narrowed = narrowedBy({ selection });
  return narrowed && `this one was ${narrowed}`;
}
