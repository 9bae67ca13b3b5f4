import { confirm, isCancel, password, text } from '@clack/prompts';
import { Problem } from '../../schemas/problem.ts';
import type { Prompter } from '../cli-context.ts';

/** Asks on the terminal. Standard output stays free for results, so questions go to standard error. */
export function terminalPrompter(signal: AbortSignal): Prompter {
  const common = { output: process.stderr, signal };
  return {
    ask: async ({ message, isSecret, problem }) => {
      const validate = (answer = '') => problem(answer.trim());
      const options = { ...common, message, validate };
      return unlessCancelled(
        await (isSecret ? password({ ...options, clearOnError: true }) : text(options)),
      ).trim();
    },
    confirm: async (message) => unlessCancelled(await confirm({ ...common, message, initialValue: false })),
  };
}

function unlessCancelled<Answer>(answer: Answer): Exclude<Answer, symbol> {
  if (isCancel(answer)) throw new Problem('interrupted', 'interrupted: nothing was written');
  return answer as Exclude<Answer, symbol>;
}
