import { entryOf, type Note } from './journal.ts';
import type { Redact } from './redact.ts';

/** Most characters of target and unknown credential with which a note is kept as it is. */
const MOST = 2048;

/**
 * A note as a journal keeps it, so that a thousand of the longest targets in each of a hundred worlds
 * have room: of a long one only the beginning stays, without the credentials in all of it.
 */
export function keptNote(note: Note, redact: Redact): Note {
  const { target, unknown = '' } = note;
  if (target.length + unknown.length <= MOST) return note;
  const entry = entryOf(note, redact);
  return {
    ...note,
    target: '',
    unknown: undefined,
    entry: { ...entry, target: beginningOf(entry.target) },
  };
}

function beginningOf(text: string): string {
  if (text.length <= MOST) return text;
  // A slice would hold on to all of the text.
  const beginning = Buffer.from(text.slice(0, MOST)).toString();
  return `${beginning}… (${text.length} characters)`;
}
