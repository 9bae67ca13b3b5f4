import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { startMock } from '../mock/server/server.ts';
import { builtInFixture } from './dev/paths.ts';
import { readBytes, readText } from './input-files.ts';
import { builtIn } from './dev/testing/fixtures.ts';
import { tls } from './dev/testing/certificate.ts';
import { endsSaying } from './dev/testing/run-cli.ts';
import { temporaryFolder } from './dev/testing/temporary-folder.ts';

const { fileOf, place } = temporaryFolder();
const ours = { key: 'our-key', partner: 'ünïcode', state: 'active' };
const partners = [...builtIn.partners!, { id: ours.partner }];
const fixture = JSON.stringify({ ...builtIn, partners, apiKeys: [...builtIn.apiKeys!, ours] });
const readInput = (text: string | Uint8Array) => ({ readInput: async () => Buffer.from(text) });

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
      const fileIn = (file: string, value: unknown) => fileOf(file, encode(JSON.stringify(value)));
      const short = 'verify mock --only valid/user-status/member --cases 1';
      const known = { format: 'ib-conformance/baseline/1', known: [{ id: 'valid/x', reason: 'ü' }] };
      const config = fileIn('c.json', { verify: { partner: 'ünï' } });
      const answer = fileOf('a.txt', encode('HTTP/1.1 400 Bad\r\n\r\n{"error":"Invalid user_id format"}'));
      const ofFixture = `--fixture ${fileOf('f.json', encode(fixture))} --partner nobody`;
      await endsSaying(`verify ${mock.url} ${ofFixture}`, 2, /--partner nobody.*ünïcode/);
      await endsSaying(`verify --config ${config}`, 2, /--partner ünï/);
      const baseline = fileIn('b.json', known);
      await endsSaying(`${short} --baseline ${baseline}`, 1, /✗ baseline +\S+b\.json:1: valid\/x/);
      await endsSaying(`answers /api/ib/user-status --answer ${answer}`, 0);
    });
  });

test('bytes without a mark stay as they are', async () => {
  const bytes = Buffer.from([0x48, 0xff, 0x00, 0x80]);
  assert.deepEqual(Buffer.from(await readBytes(fileOf('b.bin', bytes), {})), bytes);
});

describe('- is standard input', () => {
  const short = '--only valid/user-status/member --cases 1';
  const local = `verify https://localhost:9 ${short}`;
  const certificate = tls.cert.replaceAll(/^-+BEGIN PRIV[^]*?KEY-+$/gm, '');
  const two = /--fixture, --baseline: only one of them can be standard input/;
  const noFile = /--update-baseline needs --baseline with a file/;
  for (const [line, text, pattern] of [
    [`verify mock ${short} --fixture -`, '{', /^ib-conformance: standard input:1:2: is not JSON/],
    [`verify mock ${short} --config -`, '{"verify": {"casse": 1}}', /standard input: \/verify\/casse: un/],
    [`verify mock ${short} --baseline -`, '[]', /^ib-conformance: standard input: the baseline must be/],
    [`${local} --ca -`, 'x', /--ca -: has no certificate in PEM/],
    [`${local} --cert -`, certificate, /--cert-key -: has no private key/],
    ['answers /api/ib/user-status --answer -', 'x', /standard input: is no HTTP answer/],
    ['fixture --from - --format sql', '[]', /^ib-conformance: standard input/],
    ['mock --fixture -', '[]', /^ib-conformance: standard input/],
    ['sweep --fixture - -- true', '[]', /^ib-conformance: standard input/],
    [`verify mock ${short} --baseline - --update-baseline`, '{}', noFile],
    [`verify mock ${short} --fixture - --baseline -`, fixture, two],
  ] as const)
    test(line, async () => void (await endsSaying(line, 2, pattern, readInput(text))));

  test('also of one PEM file with certificate and key, and of a whole fixture', async () => {
    await using mock = await startMock({ fixture: builtIn });
    await endsSaying(`doctor ${mock.url} --fixture -`, 0, [], readInput(fixture));
    const refused = /connection was refused/;
    await endsSaying(`verify https://127.0.0.1:9 ${short} --cert -`, 4, refused, readInput(tls.cert));
  });

  test('a fixture there is read once for several outputs', async () => {
    const files = [place('once.sql'), place('twice.sql')];
    const line = `fixture --from - --output ${files.join(' --output ')}`;
    // Standard input is empty once it was read.
    const left = [fixture];
    await endsSaying(line, 0, [], { readInput: async () => Buffer.from(left.shift() ?? '') });
    for (const file of files) assert.match(readFileSync(file, 'utf8'), /ünïcode/);
  });

  test('a config file there names paths of the working directory, and is named', async () => {
    const wrong = readInput('{ "verify": { "fixture": "none.json" } }');
    await endsSaying('verify mock --config -', 2, /none\.json: there is no such file/, wrong);
    const good = readInput(JSON.stringify({ verify: { fixture: builtInFixture, cases: 1 } }));
    const line = 'verify mock --only valid/user-status/member --config -';
    const { stderr } = await endsSaying(line, 0, [], good);
    assert.equal(stderr, 'config: fixture, cases from standard input\n');
  });

  test('a config file may give it to a flag', async () => {
    const config = fileOf('input.json', { verify: { fixture: '-' } });
    const words = /standard input:1:2: is not JSON/;
    await endsSaying(`verify mock --config ${config}`, 2, words, readInput('{'));
  });
});
