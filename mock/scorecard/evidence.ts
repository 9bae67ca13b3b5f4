import { splitTarget } from '../handler.ts';
import type { Entry } from './entries.ts';

/** Entries of a broken rule that a report shows. */
const SHOWN = 5;

/** Characters of a target that a report shows. */
const MOST = 200;

/** What a terminal would act on, a reader not see, or XML not hold: everything but letters, marks, signs and space. */
const HIDDEN = /[\p{C}\p{Zl}\p{Zp}]/gu;

/** Text with `\u{…}` for each character that is not to be seen. The result is one line. */
function visible(text: string): string {
  return text.replaceAll(HIDDEN, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);
}

function lineOf({ id, at, method, target, status, reason, keyInTarget }: Entry): string {
  // The journal leaves keys out; of a target that held one, not even the rest is repeated.
  const shown = keyInTarget ? `${splitTarget(target).path}?…` : target;
  const cut = [...shown].length > MOST ? `${[...shown].slice(0, MOST).join('')}…` : shown;
  const time = Number.isFinite(at) && Math.abs(at) <= 8.64e15 ? new Date(at).toISOString() : `${at}`;
  return visible(`#${id} ${time} ${method} ${cut} → ${status} (${reason})`);
}

/** The first entries of a broken rule, a line each, and how many more there are. */
export function evidence(entries: readonly Entry[]): readonly string[] {
  const more = entries.length - SHOWN;
  return [...entries.slice(0, SHOWN).map(lineOf), ...(more > 0 ? [`and ${more} more`] : [])];
}
