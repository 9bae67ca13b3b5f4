import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { reference } from '../mock/behaviour.ts';
import { faults } from '../mock/faults.ts';
import { startMock } from '../mock/server.ts';
import { runCli } from './testing/run-cli.ts';
import { builtInFixture } from './fixture-file.ts';

const folder = mkdtempSync(join(tmpdir(), 'ib-conformance-'));
const DATES = 'valid/user-status/date-joined';

/** Verifies the suite `valid` of a mock that swaps day and month, with further flags. */
async function verify(...flags: readonly string[]) {
  await using mock = await startMock({
    behaviour: faults['date-day-and-month-swapped']!.change(reference),
  });
  const own = ['--fixture', builtInFixture.pathname, '--suite', 'valid', '--cases', '2', '--no-canary'];
  return await call('verify', mock.url, ...own, ...flags);
}

async function call(...words: readonly string[]) {
  const { code, output, error } = await runCli(words, { terminal: { color: false, width: 120 } });
  return { code, output: output + error };
}

test('from the first failure over a reason to a run that does not fail, which hides nothing', async () => {
  const file = join(folder, 'known.json');
  const missing = await verify('--baseline', file);
  assert.equal(missing.code, 2);
  assert.match(missing.output, /known\.json: there is no such file; --update-baseline writes one/);

  const first = await verify('--baseline', file, '--update-baseline');
  assert.equal(first.code, 1);
  assert.match(first.output, /1 added, 0 removed, 0 kept/);
  assert.match(first.output, /known\.json:4: valid\/user-status\/date-joined: has no reason:\s+write why/);
  assert.equal(
    readFileSync(file, 'utf8'),
    `{\n  "format": "ib-conformance/baseline/1",\n  "known": [\n    { "id": "${DATES}", "reason": "" }\n  ]\n}\n`,
  );
  assert.equal((await verify('--baseline', file)).code, 1);

  writeFileSync(file, readFileSync(file, 'utf8').replace('""', '"ticket 123: dates"'));
  const known = await verify('--baseline', file);
  assert.equal(known.code, 0);
  assert.match(known.output, /^✗ valid\/user-status\/date-joined$/m);
  assert.match(known.output, /^ {2}known +ticket 123: dates$/m);
  assert.match(known.output, /^conformant but for 1 known failure: 1 of \d+ required failed/m);
  assert.match(known.output, /^known failures: valid\/user-status\/date-joined$/m);

  // What was not looked at stays, with its reason.
  const elsewhere = await verify(
    '--baseline',
    file,
    '--update-baseline',
    '--only',
    'valid/user-status/member',
  );
  assert.equal(elsewhere.code, 0, elsewhere.output);
  assert.match(
    elsewhere.output,
    /not judged by this run: valid\/user-status\/date-joined \(not\s+selected\)/,
  );
  assert.match(readFileSync(file, 'utf8'), /ticket 123/);
  assert.deepEqual(readdirSync(folder), ['known.json']);
});

test('a run that is judged again is held against them too', async () => {
  const transcript = join(folder, 'run.ndjson');
  const file = join(folder, 'judged.json');
  assert.equal((await verify('--report', `ndjson=${transcript}`)).code, 1);
  const known = (id: string) =>
    writeFileSync(
      file,
      JSON.stringify({ format: 'ib-conformance/baseline/1', known: [{ id, reason: 'ticket 123' }] }),
    );
  known(DATES);
  const held = await call('judge', transcript, '--baseline', file);
  assert.equal(held.code, 0, held.output);
  assert.match(held.output, /^conformant but for 1 known failure: /m);
  known('valid/user-status/member');
  const wrong = await call('judge', transcript, '--baseline', file);
  assert.equal(wrong.code, 1);
  assert.match(wrong.output, /valid\/user-status\/member: passes now/);
});

/** Flags that do not go together, and places that cannot be written. */
const refusals: readonly (readonly [flags: readonly string[], says: RegExp])[] = [
  [['--update-baseline'], /--update-baseline writes the file of --baseline/],
  [
    ['--baseline', 'f.json', '--only', DATES, '--replay', '0'],
    /--replay judges one input, and no baseline by it/,
  ],
  [
    ['--baseline', join(folder, 'no', 'f.json'), '--update-baseline'],
    /the baseline cannot be written: its folder does not exist/,
  ],
  [['--baseline', folder], /cannot be read \(EISDIR\)/],
];

for (const [flags, says] of refusals)
  test(`refused: ${flags.join(' ').replaceAll(folder, '…')}`, async () => {
    const { code, output } = await verify(...flags);
    assert.equal(code, 2);
    assert.match(output, says);
  });
