/** The config file that is read from the working directory. */
export const CONFIG_FILE = 'ib-conformance.config.json';

/** What a command knows of the process that it runs in. Tests give their own. */
export interface CliContext {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The config file that is read unless --config names another one. */
  readonly configFile?: string;
  /** Fires when the user or the system asks for an end. */
  readonly signal: AbortSignal;
  /** Writes to standard output; resolves when the text is written. */
  readonly print: (text: string) => Promise<void>;
  /** Ends the process at once, also when a pipe that nobody reads still holds output. */
  readonly leave?: (exitCode: number) => void;
  readonly writeError: (text: string) => void;
  /** Asks the person at the terminal; missing if there is nobody to ask. */
  readonly prompter?: () => Promise<Prompter>;
  /** Makes the script of `completion` for a shell. The command line gives it to each command. */
  readonly completionScript?: (shell: string) => string;
  readonly isTerminal: boolean;
  readonly terminal: { readonly color: boolean; readonly width: number };
}

export interface Prompter {
  /** Asks until the answer has no problem. @throws Problem with code `interrupted` on Ctrl-C */
  readonly ask: (question: {
    readonly message: string;
    readonly isSecret: boolean;
    readonly problem: (answer: string) => string | undefined;
  }) => Promise<string>;
  readonly confirm: (message: string) => Promise<boolean>;
}
