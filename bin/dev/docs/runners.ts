import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { root } from '../paths.ts';
import { skipWithout } from '../skip-without.ts';
import type { Reader } from './reader.ts';

/** Does with the text of a block what its reader would; fails if that fails. */
export type Runner = (text: string, reader: Reader, t: TestContext) => void | Promise<void>;

/** Keeps a run of `verify` short: `npm test` and `test:package` have long ones. */
export const SHORT = ' --cases 100 --no-canary';

/** Stands for the answers of a reader whom `init` asks. */
const ANSWERS =
  ' --yes --force --url http://localhost:8080/gateway --member aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa --executed dddddddd-dddd-4ddd-8ddd-dddddddddddd';

/**
 * Runs the commands of a block, one a line; a mock is started and kept.
 *
 * @param codes their exit codes in order; 0 if there is none
 */
export const commands =
  (...codes: readonly number[]): Runner =>
  async (text, reader) => {
    for (const [index, written] of text.trim().split('\n').entries()) {
      // By itself curl accepts any answer.
      const line = written.replace(/^curl /, 'curl --fail ');
      const isWhole = / verify http/.test(line) && !/ --(?:suite|only|plan)\b/.test(line);
      const isRun = / verify\b/.test(line) && !line.includes(' --plan');
      const flags = (isWhole ? ' --suite valid' : '') + (isRun ? SHORT : '');
      if (/ib-conformance mock\b/.test(line)) await reader.serve(line);
      else await reader.run(line + (line.endsWith(' init') ? ANSWERS : flags), codes[index]);
    }
  };

/**
 * Writes the block into a file, and runs a command that uses it.
 *
 * @param needs a command that succeeds if the machine has what the block needs
 */
export const program =
  (name: string, command = 'true', needs = 'true'): Runner =>
  async (text, reader, t) => {
    if (!reader.works(needs)) return skipWithout(t, `this works: ${needs}`);
    reader.write(name, reader.placed(text));
    await reader.run(command);
  };

/** The block is an excerpt of a file of this repository. */
export const excerptOf =
  (name: string): Runner =>
  (text) =>
    assert.ok(readFileSync(join(root, name), 'utf8').includes(text), `${name} differs`);

/** The block is what a command prints before it ends with 1; text may be left out at an empty line. */
export const outputOf =
  (command: string): Runner =>
  async (text, reader, t) => {
    await reader.run(command, 1);
    await outputOfLast(text, reader, t);
  };

/** The same of the last command. */
export const outputOfLast: Runner = (text, reader) => {
  let from = 0;
  for (const part of reader.placed(text).trim().split('\n\n')) {
    from = reader.last().indexOf(`\n${part}\n`, from);
    assert.notEqual(from, -1, `this is not printed:\n${part}\nbut\n${reader.last()}`);
  }
};

/** The block is the JSON that the last command printed, apart from numbers and times. */
export const answerOfLast: Runner = (text, reader) =>
  assert.deepEqual(timeless(reader.last()), timeless(text));

const timeless = (json: string): unknown =>
  JSON.parse(json, (_, value: unknown) => {
    const isTime = typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value);
    return typeof value === 'number' || isTime ? typeof value : value;
  });

/** Every command of the block is run by CI, or by a script that CI runs. */
export const runByCi: Runner = (text) => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    readonly scripts: Readonly<Record<string, string>>;
  };
  const withScripts = (shell: string): string =>
    shell.replace(/npm (?:run )?([\w:]+)/g, (call, name: string) =>
      Object.hasOwn(scripts, name) ? `${call} ${withScripts(scripts[name]!)}` : call,
    );
  const run = withScripts(readFileSync(join(root, '.ci/run'), 'utf8'));
  for (const command of text.trim().split(/\n| && /)) assert.ok(run.includes(command), command);
};

/** Another check runs the block: the file that does, and a word that shows it. */
export const elsewhere =
  (check: string, word: string): Runner =>
  () =>
    assert.ok(readFileSync(join(root, check), 'utf8').includes(word), `${check} lacks ${word}`);
