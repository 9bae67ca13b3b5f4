import { command, type Flag } from './command.ts';

const shells = ['bash', 'zsh'] as const;

export const completion = command({
  usage: 'completion [shell]',
  what: 'print the completion script for your shell',
  positionals: {
    shell: { type: 'string', choices: shells, describe: 'the shell (default: that of $SHELL)' },
  },
  examples: [
    ['eval "$($0 completion bash)"', 'in ~/.bashrc'],
    ['eval "$($0 completion zsh)"', 'in ~/.zshrc, after compinit'],
  ],
  run: async ({ shell }, { env, print, completionScript }) => {
    const isZsh = env['SHELL']?.endsWith('zsh') === true;
    await print(completionScript!(shell ?? (isZsh ? 'zsh' : 'bash')));
    return 0;
  },
});

/** Returns the possible values of a flag; empty if they are unknown. */
export async function completionsOf({ choices, completions = [] }: Flag): Promise<readonly string[]> {
  if (choices !== undefined) return choices;
  return typeof completions === 'string' ? registries[completions]() : completions;
}

const registries: Readonly<Record<Flag['completions'] & string, () => Promise<readonly string[]>>> = {
  requirements: async () => (await import('../../suites/index.ts')).catalogue.map(({ id }) => id),
  suites: async () => Object.keys((await import('../../suites/index.ts')).suites),
  faults: async () => ['list', ...Object.keys((await import('../../mock/faults.ts')).faults)],
  rules: async () => (await import('../sweep/rule-table.ts')).rules.map(({ id }) => id),
  states: async () => [...(await import('../sweep/states.ts')).states.keys()],
  variants: async () => ['list', ...Object.keys((await import('../../mock/variants.ts')).variants)],
};
