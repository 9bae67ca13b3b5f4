import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Problem } from '../../schemas/problem.ts';
import type { Origin, Origins } from './origin.ts';
import { retold } from './retell.ts';

const variable = (name: string, ...texts: readonly string[]): Origin => ({
  kind: 'variable',
  variable: name,
  texts,
});
const inFile = (pointer: string, isList: boolean, ...texts: readonly string[]): Origin => ({
  kind: 'file',
  file: 'c.json',
  pointer,
  isList,
  texts,
});
const origins: Origins = new Map([
  ['cases', variable('IB_CASES', 'abc')],
  ['header', variable('IB_HEADER', 's3cret')],
  ['url', variable('IB_URL', 'nonsense')],
  ['timeout', inFile('/verify/timeout', false, '0')],
  ['suite', inFile('/verify/suite', true, 'auth', 'auht')],
  ['report', inFile('/verify/report', true, 'console', 'json')],
  ['fixture', inFile('/verify/fixture', false, 'f.json')],
]);

describe('a problem with what was not typed names its place', () => {
  const rows: readonly (readonly [said: string, retoldAs: string])[] = [
    ['--cases abc: needs a whole number', 'IB_CASES=abc: needs a whole number'],
    ["--header needs 'name: value' in ASCII", "IB_HEADER needs 'name: value' in ASCII"],
    ['nonsense: is not a URL', 'IB_URL=nonsense: is not a URL'],
    ['--timeout 0: needs a whole number', 'c.json: /verify/timeout: 0: needs a whole number'],
    ['--suite auht: there is no such suite', 'c.json: /verify/suite/1: auht: there is no such suite'],
    ['--report: two reports would be written', 'c.json: /verify/report: two reports would be written'],
    ['--report badge: is of the whole', 'c.json: /verify/report: badge: is of the whole'],
    ['f.json: there is no such file', 'c.json: /verify/fixture: f.json: there is no such file'],
    ['f.json:3:1: is not JSON', 'c.json: /verify/fixture: f.json:3:1: is not JSON'],
    // Others that it speaks of are named behind it, once.
    [
      'loosen --suite, --only or --suite',
      'loosen --suite, --only or --suite (--suite from c.json, /verify/suite)',
    ],
    ['--only x: less than --cases', '--only x: less than --cases (--cases from IB_CASES)'],
    [
      '--cases abc: more than --timeout',
      'IB_CASES=abc: more than --timeout (--timeout from c.json, /verify/timeout)',
    ],
    ['--cases abc: give another --cases', 'IB_CASES=abc: give another --cases'],
    // What was typed, and what only looks alike.
    ['--seed x: needs a whole number', '--seed x: needs a whole number'],
    ['f.jsonl: there is no such file', 'f.jsonl: there is no such file'],
    // A file with several problems names itself in each line.
    ['f.json: users[0]\nf.json: users[1]', 'f.json: users[0]\nf.json: users[1]'],
  ];
  for (const [said, expected] of rows)
    test(said, () => {
      const told = retold(new Problem('usage', said), origins);
      assert.ok(told instanceof Problem && told.code === 'usage');
      assert.equal(told.message, expected);
    });
});

test('what is no problem with a value stays as it is', () => {
  for (const error of [new Error('--cases abc: a bug'), new Problem('unreachable', 'nonsense: is not there')])
    assert.equal(retold(error, origins), error);
});
