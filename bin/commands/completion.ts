import { command } from './command.ts';

export const completion = command({
  usage: 'completion [shell]',
  what: 'print the script with which a shell completes command lines',
  positionals: {
    shell: {
      type: 'string',
      choices: ['bash', 'zsh', 'fish'],
      describe: 'the shell (default: that of $SHELL)',
    },
  },
  examples: [
    ['eval "$($0 completion bash)"', 'in ~/.bashrc'],
    ['eval "$($0 completion zsh)"', 'in ~/.zshrc, behind compinit'],
    ['$0 completion fish | source', 'in ~/.config/fish/config.fish'],
  ],
  run: async ({ shell }, { env, print }) => {
    const { completionScript } = await import('../completion/scripts.ts');
    await print(await completionScript(shell, env['SHELL']));
    return 0;
  },
});
