import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { decisions } from '../mock/decisions.ts';
import { reports, transcripts } from '../reports/index.ts';
import type { Fixture } from '../schemas/generated/types.ts';
import { exitCodes } from './exit-codes.ts';
import { builtInFixture } from './fixture-file.ts';

const read = (file: string) => readFileSync(new URL(`../${file}`, import.meta.url), 'utf8');
/** White space around table cells is the formatter's. */
const rows = new Set(
  read('README.md')
    .split('\n')
    .map((line) => line.replace(/\s*\|\s*/g, '|').trim()),
);

test('the README lists every decision of the mock', () => {
  for (const { question, answer } of decisions)
    assert.ok(rows.has(`|${question}|${answer}|`), `${question}: ${answer}`);
});

test('the README lists every format of a report', () => {
  for (const [name, { what }] of Object.entries({ ...reports, ...transcripts }))
    assert.ok(rows.has(`|\`${name}\`|${what}|`), `|\`${name}\`|${what}|`);
});

test('the README lists every exit code', () => {
  for (const [code, meaning] of Object.values(exitCodes))
    assert.ok(rows.has(`|${code}|${meaning}|`), String(code));
});

test('the README lists every key and id of the built-in fixture', () => {
  const {
    apiKeys = [],
    users = [],
    deposits = [],
  } = JSON.parse(readFileSync(builtInFixture, 'utf8')) as Fixture;
  const ids = [
    ...apiKeys.map(({ key }) => key),
    ...users.map(({ user_id }) => user_id),
    ...deposits.map(({ reference_id }) => reference_id),
  ];
  for (const id of ids) assert.ok(read('README.md').includes(`\`${id}\``), id);
});

test('CONTRIBUTING gives the reason of every dependency, and of nothing else', () => {
  const { dependencies, devDependencies } = JSON.parse(read('package.json')) as Readonly<
    Partial<Record<'dependencies' | 'devDependencies', Readonly<Record<string, string>>>>
  >;
  assert.equal(dependencies, undefined, 'the package depends on nothing when it is installed');
  const [, part = ''] = /^## Dependencies$(.*?)^## /ms.exec(read('CONTRIBUTING.md')) ?? [];
  const reasons = [...part.matchAll(/^\| (.*?) +\| (.*?) +\|$/gm)].slice(1);
  const named = reasons.flatMap(([, names = '', why = '']) => (why === '' ? [] : names.split(', ')));
  assert.deepEqual(
    named.filter((name) => !/^-+$/.test(name)).toSorted(),
    Object.keys(devDependencies!).toSorted(),
  );
});
