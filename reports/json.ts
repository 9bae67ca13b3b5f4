import type { Checkup, RunRecord } from '../schemas/generated/types.ts';

/**
 * Characters that JSON allows in a string but that affect a terminal or an editor: DEL and the C1 controls,
 * format characters such as bidi overrides, line and paragraph separators.
 */
const AFFECTS_DISPLAY = /[\u{7f}-\u{9f}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Writes JSON with escapes for all characters that affect a terminal. */
export const safeJson = (value: unknown, indent?: number): string =>
  JSON.stringify(value, undefined, indent).replace(AFFECTS_DISPLAY, (character) =>
    Array.from({ length: character.length }, (_, at) => character.charCodeAt(at))
      .map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`)
      .join(''),
  );

/** Renders a record as indented JSON. */
export const renderJson = (record: RunRecord | Checkup): string => `${safeJson(record, 2)}\n`;
