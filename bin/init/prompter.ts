import { isCancel, password, text } from '@clack/prompts';
import { Problem, wrongUsage } from '../../schemas/problem.ts';
import type { Prompter } from '../cli-context.ts';

/** Asks on the terminal. Questions go to standard error; standard output is for results. */
export function terminalPrompter(signal: AbortSignal): Prompter {
  const common = { output: process.stderr, signal };
  return {
    ask: async ({ message, isSecret, problem }) => {
      const validate = (answer = '') => problem(answer.trim());
      const options = { ...common, message, validate };
      const answer = isSecret ? password({ ...options, clearOnError: true }) : text(options);
      return (await answered(answer)).trim();
    },
  };
}

/** @throws Problem with code `interrupted` on Ctrl-C, with code `usage` on Ctrl-D */
async function answered<Answer>(prompt: Promise<Answer>): Promise<Exclude<Answer, symbol>> {
  let onEnd = () => {};
  const ended = new Promise<never>((_, reject) => {
    onEnd = () => reject(wrongUsage('the input ended before all questions were answered'));
  });
  // The promise of the prompt stays pending if its input ends.
  process.once('beforeExit', onEnd);
  try {
    const answer = await Promise.race([prompt, ended]);
    if (isCancel(answer)) throw new Problem('interrupted', 'interrupted: nothing was written');
    return answer as Exclude<Answer, symbol>;
  } finally {
    process.off('beforeExit', onEnd);
  }
}
