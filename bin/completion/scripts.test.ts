import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runCli } from '../testing/run-cli.ts';
import { commands } from '../commands/index.ts';
import { answer } from './answer.ts';

const ofShell = (argv: readonly string[], SHELL?: string) =>
  runCli(['completion', ...argv], { env: SHELL === undefined ? {} : { SHELL } });

test('each shell has its script, and $SHELL is taken where none is named', async () => {
  for (const shell of ['bash', 'zsh', 'fish']) {
    const named = await ofShell([shell]);
    assert.equal(named.code, 0);
    assert.match(named.output, new RegExp(`^# Completion of ib-conformance in ${shell}\\b`, 'm'));
    assert.match(named.output, /__complete/);
    assert.deepEqual(await ofShell([], `/usr/local/bin/${shell}`), named);
    assert.deepEqual(await ofShell([shell], '/bin/false'), named);
  }
});

test('another shell, or none, is told which there are', async () => {
  for (const shell of ['/bin/tcsh', '/bin/constructor', undefined]) {
    const { code, error, output } = await ofShell([], shell);
    assert.deepEqual([code, output], [2, '']);
    assert.match(error, /which shell\? Name one of bash, zsh, fish/);
    assert.equal(error.includes('$SHELL is'), shell !== undefined);
  }
  assert.match((await ofShell(['tcsh'])).error, /Choices: "bash", "zsh", "fish"/);
});

test('the scripts are answered a line for each word, or that it is a file', async () => {
  assert.equal(await answer(['verify', '--suite', 'rob']), 'robustness\t10 requirements\n');
  assert.equal(await answer(['verify', '--report=json=x']), ':file\t--report=json=\n');
  assert.equal((await answer([''])).split('\n').length, commands.length + 1);
  assert.equal((await answer([])).split('\n').length, commands.length + 1);
  assert.equal(await answer(['verify', '--seed', '']), '');
});
