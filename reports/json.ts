import type { Checkup, RunRecord } from '../schemas/generated/types.ts';

/**
 * What JSON lets stand in a string but a terminal or an editor would act on: DEL and the C1
 * controls, format characters such as bidi overrides, line and paragraph separators.
 */
const ACTED_ON = /[\u{7f}-\u{9f}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** What was found as JSON, indented by two. What a terminal would act on is written as a JSON escape. */
export function renderJson(found: RunRecord | Checkup): string {
  return `${inert(JSON.stringify(found, null, 2))}\n`;
}

/** JSON with an escape for all that a terminal would act on. */
export const inert = (json: string) => json.replace(ACTED_ON, escaped);

function escaped(character: string): string {
  return Array.from(
    { length: character.length },
    (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`,
  ).join('');
}
