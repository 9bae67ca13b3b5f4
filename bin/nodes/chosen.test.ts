import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { root } from '../package/paths.ts';
import { enginesOf, versions } from './versions.ts';

const read = (file: string) => readFileSync(join(root, file), 'utf8');
/** The first version of each line that is let in, as people write it: 20.20, 24. */
const firsts = enginesOf(Object.keys(versions))
  .split(' || ')
  .map((range) => range.replace(/^\D+/, '').replace(/(?:\.0)+$/, ''));

/** Where a version of Node is chosen for somebody. */
const chosen: Readonly<Record<string, RegExp>> = {
  Dockerfile: /^ARG NODE_VERSION=(\d+)$/m,
  'action.yml': /^ +node-version: '(\d+)'$/m,
  'docs/ci.md': /^ +image: node:(\d+)$/m,
};

for (const [file, where] of Object.entries(chosen))
  test(`${file} chooses a Node that the package runs on`, () => {
    const [, major] = where.exec(read(file))!;
    assert.ok(firsts.some((first) => first.split('.')[0] === major));
  });

for (const page of ['README.md', 'docs/verify.md', 'docs/ci.md'])
  test(`${page} names the versions that it takes`, () => {
    const words = `Node ${firsts.slice(0, -1).join(', ')} or ${firsts.at(-1)}, or a later one of these`;
    assert.ok(read(page).replace(/\s+/g, ' ').includes(words), words);
  });

test('the page on CI names the version that the action brings', () => {
  const [, brought] = chosen['action.yml']!.exec(read('action.yml'))!;
  assert.match(read('docs/ci.md'), new RegExp(`is replaced by ${brought},`));
});
