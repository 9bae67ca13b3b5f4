import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { doctor } from '../commands/doctor.ts';
import { healthcheck } from '../commands/healthcheck.ts';
import { mock } from '../commands/mock.ts';
import { verify } from '../commands/verify.ts';
import { noteOf } from './origin.ts';
import { settle } from './settle.ts';

const configOf = (contents: Record<string, Record<string, unknown>>, file = 'folder/c.json') => ({
  file,
  contents,
});

/** What one flag of verify comes to, and what is said of where it came from. */
function settled(
  name: string,
  typed: Record<string, unknown>,
  env: Record<string, string>,
  verifySection: Record<string, unknown> = {},
) {
  const { values, origins } = settle(verify, typed, env, configOf({ verify: verifySection }));
  return [values[name], origins.size === 0 ? '' : noteOf(origins)];
}

describe('what is typed comes before a variable, that before the file, and that before the default', () => {
  const rows = [
    [{ cases: '1' }, { IB_CASES: '2' }, { cases: 3 }, '1', ''],
    [{}, { IB_CASES: '2' }, { cases: 3 }, '2', 'config: cases from IB_CASES\n'],
    [{}, {}, { cases: 3 }, '3', 'config: cases from folder/c.json\n'],
    [{}, {}, {}, '100', ''],
  ] as const;
  for (const [typed, env, file, value, note] of rows)
    test(value, () => assert.deepEqual(settled('cases', typed, env, file), [value, note]));

  test('also where what is typed is the default, or false, or empty', () => {
    assert.deepEqual(settled('cases', { cases: '100' }, { IB_CASES: '2' }, { cases: 3 }), ['100', '']);
    assert.deepEqual(settled('strict', { strict: false }, { IB_STRICT: 'true' }, { strict: true }), [
      false,
      '',
    ]);
    assert.deepEqual(settled('url', { url: '' }, { IB_URL: 'http://x' }, { url: 'http://y' }), ['', '']);
  });

  test('and lists are not joined', () => {
    const typed = { suite: ['auth'] };
    assert.deepEqual(settled('suite', typed, { IB_SUITE: 'valid' }, { suite: ['pending'] })[0], ['auth']);
    assert.deepEqual(settled('suite', {}, { IB_SUITE: 'valid' }, { suite: ['pending'] })[0], ['valid']);
  });
});

describe('a variable', () => {
  const good: readonly (readonly [flag: string, variable: string, text: string, value: unknown])[] = [
    ['url', 'IB_URL', 'http://x', 'http://x'],
    ['stateUrl', 'IB_STATE_URL', 'http://x', 'http://x'],
    ['maxDuration', 'IB_MAX_DURATION', '90s', '90s'],
    ['fixture', 'IB_FIXTURE', 'f.json', 'f.json'],
    ['strict', 'IB_STRICT', 'true', true],
    ['strict', 'IB_STRICT', '1', true],
    ['strict', 'IB_STRICT', 'false', false],
    ['strict', 'IB_STRICT', '0', false],
    ['suite', 'IB_SUITE', 'auth', ['auth']],
    ['suite', 'IB_SUITE', 'auth, valid\npending\n', ['auth', 'valid', 'pending']],
    ['header', 'IB_HEADER', 'accept: a, b\nx: ${NAME}', ['accept: a, b', 'x: ${NAME}']],
    ['report', 'IB_REPORT', 'console,json=a.json', ['console', 'json=a.json']],
    // One that is empty says nothing.
    ['fixture', 'IB_FIXTURE', '', undefined],
    ['strict', 'IB_STRICT', '', false],
    ['suite', 'IB_SUITE', '', []],
  ];
  for (const [flag, variable, text, value] of good)
    test(`${variable}=${JSON.stringify(text)}`, () =>
      assert.deepEqual(settled(flag, {}, { [variable]: text })[0], value));

  const bad = [
    [verify, 'IB_STRICT', 'yes', 'IB_STRICT=yes: needs true or false'],
    [verify, 'IB_STRICT', 'constructor', 'IB_STRICT=constructor: needs true or false'],
    [mock, 'IB_LIMITS', 'perhaps', 'IB_LIMITS=perhaps: needs one of on, off'],
    [verify, 'IB_URL', '', 'IB_URL is empty: give it a value, or unset it'],
    [verify, 'IB_PLAN', '1', 'IB_PLAN: --plan is of one run: type it, and unset the variable'],
    [verify, 'IB_REPLAY', '3:0', 'IB_REPLAY: --replay is of one run: type it, and unset the variable'],
  ] as const;
  for (const [command, variable, text, message] of bad)
    test(`${variable}=${text} is refused`, () =>
      assert.throws(() => settle(command, {}, { [variable]: text }), { code: 'usage', message }));

  test('of a choice is one of them', () =>
    assert.equal(settle(mock, {}, { IB_LIMITS: 'off' }).values['limits'], 'off'));

  test('may hold a secret', () =>
    assert.equal(settle(mock, {}, { IB_ADMIN_TOKEN: 't0' }).values['adminToken'], 't0'));

  test('that Kubernetes sets says nothing of a port', () => {
    const env = { IB_PORT: 'tcp://10.0.0.1:80', IB_ADMIN_PORT: 'tcp://[fd00::1]:80', IB_HOST: 'tcp://x:80' };
    const { values, origins } = settle(mock, {}, env, configOf({ mock: { port: 8080 } }));
    assert.deepEqual([values['port'], values['adminPort']], ['8080', undefined]);
    assert.equal(noteOf(origins), 'config: port from folder/c.json; host from IB_HOST\n');
    assert.equal(settle(mock, {}, { IB_PORT: 'tcp://10.0.0.1' }).values['port'], 'tcp://10.0.0.1');
  });

  test('of no flag is none of ours: fixtures name some for their keys', () =>
    assert.equal(settle(verify, {}, { IB_API_KEY: 'k', IB_REVOKED_KEY: 'k', IB_X: '' }).origins.size, 0));
});

describe('in a config file', () => {
  test('relative paths start from its folder', () => {
    const contents = {
      verify: {
        fixture: 'f.json',
        ca: '/etc/ca.pem',
        baseline: '../known.json',
        report: ['console', 'json=out/run=1.json', 'html=/tmp/r.html', 'junit='],
        partner: 'northwind',
      },
      mock: { 'tls-cert': 'c.pem', 'tls-key': './k.pem', scorecard: ['text', 'json=card.json'] },
    };
    const { fixture, ca, baseline, report, partner } = settle(verify, {}, {}, configOf(contents)).values;
    assert.deepEqual(
      [fixture, ca, baseline, report, partner],
      [
        'folder/f.json',
        '/etc/ca.pem',
        'known.json',
        ['console', 'json=folder/out/run=1.json', 'html=/tmp/r.html', 'junit='],
        'northwind',
      ],
    );
    const { tlsCert, tlsKey, scorecard } = settle(mock, {}, {}, configOf(contents)).values;
    assert.deepEqual(
      [tlsCert, tlsKey, scorecard],
      ['folder/c.pem', 'folder/k.pem', ['text', 'json=folder/card.json']],
    );
    // In the working directory they stay what they are.
    assert.equal(settle(verify, {}, {}, configOf(contents, 'c.json')).values['fixture'], 'f.json');
  });

  test('numbers and switches are what would be typed', () => {
    const { cases, rate, strict } = settle(
      verify,
      {},
      {},
      configOf({ verify: { cases: 20, rate: 0.5, strict: true } }),
    ).values;
    assert.deepEqual([cases, rate, strict], ['20', '0.5', true]);
  });

  test('header fields take variables, and nothing else does', () => {
    const contents = { verify: { header: ['accept: a, b', 'x: ${A}-${B}'], partner: '${A}' } };
    const { header, partner } = settle(verify, {}, { A: '1', B: '2' }, configOf(contents)).values;
    assert.deepEqual([header, partner], [['accept: a, b', 'x: 1-2'], '${A}']);
    for (const B of [undefined, ''])
      assert.throws(() => settle(verify, {}, { A: '1', B }, configOf(contents)), {
        code: 'usage',
        message:
          'folder/c.json: /verify/header/1: needs the environment variable B, which is not set: export B=…',
      });
  });

  test('nothing is sought where it was typed', () => {
    const contents = { verify: { header: ['x: ${UNSET}'] } };
    assert.deepEqual(settle(verify, { header: ['y: 1'] }, {}, configOf(contents)).values['header'], ['y: 1']);
  });
});

test('--replay judges no baseline and writes no report that nobody typed', () => {
  const config = configOf({ verify: { baseline: 'known.json', report: ['json=run.json'], partner: 'p' } });
  const replayed = settle(verify, { replay: '3' }, { IB_REPORT: 'junit' }, config);
  assert.deepEqual(
    [replayed.values['baseline'], replayed.values['report'], replayed.values['partner']],
    [undefined, [], 'p'],
  );
  const typed = settle(verify, { replay: '3', report: ['junit'] }, {}, config);
  assert.deepEqual(typed.values['report'], ['junit']);
  assert.equal(settle(verify, {}, {}, config).values['baseline'], 'folder/known.json');
});

test('the line of a report that tries a requirement again means the same whatever is configured', () => {
  const config = configOf({ verify: { cases: 7, suite: ['auth'], skip: ['valid/user-status/member'] } });
  const typed = { only: ['valid/user-status/member'], seed: '1', replay: '3' };
  const { values } = settle(verify, typed, { IB_CASES: '8', IB_SKIP: 'x' }, config);
  assert.deepEqual([values['cases'], values['suite'], values['skip']], ['100', [], []]);
  const scenario = settle(verify, { only: typed.only, cases: '9' }, {}, config).values;
  assert.deepEqual([scenario['cases'], scenario['suite'], scenario['skip']], ['9', [], []]);
  assert.deepEqual(settle(verify, {}, {}, config).values['suite'], ['auth']);
});

test('doctor looks at the target of verify, and at nothing else that is said of runs', () => {
  const config = configOf({ verify: { url: 'http://x', fixture: 'f.json', timeout: 9000, strict: true } });
  const { values, origins } = settle(doctor, {}, { IB_TIMEOUT: '8000', IB_JSON: '1' }, config);
  assert.deepEqual(
    [values['url'], values['fixture'], values['timeout']],
    ['http://x', 'folder/f.json', '3000'],
  );
  assert.equal(values['json'], false);
  assert.equal(noteOf(origins), 'config: url, fixture from folder/c.json\n');
});

test('a command that is not configured takes neither variables nor a file', () => {
  const { values, origins } = settle(healthcheck, {}, { IB_URL: 'http://x' }, configOf({}));
  assert.equal(values['url'], 'http://127.0.0.1:4010');
  assert.equal(origins.size, 0);
});
