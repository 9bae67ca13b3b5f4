import { closeSync, openSync, writeSync } from 'node:fs';
import type { Problem } from '../schemas/problem.ts';
import { unwritable } from './unwritable.ts';

/** Text of this many characters is not kept back. */
const MOST_KEPT = 2 ** 16;

/** Where a transcript goes, while the run goes on. */
export interface TranscriptOutput {
  /** Is on its way to the disk at the latest when the event loop turns. */
  readonly write: (text: string) => void;
  /** @throws Problem with code `usage` where something could not be written */
  readonly close: () => Promise<void>;
}

/**
 * Opens a file that grows during the run, so that a run that is killed leaves what it found.
 *
 * @param onFailure is told, once, what the rest of the transcript is missing for
 * @throws Problem with code `usage` where it cannot be opened
 */
export function openTranscript(file: string, onFailure: (problem: Problem) => void): TranscriptOutput {
  let kept = '';
  let timer: NodeJS.Immediate | undefined;
  let failure: Problem | undefined;
  const attempt = <Result>(work: () => Result): Result => {
    try {
      return work();
    } catch (error) {
      throw unwritable(file, 'the transcript', error);
    }
  };
  const descriptor = attempt(() => openSync(file, 'w'));
  const flush = () => {
    if (timer !== undefined) clearImmediate(timer);
    timer = undefined;
    const text = kept;
    kept = '';
    if (text === '' || failure !== undefined) return;
    try {
      attempt(() => writeWhole(descriptor, Buffer.from(text)));
    } catch (error) {
      failure = error as Problem;
      onFailure(failure);
    }
  };
  return {
    write: (text) => {
      kept += text;
      if (kept.length > MOST_KEPT) flush();
      else timer ??= setImmediate(flush);
    },
    close: () => {
      flush();
      closeSync(descriptor);
      return failure === undefined ? Promise.resolve() : Promise.reject(failure);
    },
  };
}

/** The same on standard output. */
export function printTranscript(print: (text: string) => Promise<void>): TranscriptOutput {
  let printed: Promise<void> = Promise.resolve();
  return {
    write: (text) => {
      printed = printed.then(() => print(text));
      // Told when it is closed.
      printed.catch(() => undefined);
    },
    close: () => printed,
  };
}

function writeWhole(descriptor: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length;) at += writeSync(descriptor, bytes, at);
}
