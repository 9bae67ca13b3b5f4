import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../dev/paths.ts';
import type { Block } from './markdown.ts';
import type { Workshop } from './workshop.ts';

/** How a block is run. */
export interface Runner {
  /** Does with the block what its reader would; fails where that fails. */
  readonly run: (block: Block, workshop: Workshop) => Promise<void>;
  /** A shell command that succeeds where there is what it takes. */
  readonly needs?: string;
}

/** What keeps a run of `verify` short where the page means a whole one. */
const SHORT = ' --suite valid --cases 2 --no-canary';

/** What stands for the answers of a reader whom `init` asks. */
const ANSWERS =
  ' --yes --force --url http://localhost:8080/gateway --member aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa --executed dddddddd-dddd-4ddd-8ddd-dddddddddddd';

/**
 * Runs the commands of a block, a line each; a mock is started and kept.
 *
 * @param codes how they end, in their order; 0 where nothing is said
 */
export const commands = (...codes: readonly number[]): Runner => ({
  run: async ({ text }, workshop) => {
    for (const [index, written] of text.trim().split('\n').entries()) {
      // By itself curl is content with any answer.
      const line = written.replace(/^curl /, 'curl --fail ');
      if (/ib-conformance mock\b/.test(line)) await workshop.serve(line);
      else {
        const isAsked = line.endsWith(' init');
        const isWhole = / verify http/.test(line) && !/ --(?:suite|only|plan)\b/.test(line);
        const { code, printed, complaint } = await workshop.run(
          isAsked ? line + ANSWERS : isWhole ? line + SHORT : line,
        );
        assert.equal(code, codes[index] ?? 0, `${line}\n${printed}${complaint}`);
      }
    }
  },
});

/** Writes the block into a file, for what follows. */
export const file = (name: string): Runner => ({
  run: async ({ text }, workshop) => workshop.write(name, workshop.placed(text)),
});

/** Writes the block into a file, and runs a command that uses it. */
export const program = (name: string, command: string, needs?: string): Runner => ({
  ...(needs === undefined ? {} : { needs }),
  run: async (block, workshop) => {
    await file(name).run(block, workshop);
    const { code, printed, complaint } = await workshop.run(command);
    assert.equal(code, 0, `${command}\n${printed}${complaint}`);
  },
});

/** The block is what a file of this repository says, word for word. */
export const excerptOf = (name: string): Runner => ({
  run: async ({ text }) =>
    assert.ok(readFileSync(join(root, name), 'utf8').includes(text), `${name} says it in another way`),
});

/** The block is what a command prints that ends with an exit code; at an empty line it may leave something out. */
export const outputOf = (command: string, expected: number): Runner => ({
  run: async ({ text }, workshop) => {
    const { code, printed, complaint } = await workshop.run(command);
    assert.equal(code, expected, complaint);
    let from = 0;
    for (const part of workshop.placed(text).trim().split('\n\n')) {
      from = printed.indexOf(`\n${part}\n`, from);
      assert.notEqual(from, -1, `${command} does not print\n${part}\nbut\n${printed}`);
    }
  },
});

/** The block is the JSON that the last command printed, but for its numbers and times. */
export const answerOfLast: Runner = {
  run: async ({ text }, workshop) => assert.deepEqual(timeless(workshop.last()), timeless(text)),
};

const timeless = (json: string): unknown =>
  JSON.parse(json, (_, value: unknown) =>
    typeof value === 'number' || (typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value))
      ? typeof value
      : value,
  );

/** Every command of the block is run by CI, or by a script that CI runs. */
export const runByCi: Runner = {
  run: async ({ text }) => {
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
  run: async () =>
    assert.ok(readFileSync(join(root, check), 'utf8').includes(word), `${check} lacks ${word}`),
});
