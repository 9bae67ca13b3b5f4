import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { Problem } from '../../schemas/problem.ts';

/** Questions to the person at a terminal. */
export interface Conversation {
  /**
   * Asks, and gives the line that was typed.
   *
   * @param manner `secret` shows nothing of what is typed
   * @throws Problem with code `interrupted` on Ctrl-C, with code `usage` where the input ends
   */
  readonly ask: (question: string, manner?: 'shown' | 'secret') => Promise<string>;
  /** Drops what was pasted ahead: behind a wrong answer it is a line off, and a key would be shown. */
  readonly forget: () => void;
  /** Gives the terminal back. */
  readonly close: () => void;
}

interface Waiting {
  readonly resolve: (line: string) => void;
  readonly reject: (problem: Problem) => void;
}

/**
 * Opens a conversation on a terminal. Nothing is shown but what is typed into a question that shows
 * it: neither a secret nor what is typed or pasted ahead of its question.
 *
 * @param signal ends it, as Ctrl-C does
 */
export function conversation(
  input: NodeJS.ReadableStream,
  output: NodeJS.WritableStream,
  signal: AbortSignal,
): Conversation {
  let isShown = false;
  let waiting: Waiting | undefined;
  let ending: Problem | undefined;
  const ahead: string[] = [];
  const screen = new Writable({
    write: (chunk: Uint8Array, _, done) => {
      if (isShown) output.write(chunk);
      done();
    },
  });
  // Without a history: the arrow keys would bring a secret back.
  const lines = createInterface({ input, output: screen, terminal: true, historySize: 0 });
  const end = (problem: Problem) => {
    ending ??= problem;
    isShown = false;
    if (waiting !== undefined) output.write('\n');
    waiting?.reject(ending);
    waiting = undefined;
  };
  const interrupt = () => end(new Problem('interrupted', 'interrupted: nothing was written'));
  lines.on('SIGINT', interrupt);
  lines.on('close', () => end(new Problem('usage', 'the input ended before all was answered')));
  lines.on('line', (line) => {
    isShown = false;
    if (waiting === undefined) ahead.push(line);
    waiting?.resolve(line);
    waiting = undefined;
  });
  signal.addEventListener('abort', interrupt);

  return {
    ask: async (question, manner = 'shown') => {
      const typed = ahead.shift();
      if (typed !== undefined) {
        output.write(`${question}${manner === 'shown' ? typed : ''}\n`);
        return typed;
      }
      if (ending !== undefined) throw ending;
      const line = new Promise<string>((resolve, reject) => (waiting = { resolve, reject }));
      if (manner === 'secret') output.write(question);
      isShown = manner === 'shown';
      lines.setPrompt(manner === 'shown' ? question : '');
      lines.prompt(true);
      const answer = await line;
      if (manner === 'secret') output.write('\n');
      return answer;
    },
    forget: () => {
      ahead.length = 0;
      lines.write(null, { ctrl: true, name: 'e' });
      lines.write(null, { ctrl: true, name: 'u' });
    },
    close: () => {
      signal.removeEventListener('abort', interrupt);
      lines.close();
    },
  };
}
