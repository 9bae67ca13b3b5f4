import { statSync, type Stats } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import type { MockData } from '../mock/control/options.ts';
import type { Input } from './input-files.ts';

/** Name of the default config file. */
export const CONFIG_FILE = 'ib-conformance.config.json';

/**
 * Returns the path of the config file in the working directory, or of the nearest one above, up to the root of the
 * repository. Outside a repository, others may own the folders above.
 */
export function findConfig(): string {
  const folders: [string, ...string[]] = [resolve()];
  while (statOf(join(folders[0], '.git')) === undefined) {
    const above = dirname(folders[0]);
    if (above === folders[0]) return CONFIG_FILE;
    folders.unshift(above);
  }
  const found = folders
    .map((folder) => join(folder, CONFIG_FILE))
    .findLast((file) => statOf(file) !== undefined);
  return found === undefined ? CONFIG_FILE : relative('', found);
}

/** Returns what a file is. One that may not be looked at, by Node's permission model, is not there. */
export function statOf(file: string): Stats | undefined {
  try {
    return statSync(file, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

/** The process that a command runs in. Tests pass their own. */
export interface CliContext extends Input {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The config file, unless --config names another one. */
  readonly configFile?: string;
  /** Time of the mocks that `sweep` starts. Default: the machine's. */
  readonly clock?: MockData['clock'];
  /** Aborts when the user or the system wants to stop the process. */
  readonly signal: AbortSignal;
  /** Writes to standard output; resolves after the text is written. */
  readonly print: (text: string) => Promise<void>;
  /** Ends the process at once, even with unread output in a pipe. */
  readonly leave?: (exitCode: number) => void;
  readonly writeError: (text: string) => void;
  /** Asks questions at the terminal; undefined without a terminal. */
  readonly prompter?: () => Promise<Prompter>;
  readonly isTerminal: boolean;
  readonly terminal: { readonly color: boolean; readonly width: number };
}

export interface Prompter {
  /** Repeats a question until its answer is valid. @throws Problem with code `interrupted` on Ctrl-C */
  readonly ask: (question: {
    readonly message: string;
    readonly isSecret: boolean;
    readonly problem: (answer: string) => string | undefined;
  }) => Promise<string>;
}
