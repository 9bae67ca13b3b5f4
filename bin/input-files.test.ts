import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { startMock } from '../mock/server/server.ts';
import { builtInFixture } from './dev/paths.ts';
import { loadFixture, readBytes, readText } from './input-files.ts';
import { tls } from './dev/testing/certificate.ts';
import { runCli } from './dev/testing/run-cli.ts';
import { temporaryFolder } from './dev/testing/temporary-folder.ts';

const { fileOf, place } = temporaryFolder();
const builtIn = await loadFixture(undefined, {});
const ours = { key: 'our-key', partner: 'ünïcode', state: 'active' };
const fixture = JSON.stringify({
  ...builtIn,
  partners: [...builtIn.partners!, { id: ours.partner }],
  apiKeys: [...builtIn.apiKeys!, ours],
});
const readInput = (text: string | Uint8Array) => ({ readInput: async () => Buffer.from(text) });

/** Standard input that is empty once it was read. */
function once(text: string) {
  const left = [text];
  return async () => Buffer.from(left.shift() ?? '');
}

/** Texts as programs write them: PowerShell 5 writes UTF-16 LE, and UTF-8 with a mark. */
const encodings: Readonly<Record<string, (text: string) => Buffer>> = {
  'UTF-8': (text) => Buffer.from(text),
  'UTF-8 with a mark': (text) => Buffer.from(`\uFEFF${text}`),
  'UTF-16 LE': (text) => Buffer.from(`\uFEFF${text}`, 'utf16le'),
  'UTF-16 BE': (text) => Buffer.from(`\uFEFF${text}`, 'utf16le').swap16(),
};

for (const [name, encode] of Object.entries(encodings))
  describe(name, () => {
    test('is read, from a file and from standard input', async () => {
      const file = fileOf('text.txt', encode('{"a": "ü€😀"}'));
      for (const source of [file, '-']) {
        const input = readInput(encode('{"a": "ü€😀"}'));
        assert.equal(await readText(source, input), '{"a": "ü€😀"}');
        assert.equal(Buffer.from(await readBytes(source, input)).toString(), '{"a": "ü€😀"}');
      }
    });

    test('fixture, config file, baseline and answer', async () => {
      await using mock = await startMock({});
      const file = fileOf('f.json', encode(fixture));
      const unknown = await runCli(['verify', mock.url, '--fixture', file, '--partner', 'nobody']);
      assert.match(unknown.error, /--partner nobody.*ünïcode/);
      const config = fileOf('c.json', encode(JSON.stringify({ verify: { partner: 'ünï' } })));
      assert.match((await runCli(['verify', '--config', config])).error, /--partner ünï/);
      const known = [{ id: 'valid/x', reason: 'ü' }];
      const baseline = fileOf(
        'b.json',
        encode(JSON.stringify({ format: 'ib-conformance/baseline/1', known })),
      );
      const checked = await runCli([
        'verify',
        'mock',
        '--only',
        'valid/user-status/member',
        '--cases',
        '1',
        '--baseline',
        baseline,
      ]);
      assert.match(checked.output, /✗ baseline +\S+b\.json:1: valid\/x/);
      const answer = fileOf('a.txt', encode('HTTP/1.1 400 Bad\r\n\r\n{"error":"Invalid user_id format"}'));
      assert.equal((await runCli(['answers', '/api/ib/user-status', '--answer', answer])).code, 0);
    });
  });

test('bytes without a mark stay as they are', async () => {
  const bytes = Buffer.from([0x48, 0xff, 0x00, 0x80]);
  assert.deepEqual(Buffer.from(await readBytes(fileOf('b.bin', bytes), {})), bytes);
});

describe('- is standard input', () => {
  const short = '--only valid/user-status/member --cases 1';
  for (const [line, text, pattern] of [
    [`verify mock ${short} --fixture -`, '{', /^ib-conformance: standard input:1:2: is not JSON/],
    [
      `verify mock ${short} --config -`,
      '{"verify": {"casse": 1}}',
      /standard input: \/verify\/casse: unknown key/,
    ],
    [`verify mock ${short} --baseline -`, '[]', /^ib-conformance: standard input: the baseline must be/],
    [`verify https://localhost:9 ${short} --ca -`, 'x', /--ca -: has no certificate in PEM/],
    [
      `verify https://localhost:9 ${short} --cert -`,
      tls.cert.replaceAll(/^-+BEGIN PRIV[^]*?KEY-+$/gm, ''),
      /--cert-key -: has no private key/,
    ],
    ['answers /api/ib/user-status --answer -', 'x', /standard input: is no HTTP answer/],
    ['fixture --from - --format sql', '[]', /^ib-conformance: standard input/],
    ['mock --fixture -', '[]', /^ib-conformance: standard input/],
    ['sweep --fixture - -- true', '[]', /^ib-conformance: standard input/],
    [
      `verify mock ${short} --baseline - --update-baseline`,
      '{}',
      /--update-baseline needs --baseline with a file/,
    ],
    [
      `verify mock ${short} --fixture - --baseline -`,
      fixture,
      /--fixture, --baseline: only one of them can be standard input/,
    ],
  ] as const)
    test(line, async () => {
      const { code, error } = await runCli(line, readInput(text));
      assert.match(error, pattern);
      assert.equal(code, 2);
    });

  test('also of one PEM file with certificate and key, and of a whole fixture', async () => {
    await using mock = await startMock({ fixture: builtIn });
    assert.equal((await runCli(`doctor ${mock.url} --fixture -`, readInput(fixture))).code, 0);
    const { error } = await runCli(`verify https://127.0.0.1:9 ${short} --cert -`, readInput(tls.cert));
    assert.match(error, /connection was refused/);
  });

  test('a fixture there is read once for several outputs', async () => {
    const files = [place('once.sql'), place('twice.sql')];
    const line = `fixture --from - --output ${files.join(' --output ')}`;
    assert.equal((await runCli(line, { readInput: once(fixture) })).code, 0);
    for (const file of files) assert.match(readFileSync(file, 'utf8'), /ünïcode/);
  });

  test('a config file there names paths of the working directory, and is named', async () => {
    const config = { verify: { fixture: 'none.json' } };
    const { error } = await runCli('verify mock --config -', readInput(JSON.stringify(config)));
    assert.match(error, /none\.json: there is no such file/);
    const good = { verify: { fixture: builtInFixture, cases: 1 } };
    const { code, stderr } = await runCli(
      'verify mock --only valid/user-status/member --config -',
      readInput(JSON.stringify(good)),
    );
    assert.deepEqual([code, stderr], [0, 'config: fixture, cases from standard input\n']);
  });

  test('a config file may give it to a flag', async () => {
    const config = fileOf('input.json', { verify: { fixture: '-' } });
    const { error } = await runCli(`verify mock --config ${config}`, readInput('{'));
    assert.match(error, /standard input:1:2: is not JSON/);
    assert.match(
      (await runCli(`verify mock --config ${place('no.json')}`)).error,
      /no\.json: cannot be read/,
    );
  });
});
