import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { root } from '../package/paths.ts';
import { enginesOf, versions } from './versions.ts';

const tested = Object.keys(versions);
const { engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  readonly engines: { readonly node: string };
};

test('each line of versions is let in from its first tested one on, later lines too', () => {
  assert.equal(enginesOf(['20.20.0']), '>=20.20.0');
  assert.equal(enginesOf(['20.20.0', '22.12.0', '22.20.1', '30.0.0']), '^20.20.0 || ^22.12.0 || >=30.0.0');
});

test('engines says what is tested', () => assert.equal(engines.node, enginesOf(tested)));

test('the action takes a Node that engines lets in, and no other', () => {
  const takes = (...version: readonly string[]) =>
    spawnSync(process.execPath, [join(root, 'action/node-version.mjs'), ...version]).status;
  assert.equal(takes(), 0, 'this one');
  for (const version of [...tested, process.versions.node, '22.12.1', '22.13.0', '27.0.0'])
    assert.equal(takes(version), 0, version);
  for (const version of ['18.20.8', '20.19.9', '21.7.3', '22.11.1', '23.11.1', '25.9.0'])
    assert.equal(takes(version), 1, version);
});
