import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../paths.ts';
import type { Block } from './markdown.ts';
import type { Reader } from './reader.ts';

/** How a block is run. */
export interface Runner {
  /** Does with the block what its reader would; fails if that fails. */
  readonly run: (block: Block, reader: Reader) => void | Promise<void>;
  /** A shell command that succeeds if the machine has what the block needs. */
  readonly needs?: string;
}

/** Keeps a run of `verify` short. */
const SHORT = ' --suite valid --cases 2 --no-canary';

/** Stands for the answers of a reader whom `init` asks. */
const ANSWERS =
  ' --yes --force --url http://localhost:8080/gateway --member aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa --executed dddddddd-dddd-4ddd-8ddd-dddddddddddd';

/**
 * Runs the commands of a block, one a line; a mock is started and kept.
 *
 * @param codes their exit codes in order; 0 if there is none
 */
export const commands = (...codes: readonly number[]): Runner => ({
  run: async ({ text }, reader) => {
    for (const [index, written] of text.trim().split('\n').entries()) {
      // By itself curl accepts any answer.
      const line = written.replace(/^curl /, 'curl --fail ');
      const isLong = / verify http/.test(line) && !/ --(?:suite|only|plan)\b/.test(line);
      if (/ib-conformance mock\b/.test(line)) await reader.serve(line);
      else await reader.run(line + (line.endsWith(' init') ? ANSWERS : isLong ? SHORT : ''), codes[index]);
    }
  },
});

/** Writes the block into a file, for what follows. */
export const file = (name: string): Runner => ({
  run: ({ text }, reader) => reader.write(name, reader.placed(text)),
});

/** Writes the block into a file, and runs a command that uses it. */
export const program = (name: string, command: string, needs?: string): Runner => ({
  ...(needs === undefined ? {} : { needs }),
  run: async ({ text }, reader) => {
    reader.write(name, reader.placed(text));
    await reader.run(command);
  },
});

/** The block is an excerpt of a file of this repository. */
export const excerptOf = (name: string): Runner => ({
  run: ({ text }) => assert.ok(readFileSync(join(root, name), 'utf8').includes(text), `${name} differs`),
});

/** The block is what a command prints before it ends with an exit code; text may be left out at an empty line. */
export const outputOf = (command: string, code: number): Runner => ({
  run: async ({ text }, reader) => {
    await reader.run(command, code);
    const printed = reader.last();
    let from = 0;
    for (const part of reader.placed(text).trim().split('\n\n')) {
      from = printed.indexOf(`\n${part}\n`, from);
      assert.notEqual(from, -1, `${command} does not print\n${part}\nbut\n${printed}`);
    }
  },
});

/** The block is the JSON that the last command printed, apart from numbers and times. */
export const answerOfLast: Runner = {
  run: ({ text }, reader) => assert.deepEqual(timeless(reader.last()), timeless(text)),
};

const timeless = (json: string): unknown =>
  JSON.parse(json, (_, value: unknown) =>
    typeof value === 'number' || (typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value))
      ? typeof value
      : value,
  );

/** Every command of the block is run by CI, or by a script that CI runs. */
export const runByCi: Runner = {
  run: ({ text }) => {
    const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
      readonly scripts: Readonly<Record<string, string>>;
    };
    const withScripts = (shell: string): string =>
      shell.replace(/npm (?:run )?([\w:]+)/g, (call, name: string) =>
        Object.hasOwn(scripts, name) ? `${call} ${withScripts(scripts[name]!)}` : call,
      );
    const run = withScripts(readFileSync(join(root, '.ci/run'), 'utf8'));
    for (const command of text.trim().split(/\n| && /)) assert.ok(run.includes(command), command);
  },
};

/** Another check runs the block: the file that does, and a word that shows it. */
export const elsewhere = (check: string, word: string): Runner => ({
  run: () => assert.ok(readFileSync(join(root, check), 'utf8').includes(word), `${check} lacks ${word}`),
});
