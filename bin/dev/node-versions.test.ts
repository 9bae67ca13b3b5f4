import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { root } from './paths.ts';

const read = (file: string) => readFileSync(join(root, file), 'utf8');
const { engines } = JSON.parse(read('package.json')) as { readonly engines: { readonly node: string } };

const isAccepted = (...version: readonly string[]) =>
  spawnSync(process.execPath, [join(root, 'action/node-version.mjs'), ...version]).status === 0;

test('the action accepts the versions in engines, and later ones of the same lines', () => {
  assert.ok(isAccepted(), 'this Node');
  const lowest = [...engines.node.matchAll(/\d+\.\d+\.\d+/g)].map(([version]) => version);
  assert.equal(lowest.length, 4);
  for (const version of [...lowest, process.versions.node, '22.12.1', '22.13.0', '27.0.0'])
    assert.ok(isAccepted(version), version);
  for (const version of ['18.20.8', '20.19.9', '21.7.3', '22.11.1', '23.11.1', '25.9.0'])
    assert.ok(!isAccepted(version), version);
});

test('engines accepts the Node versions of the Dockerfile, the action and docs/ci.md', () => {
  const chosen = {
    Dockerfile: /^ARG BASE=.*node:(\d+)-/m,
    'action.yml': /^ +node-version: '(\d+)'$/m,
    'docs/ci.md': /^ +image: node:(\d+)$/m,
  };
  for (const [file, pattern] of Object.entries(chosen)) {
    const [, major] = pattern.exec(read(file)) ?? assert.fail(`${file} chooses none`);
    assert.ok(isAccepted(`${major}.99.0`), file);
  }
});

test('the docs name the versions in engines', () => {
  const firsts = [...engines.node.matchAll(/\d+\.\d+/g)].map(([version]) => version.replace('.0', ''));
  const words = `Node ${firsts.slice(0, -1).join(', ')} or ${firsts.at(-1)}, or newer`;
  for (const page of ['README.md', 'docs/verify.md', 'docs/ci.md'])
    assert.ok(read(page).replace(/\s+/g, ' ').includes(words), `${page}: ${words}`);
});
