import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { root } from '../paths.ts';
import { skipWithout } from '../skip-without.ts';
import type { Reader } from './reader.ts';

/** Checks a code block: runs it as a reader would, or compares it. */
export type Runner = (text: string, reader: Reader, t: TestContext) => void | Promise<void>;

/** Flags for a short run of `verify`. */
export const SHORT = ' --cases 100 --no-canary';

/** Flags instead of answers to the questions of `init`. */
const INIT_ANSWERS =
  ' --yes --force --url http://localhost:8080/gateway --member aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa --executed dddddddd-dddd-4ddd-8ddd-dddddddddddd';

/**
 * Runs the commands of a block, one per line. A mock keeps running.
 *
 * @param codes expected exit codes by line; default 0
 */
export const commands =
  (...codes: readonly number[]): Runner =>
  async (text, reader) => {
    for (const [index, written] of text.trim().split('\n').entries()) {
      // Without --fail, curl succeeds for any status.
      const line = written.replace(/^curl /, 'curl --fail ');
      const isWhole = / verify http/.test(line) && !/ --(?:suite|only|plan)\b/.test(line);
      const isRun = / verify\b/.test(line) && !line.includes(' --plan');
      const flags = (isWhole ? ' --suite valid' : '') + (isRun ? SHORT : '');
      if (/ib-conformance mock\b/.test(line)) await reader.serve(line);
      else await reader.run(line + (line.endsWith(' init') ? INIT_ANSWERS : flags), codes[index]);
    }
  };

/**
 * Writes the block to a file and runs a command that uses it.
 *
 * @param needs a command that fails if the machine lacks a tool
 */
export const file =
  (name: string, command = 'true', needs = 'true'): Runner =>
  async (text, reader, t) => {
    if (!reader.succeeds(needs)) return skipWithout(t, `this works: ${needs}`);
    reader.write(name, reader.withLocalUrls(text));
    await reader.run(command);
  };

/** Checks that a file of this repository contains the block. */
export const excerptOf =
  (name: string): Runner =>
  (text) =>
    assert.ok(readFileSync(join(root, name), 'utf8').includes(text), `${name} differs`);

/** Checks that a command prints the block and exits with 1. Parts may be left out at empty lines. */
export const outputOf =
  (command: string): Runner =>
  async (text, reader, t) => {
    await reader.run(command, 1);
    await lastOutput(text, reader, t);
  };

/** Checks that the last command printed the block. */
export const lastOutput: Runner = (text, reader) => {
  let from = 0;
  for (const part of reader.withLocalUrls(text).trim().split('\n\n')) {
    from = reader.last().indexOf(`\n${part}\n`, from);
    assert.notEqual(from, -1, `this is not printed:\n${part}\nbut\n${reader.last()}`);
  }
};

/** Checks that the last command printed the JSON of the block, except for numbers and times. */
export const lastJson: Runner = (text, reader) =>
  assert.deepEqual(withoutTimes(reader.last()), withoutTimes(text));

const withoutTimes = (json: string): unknown =>
  JSON.parse(json, (_, value: unknown) => {
    const isTime = typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value);
    return typeof value === 'number' || isTime ? typeof value : value;
  });

/** Checks that CI runs every command of the block, directly or by an npm script. */
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

/** Another file checks the block; `word` is a text in that file that proves it. */
export const checkedBy =
  (check: string, word: string): Runner =>
  () =>
    assert.ok(readFileSync(join(root, check), 'utf8').includes(word), `${check} lacks ${word}`);
