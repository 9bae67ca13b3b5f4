import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

const read = (file: string) => readFileSync(new URL(`../${file}`, import.meta.url), 'utf8');

/** Where a version of Node is chosen for somebody. */
const chosen: readonly (readonly [file: string, where: RegExp])[] = [
  ['Dockerfile', /^ARG NODE_VERSION=(\d+)$/m],
  ['action.yml', /^ +node-version: '(\d+)'$/m],
  ['docs/ci.md', /^ +image: node:(\d+)$/m],
];

const { engines } = JSON.parse(read('package.json')) as { readonly engines: { readonly node: string } };
const least = engines.node.replace('>=', '');

for (const [file, where] of chosen)
  test(`${file} chooses a Node that the package runs on`, () => {
    assert.ok(Number(where.exec(read(file))?.[1]) > Number(least.split('.')[0]));
  });

test('the page on CI names the version that is needed, and the one that the action brings', () => {
  const [, brought] = chosen[1]![1].exec(read('action.yml'))!;
  assert.match(read('docs/ci.md'), new RegExp(`Node ${least} or later`));
  assert.match(read('docs/ci.md'), new RegExp(`is replaced by ${brought},`));
});
