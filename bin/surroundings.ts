import type { Conversation } from './init/conversation.ts';

/** All that a command sees of the process it runs in. */
export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The config file that is looked for where none is named; none where it is not given. */
  readonly configFile?: string;
  /** Fires when the user or the system asks to stop. */
  readonly signal: AbortSignal;
  /** Standard output; resolves when the text is out. */
  readonly print: (text: string) => Promise<void>;
  /** Ends the process at once, with what waits on standard output: a pipe that nobody reads keeps it for ever. */
  readonly leave?: (exitCode: number) => void;
  readonly writeError: (text: string) => void;
  /** Opens a conversation with the person at the terminal; missing where nobody can be asked. */
  readonly converse?: () => Promise<Conversation>;
  /** Whether a person watches standard error. */
  readonly isTerminal: boolean;
  /** How standard output shows colour and width. */
  readonly terminal: { readonly color: boolean; readonly width: number };
}
