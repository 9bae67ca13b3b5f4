import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { readFixture } from '../schemas/read-fixture.ts';
import { excerpt } from './excerpt.ts';
import { builtInFixture } from './fixture-file.ts';
import { generatedFixture } from './fixture/generate.ts';
import { magicLines } from './magic-values.ts';

const generated = (users: number, deposits: number) =>
  readFixture([...generatedFixture({ users, deposits, partners: 3 }, 7)].join(''), 'generated', {});

test('an excerpt of a large fixture is small, and a fixture', () => {
  const part = excerpt(generated(6000, 6000));
  assert.ok(part.users!.length < 2000 && part.deposits!.length < 1100);
  readFixture(JSON.stringify(part), 'excerpt', {});
});

test('it shows every state that the whole shows', () => {
  const shown = (fixture: typeof whole) =>
    magicLines(fixture, 'http://x', false)
      .split('\n')
      .map((line) => line.replace(/curl.*/, ''));
  const whole = generated(3000, 3000);
  assert.deepEqual(shown(excerpt(whole)), shown(whole));
});

test('of a small one it takes all', () => {
  const small = readFixture(readFileSync(builtInFixture, 'utf8'), 'built-in', {});
  const part = excerpt(small);
  assert.deepEqual(new Set(part.users), new Set(small.users));
  assert.deepEqual(part.deposits, small.deposits);
});
