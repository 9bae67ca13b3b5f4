import { entryOf, notesOf } from './journal.ts';
import { GRACE, scorecardOf, type Scorecard } from './scorecard.ts';
import type { Sandbox, Session } from './session.ts';

/** Grades the clients of some worlds by what their journals hold. */
export function gradeOf({ options, redact }: Session, sandboxes: readonly Sandbox[]): Scorecard {
  const entries = sandboxes.flatMap(({ journal }) => notesOf(journal).map((note) => entryOf(note, redact)));
  return scorecardOf(entries, GRACE + (options.delayMs ?? 0));
}
