import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { curlOf, serviceAt } from './curl.ts';

const example = { shows: '200', target: '/api/ib/user-status?user_id=1', keyName: '<key northwind/active>' };
const base = 'http://127.0.0.1:4010';

/** What a shell makes of a command line. */
function wordsOf(line: string): readonly string[] {
  const script = line.replace(/^curl/, `printf '%s\\n'`);
  const env = { IB_API_KEY: 'a-secret' };
  return execFileSync('/bin/sh', ['-c', script], { encoding: 'utf8', env }).trimEnd().split('\n');
}

test('a public key stands in the line', () => {
  assert.equal(
    curlOf({ ...example, key: 'northwind-key' }, base, ''),
    `curl -i -H 'Authorization: Bearer northwind-key' 'http://127.0.0.1:4010/api/ib/user-status?user_id=1'`,
  );
});

test('any other key comes from the environment', () => {
  const [, , field] = wordsOf(curlOf(example, base, 'mine'));
  assert.equal(field, 'Authorization: Bearer a-secret~mine');
});

test('a name of a world means nothing to the shell', () => {
  const world = `$(echo>&2)\`id\`'";|&$HOME!\\`;
  for (const key of ['northwind-key', undefined]) {
    const words = wordsOf(curlOf({ ...example, ...(key && { key }) }, base, world));
    assert.equal(words[2], `Authorization: Bearer ${key ?? 'a-secret'}~${world}`);
    assert.equal(words.length, 4);
  }
});

test('the service is where the page is, unless it has a port of its own', () => {
  assert.equal(serviceAt(new URL('http://localhost:14010/__admin/')), 'http://localhost:14010');
  assert.equal(serviceAt(new URL('https://[::1]:9/__admin/'), 4010), 'https://[::1]:4010');
});
