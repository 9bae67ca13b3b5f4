import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { symlinkSync } from 'node:fs';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';
import { packagedProgram } from '../testing/packaged.ts';
import { runCli } from '../testing/run-cli.ts';
import { temporaryFolder } from '../testing/temporary-folder.ts';

/** Returns the completions for the last word of a line. */
async function offered(...words: readonly string[]): Promise<readonly string[]> {
  const { output } = await runCli(['--get-yargs-completions', 'ib-conformance', ...words]);
  return output.trim().split('\n');
}

describe('completion offers', () => {
  const rows: readonly (readonly [line: string, found: string])[] = [
    ['', 'verify'],
    ['verify --max-d', '--max-duration'],
    ['verify --suite ', 'rate-limit'],
    ['verify --only auth/user', 'auth/user-status/revoked'],
    ['verify --report ', 'junit'],
    ['mock --limits ', 'off'],
    ['mock --fault ', 'list'],
    ['fixture export f.json --format ', 'sql'],
    ['completion ', 'zsh'],
  ];
  for (const [line, found] of rows)
    test(`${found} for ${line}`, async () => {
      const words = await offered(...line.split(' '));
      assert.ok(words.includes(found), words.join(' '));
    });

  test('nothing for file names, which the shell completes', async () => {
    assert.deepEqual(await offered('verify', '--fixture', 'sch'), ['']);
  });
});

test('the script works in bash', async (t) => {
  const { folder, place } = temporaryFolder(t);
  symlinkSync(packagedProgram, place('ib-conformance'));
  const script = `
    eval "$(ib-conformance completion bash)"
    COMP_WORDS=(ib-conformance mock --lim) COMP_CWORD=2
    $(complete -p ib-conformance | grep -o '_ib-conformance[^ ]*')
    echo "\${COMPREPLY[@]}"`;
  const env = { ...process.env, PATH: `${folder}:${process.env['PATH']}`, SHELL: '/bin/zsh' };
  const { stdout } = await promisify(execFile)('bash', ['-c', script], { env });
  assert.equal(stdout, '--limits\n');
});

test('the script is for $SHELL, unless a shell is given', async () => {
  const scriptOf = async (shell: string, ...named: readonly string[]) =>
    (await runCli(['completion', ...named], { env: { SHELL: shell } })).output;
  assert.match(await scriptOf('/usr/bin/zsh'), /^#compdef ib-conformance/);
  assert.match(await scriptOf('/usr/bin/zsh', 'bash'), /\ncomplete -o bashdefault/);
  assert.match(await scriptOf('/bin/bash'), /\ncomplete -o bashdefault/);
  assert.equal((await runCli(['completion', 'fish'])).code, 2);
});
