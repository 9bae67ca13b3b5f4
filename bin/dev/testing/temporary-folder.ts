import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';

const folders: string[] = [];
// Not in a hook `after` of the file: it can run too early, during a top-level `await`.
process.once('exit', () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** Creates a folder. It is deleted after the given test, or at the end of the process. */
export function temporaryFolder(t?: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'ib-conformance-'));
  if (t === undefined) folders.push(folder);
  else t.after(() => rmSync(folder, { recursive: true, force: true }));
  const place = (name: string) => join(folder, name);
  return {
    folder,
    /** Returns the path of a file in the folder. */
    place,
    /** Writes a text, bytes, or a value as JSON, to a file in the folder. Returns its path. */
    fileOf: (name: string, content: unknown) => {
      mkdirSync(dirname(place(name)), { recursive: true });
      const isWhole = typeof content === 'string' || content instanceof Uint8Array;
      writeFileSync(place(name), isWhole ? content : JSON.stringify(content));
      return place(name);
    },
  };
}
