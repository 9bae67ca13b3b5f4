import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { startMock } from '../../mock/server.ts';
import { missingTools, onTerminal } from '../on-terminal.ts';

const program = join(import.meta.dirname, '../ib-conformance.mjs');
const skip = missingTools('init on a terminal', 'script');
const KEY = 'northwind-key';
const member = '11111111-1111-4111-8111-111111111111';

/** `init` on a terminal, in an empty folder. */
function started(...flags: readonly string[]) {
  const folder = mkdtempSync(join(tmpdir(), 'ib-conformance-'));
  const { IB_API_KEY: _, ...env } = process.env;
  const command = [process.execPath, program, 'init', ...flags].join(' ');
  return { folder, ...onTerminal(command, { cwd: folder, env: { ...env, TERM: 'xterm' } }) };
}

test('asked and answered on a terminal, the key is never shown', { skip }, async () => {
  await using mock = await startMock({});
  const { folder, until, type, ended } = started();
  await until('({base_url}): ');
  type(`${mock.url}\r`);
  const before = await until('goes into no file): ');
  type(`${KEY}\r`);
  const between = await until('(Enter: none): ');
  type(`${member}\r`);
  await until('(Enter: none): ');
  type('\r');
  await until('(Enter: the same) ');
  type('\r');
  const { code, shown } = await ended();
  assert.equal(code, 0, shown);
  assert.match(shown, /nothing is in the way of a run[^]*wrote fixture\.json/);
  const written = readdirSync(folder).map((file) => readFileSync(join(folder, file), 'utf8'));
  assert.equal(written.length, 2);
  assert.ok(![before, between, shown, ...written].some((text) => text.includes(KEY)));
});

test('Ctrl-C at a question leaves nothing behind, and says so', { skip }, async () => {
  const { folder, until, type, ended } = started('--url', 'http://127.0.0.1:9');
  await until('goes into no file): ');
  type('half a key\u0003');
  const { code, shown } = await ended();
  assert.equal(code, 130);
  assert.match(shown, /^\s*ib-conformance: interrupted: nothing was written\s*$/);
  assert.deepEqual(readdirSync(folder), []);
});

test('Ctrl-C while the server is silent leaves nothing behind', { skip }, async () => {
  const silent = createServer().listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const { port } = silent.address() as AddressInfo;
  const { folder, until, type, ended } = started('--url', `http://127.0.0.1:${port}`);
  await until('goes into no file): ');
  type(`${KEY}\r`);
  await until('(Enter: none): ');
  const asked = once(silent, 'request');
  type(`${member}\r`);
  await until('(Enter: none): ');
  type('\r');
  await asked;
  type('\u0003');
  const { code, shown } = await ended();
  silent.closeAllConnections();
  silent.close();
  assert.equal(code, 130);
  assert.match(shown, /ib-conformance: interrupted: nothing was written/);
  assert.deepEqual(readdirSync(folder), []);
});

test('Ctrl-C at the last question, of a second conversation, leaves nothing behind', { skip }, async () => {
  const { folder, until, type, ended } = started('--url', 'http://127.0.0.1:9');
  await until('goes into no file): ');
  type(`${KEY}\r`);
  await until('(Enter: none): ');
  type('\r');
  await until('all the same? [y/N] ');
  type('\u0003');
  assert.equal((await ended()).code, 130);
  assert.deepEqual(readdirSync(folder), []);
});
