import { readFile } from 'node:fs/promises';
import { collectProblems } from '../../schemas/fixture-problems.ts';
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
  const { parseJson } = await import('../../schemas/parse-json.ts');
  const value = parseJson(text.replace(/^\uFEFF/, ''), file, 'usage');
  const problems = collectProblems(file, 'usage');
  problems.add(problemsOf(value, sections));
  problems.throwIfAny();
  return { file, contents: value as Contents };
}

async function textOf(file: string, mayBeMissing: boolean): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' && mayBeMissing) return undefined;
    const why = code === 'ENOENT' ? 'there is no such file' : `cannot be read (${code})`;
    throw new Problem('usage', `${mayBeMissing ? file : `--config ${file}`}: ${why}`);
  }
}
