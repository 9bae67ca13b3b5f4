import type { TranscriptLine } from '../schemas/generated/types.ts';
import { inert } from './json.ts';

/** A line of a transcript as NDJSON: an object a line. */
export function renderLine(line: TranscriptLine): string {
  return `${inert(JSON.stringify(line))}\n`;
}
