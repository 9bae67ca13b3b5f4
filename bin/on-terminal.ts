import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';

/** For tests: a command on a terminal of its own, which `script` (util-linux) makes. */
export interface OnTerminal {
  /** Reads on until a text has come; gives what came before it. Rejects where the command ends first. */
  readonly until: (text: string) => Promise<string>;
  readonly type: (keys: string) => void;
  /** The exit code, with what else was shown. */
  readonly ended: () => Promise<{ readonly code: number | null; readonly shown: string }>;
  readonly end: () => void;
}

/** @param command for the shell */
export function onTerminal(
  command: string,
  options: { readonly cwd: string; readonly env: NodeJS.ProcessEnv },
): OnTerminal {
  const terminal = spawn('script', ['-qec', `stty cols 200 rows 50; exec ${command}`, '/dev/null'], options);
  const chunks = terminal.stdout.setEncoding('utf8')[Symbol.asyncIterator]() as AsyncIterator<string>;
  const exit = once(terminal, 'exit') as Promise<[code: number | null]>;
  let shown = '';
  const isOver = async () => {
    const { value, done } = await chunks.next();
    if (done !== true) shown += value;
    return done === true;
  };
  return {
    until: async (text) => {
      while (!shown.includes(text)) if (await isOver()) throw new Error(`it ended behind: ${shown}`);
      const at = shown.indexOf(text);
      const before = shown.slice(0, at);
      shown = shown.slice(at + text.length);
      return before;
    },
    type: (keys) => void terminal.stdin.write(keys),
    ended: async () => {
      while (!(await isOver()));
      const [code] = await exit;
      return { code, shown };
    },
    end: () => void terminal.kill('SIGKILL'),
  };
}

/** Why something cannot be tried on this machine, told aloud too; false where it can. */
export function missingTools(what: string, ...tools: readonly string[]): string | false {
  const missing = tools.filter((tool) => spawnSync(tool, ['--version']).status !== 0).join(', ');
  if (missing === '') return false;
  process.stderr.write(`\n!!! NOT CHECKED: ${what}, for there is no ${missing} on this machine\n\n`);
  return `there is no ${missing}`;
}
