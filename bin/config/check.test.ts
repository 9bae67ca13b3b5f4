import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import * as fc from 'fast-check';
import { commands } from '../commands/index.ts';
import { problemsOf } from './check.ts';
import { configSchema } from './schema.ts';
import { sectionsOf } from './sections.ts';

const sections = sectionsOf(commands);
const problems = (value: unknown) => problemsOf(value, sections);

test('a good config, and an empty one, have no problem', () => {
  assert.deepEqual(problems({}), []);
  assert.deepEqual(
    problems({
      $schema: 'anything',
      verify: { url: 'http://x', cases: 20, suite: ['auth'], strict: true, rate: 0.5 },
      mock: { port: 0, limits: 'off', chaos: ['500:0.1'] },
    }),
    [],
  );
});

describe('a config with a problem', () => {
  /** JSON text, and what is said of it. */
  const bad: Readonly<Record<string, RegExp>> = {
    '[]': /^needs an object, with the name of a command as key$/,
    null: /^needs an object/,
    '{"$schema": 1}': /^\/\$schema: needs a text$/,
    '{"verfy": {}}': /^\/verfy: is no command that takes a config; did you mean verify\?$/,
    '{"doctor": {}}': /^\/doctor: is no command that takes a config \(known: verify, mock\)$/,
    '{"constructor": {}}': /^\/constructor: is no command/,
    '{"verify": []}': /^\/verify: needs an object, with flags as keys$/,
    '{"verify": null}': /^\/verify: needs an object/,
    '{"verify": {"casse": 1}}': /^\/verify\/casse: is no flag; did you mean cases\?$/,
    '{"verify": {"stateUrl": "x"}}': /^\/verify\/stateUrl: is no flag; did you mean state-url\?$/,
    '{"verify": {"--cases": 1}}': /^\/verify\/--cases: is no flag; did you mean cases\?$/,
    '{"verify": {"port": 1}}': /^\/verify\/port: is no flag/,
    '{"verify": {"__proto__": 1}}': /^\/verify\/__proto__: is no flag \(known: url, fixture, /,
    '{"verify": {"a/b~c\\u001b": 1}}': /^\/verify\/a~1b~0c\\u\{1b\}: is no flag/,
    '{"verify": {"plan": true}}': /^\/verify\/plan: is of one run: type --plan$/,
    '{"verify": {"update-baseline": true}}': /^\/verify\/update-baseline: is of one run/,
    '{"verify": {"replay": "3"}}': /^\/verify\/replay: is of one run/,
    '{"verify": {"config": "x"}}': /^\/verify\/config: does not stand in a file/,
    '{"mock": {"admin-token": "s3cret"}}':
      /^\/mock\/admin-token: does not stand in a file: type --admin-token, or set IB_ADMIN_TOKEN$/,
    '{"verify": {"cases": "20"}}': /^\/verify\/cases: needs a number, without quotes$/,
    '{"verify": {"strict": "true"}}': /^\/verify\/strict: needs true or false$/,
    '{"verify": {"suite": "auth"}}':
      /^\/verify\/suite: needs a list of texts without control characters, in brackets$/,
    '{"verify": {"suite": [""]}}': /^\/verify\/suite: needs a list of texts/,
    '{"verify": {"fixture": 1}}': /^\/verify\/fixture: needs a text without control characters$/,
    '{"verify": {"url": ""}}': /^\/verify\/url: needs a text without control characters$/,
    '{"verify": {"partner": "\\u001b[31m"}}': /^\/verify\/partner: needs a text without control/,
    '{"mock": {"scorecard": ["json=\\u0000"]}}': /^\/mock\/scorecard: needs a list of texts without control/,
    '{"mock": {"limits": "perhaps"}}': /^\/mock\/limits: needs one of on, off$/,
  };
  for (const [text, says] of Object.entries(bad))
    test(text, () => {
      const found = problems(JSON.parse(text));
      assert.equal(found.length, 1);
      assert.match(found[0]!, says);
      assert.doesNotMatch(found[0]!, /s3cret|\p{C}/u);
    });

  test('with several, names them all', () =>
    assert.equal(problems({ verify: { casse: 1, cases: '1' }, mock: { prot: 1 } }).length, 3));
});

test('the schema refuses what is refused, and nothing else', () => {
  const validate = new Ajv2020({ strict: true }).compile(configSchema(sections));
  const value = fc.oneof(
    fc.constantFrom<unknown>(
      1,
      0.5,
      true,
      '',
      'text',
      'te\0xt',
      'on',
      'real',
      [],
      ['a'],
      [''],
      ['\n'],
      [1],
      null,
      {},
    ),
    fc.jsonValue({ maxDepth: 1 }),
  );
  const names = Object.values(sections).flatMap((section) => Object.keys(section));
  const part = fc.oneof(
    { weight: 9, arbitrary: fc.dictionary(fc.constantFrom(...names, 'casse'), value, { maxKeys: 2 }) },
    { weight: 1, arbitrary: value },
  );
  const config = fc.dictionary(fc.constantFrom(...Object.keys(sections), '$schema', 'doctor'), part, {
    maxKeys: 2,
  });
  const seen = { good: 0, bad: 0 };
  fc.assert(
    fc.property(config, (one) => {
      const isGood = problems(one).length === 0;
      seen[isGood ? 'good' : 'bad'] += 1;
      assert.equal(validate(one), isGood, JSON.stringify(validate.errors));
    }),
    { seed: 7, numRuns: 3000 },
  );
  assert.ok(seen.good > 300 && seen.bad > 300, JSON.stringify(seen));
});
