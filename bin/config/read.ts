import { lstat, readFile } from 'node:fs/promises';
import { collectProblems } from '../../schemas/problem.ts';
import { Problem } from '../../schemas/problem.ts';
import { problemsOf, type Contents } from './check.ts';
import type { Sections } from './sections.ts';

/** A config file as it was read. */
export interface Config {
  /** How messages name it, and where its relative paths start from. */
  readonly file: string;
  readonly contents: Contents;
}

/**
 * Reads a config file.
 *
 * @param mayBeMissing whether nothing is said of one that there is not
 * @throws Problem with code `usage`, a line for each problem with its place in the file
 */
export async function readConfig(
  file: string,
  sections: Sections,
  mayBeMissing: boolean,
): Promise<Config | undefined> {
  const text = await textOf(file, mayBeMissing);
  if (text === undefined) return undefined;
  const { parseJson } = await import('../../schemas/json.ts');
  const value = parseJson(text, file, 'usage');
  const problems = collectProblems(file, 'usage');
  problems.add(problemsOf(value, sections));
  problems.throwIfAny();
  const { membersTwice } = await import('./members-twice.ts');
  problems.add(membersTwice(text));
  problems.throwIfAny();
  return { file, contents: value as Contents };
}

async function textOf(file: string, mayBeMissing: boolean): Promise<string | undefined> {
  try {
    return (await readFile(file, 'utf8')).replace(/^\uFEFF/, '');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' && mayBeMissing && !(await isLink(file))) return undefined;
    const missing = mayBeMissing ? 'is a link that leads to no file' : 'there is no such file';
    const why = code === 'ENOENT' ? missing : `cannot be read (${code})`;
    throw new Problem('usage', `${mayBeMissing ? file : `--config ${file}`}: ${why}`);
  }
}

/** Whether there is something all the same: a link that leads nowhere was meant to say something. */
const isLink = (file: string) =>
  lstat(file).then(
    () => true,
    () => false,
  );
