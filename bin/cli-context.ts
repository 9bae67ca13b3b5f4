import type { MockData } from '../mock/control/options.ts';
import type { Input } from './input-files.ts';

/** Name of the default config file in the working directory. */
export const CONFIG_FILE = 'ib-conformance.config.json';

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
