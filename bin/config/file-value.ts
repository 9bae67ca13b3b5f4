import { dirname, isAbsolute, join } from 'node:path';
import type { Flag } from '../commands/command.ts';
import { variableReference, type Environment } from '../../schemas/fixture-keys.ts';
import { Problem } from '../../schemas/problem.ts';
import type { Given } from './kinds.ts';

/**
 * A value of a config file as it would be typed: relative paths start from the folder of the file,
 * `${NAME}` in a header field is read from the environment.
 *
 * @param value one that fits the flag
 * @param file the config file
 * @param pointer where in it the value stands
 * @throws Problem with code `usage` for a variable that is not set
 */
export function fileValue(
  flag: Flag,
  value: unknown,
  { file, pointer, env }: { readonly file: string; readonly pointer: string; readonly env: Environment },
): Given {
  if (typeof value === 'boolean') return value;
  const asTyped = (text: string, place: string) =>
    flag.isHeader === true ? expanded(text, `${file}: ${place}`, env) : located(text, flag, dirname(file));
  return Array.isArray(value)
    ? value.map((one: string, index) => asTyped(one, `${pointer}/${index}`))
    : asTyped(String(value), pointer);
}

function located(text: string, { names }: Flag, folder: string): string {
  if (names === undefined) return text;
  const start = names === 'file' ? 0 : text.indexOf('=') + 1;
  const name = text.slice(start);
  const isElsewhere = name === '' || isAbsolute(name) || (names === 'format=file' && start === 0);
  return isElsewhere ? text : `${text.slice(0, start)}${join(folder, name)}`;
}

function expanded(text: string, where: string, env: Environment): string {
  return text.replace(variableReference, (_, name: string) => {
    const value = env[name] ?? '';
    if (value === '')
      throw new Problem(
        'usage',
        `${where}: needs the environment variable ${name}, which is not set: export ${name}=…`,
      );
    return value;
  });
}
