import { readFile } from 'node:fs/promises';
import { Problem } from '../../schemas/problem.ts';

const files = {
  bash: new URL('ib-conformance.bash', import.meta.url),
  zsh: new URL('ib-conformance.zsh', import.meta.url),
  fish: new URL('ib-conformance.fish', import.meta.url),
} as const;

/**
 * The script that completes command lines in a shell.
 *
 * @param shell its name; without one, that of the user's
 * @param usual path of the user's shell, as `SHELL` has it
 * @throws Problem with code `usage` where that is none of those that there are scripts for
 */
export async function completionScript(
  shell: string | undefined,
  usual: string | undefined,
): Promise<string> {
  const name = shell ?? usual?.split('/').at(-1) ?? '';
  if (!Object.hasOwn(files, name))
    throw new Problem(
      'usage',
      `which shell? Name one of ${Object.keys(files).join(', ')}${usual === undefined ? '' : `; $SHELL is ${usual}`}`,
    );
  return readFile(files[name as keyof typeof files], 'utf8');
}
