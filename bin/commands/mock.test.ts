import assert from 'node:assert/strict';
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { mkdtempSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { text as allOf } from 'node:stream/consumers';
import { describe, test, type TestContext } from 'node:test';
import { withServer } from '../../suites/testing/against.ts';
import { commandLine } from '../command-line.ts';
import { packagedProgram } from '../dev/testing/packaged.ts';
import { endsSaying, quietContext, testRefusals } from '../dev/testing/run-cli.ts';
import { temporaryFolder } from '../dev/testing/temporary-folder.ts';

const { folder } = temporaryFolder();
const MEMBER = '11111111-1111-4111-8111-111111111111';
const userPath = `/api/ib/user-status?user_id=${MEMBER}`;

/** Runs `mock` in this process. */
async function run(t: TestContext, ...flags: readonly string[]) {
  const stop = new AbortController();
  const prints = new EventEmitter();
  const texts = { printed: '', complained: '' };
  const done = commandLine(['mock', '--port', '0', ...flags], {
    ...quietContext,
    signal: stop.signal,
    print: async (text) => {
      texts.printed += text;
      prints.emit('text');
    },
    writeError: (text) => void (texts.complained += text),
  });
  const until = async (part: RegExp) => {
    while (!part.test(texts.printed)) await once(prints, 'text');
  };
  t.after(() => {
    stop.abort();
    return done;
  });
  await Promise.race([until(/^listening on \S+\n/), done]);
  const url = /^listening on (\S+)\n/.exec(texts.printed)![1]!.replace('0.0.0.0', '127.0.0.1');
  const ask = async (path: string, key = 'northwind-key') => {
    const response = await fetch(url + path, { headers: { authorization: `Bearer ${key}` } });
    return { status: response.status, body: await response.text() };
  };
  return { url, until, texts, ask };
}

testRefusals('mock --port 0', [
  ['--journal -1', /--journal -1: needs a whole number from 0/],
  ['--no-admin --admin-token x', /--no-admin excludes --admin-token/],
  ['--base-path /a?b', /--base-path \/a\?b: is not the path of a URL/],
  ['--base-path /__admin/', /--base-path \/__admin\/: the admin API uses this path/],
]);

test('it ends with its standard input', { timeout: 10_000 }, async () => {
  const readInput = async () => Buffer.from('');
  await endsSaying('mock --port 0 --end-with-stdin', 0, /^listening on/, { readInput });
});

test('an IPv6 address may have brackets, and ::1 is loopback', async (t) => {
  const mock = await run(t, '--host', '[::1]');
  assert.match(mock.url, /^http:\/\/\[::1\]:\d+$/);
  assert.equal((await mock.ask('/__admin/clock')).status, 200);
});

for (const [host, shown, why] of [
  ['::ffff:127.0.0.1', '\\[::ffff:127\\.0\\.0\\.1\\]', ''],
  ['127.0.0.1', '127\\.0\\.0\\.1', ' the port is in use; give another --port, or --port 0 for a free one$'],
] as const)
  test(`a port in use is reported, with an IPv6 address in brackets: ${host}`, () =>
    withServer(createServer(), async (port) => {
      const words = new RegExp(`^ib-conformance: cannot listen on ${shown}:${port}:${why}`);
      await endsSaying(`mock --host ${host} --port ${port}`, 2, words);
    }));

test('the log shows the reason of each answer; in JSON, one object per line', async (t) => {
  const pretty = await run(t);
  await pretty.ask(userPath, 'northwind-revoked-key~mine');
  assert.ok(
    pretty.texts.printed.includes(`\n401 GET ${userPath}  key revoked  <key northwind/revoked> ~mine\n`),
  );
  const json = await run(t, '--log', 'json');
  await json.ask(userPath, 'nope');
  const [first, ...lines] = json.texts.printed.trimEnd().split('\n');
  assert.match(first!, /^listening on /);
  const [listening, entry] = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  const { message, port } = listening!;
  assert.deepEqual([message, `${port as number}`], ['listening', new URL(json.url).port]);
  assert.deepEqual([entry!['status'], entry!['reason']], [401, '401: no such key']);
});

test('--limits off, --clock and --journal take effect', async (t) => {
  const { ask } = await run(t, '--limits', 'off', '--clock', 'frozen', '--journal', '2', '--log', 'silent');
  assert.match((await ask('/__admin/clock')).body, /"rate":0\}$/);
  for (const world of ['a', 'b', 'b', 'b']) await ask(userPath, `northwind-key~${world}`);
  assert.match((await ask('/__admin/data')).body, /"worlds":\["a","b"\]/);
  const found = /^\{"requests":\[\{"id":3,[^]*"dropped":1\}$/;
  assert.match((await ask('/__admin/requests?world=b&limit=9')).body, found);
  assert.equal((await ask(userPath, 'fabrikam-always-limited-key')).status, 200);
});

describe('the admin API', () => {
  test('--no-admin disables it', async (t) => {
    const without = await run(t, '--no-admin');
    assert.equal((await without.ask('/__admin/health')).body, '{"error":"Not found"}');
    assert.doesNotMatch(without.texts.printed, /admin API/);
    const open = await run(t);
    assert.match(open.texts.printed, /^page for your browser at http:.*\/__admin\/$/m);
    const [, adminUrl] = /^admin API at (\S+)$/m.exec(open.texts.printed) ?? [];
    assert.equal((await fetch(`${adminUrl}/health`)).status, 200);
  });
  test('on an address that other machines reach, it needs a token: a printed one, or that of --admin-token', async (t) => {
    const open = await run(t, '--host', '0.0.0.0', '--log', 'silent');
    const [, token] = /^admin token: (\S{20,})\n$/.exec(open.texts.complained) ?? [];
    assert.equal((await open.ask('/__admin/clock')).status, 401);
    assert.equal((await open.ask('/__admin/clock', token)).status, 200);
    assert.doesNotMatch(open.texts.printed, new RegExp(token!));
    const given = await run(t, '--host', '0.0.0.0', '--admin-token', 'mine', '--log', 'silent');
    assert.equal((await given.ask('/__admin/clock', 'mine')).status, 200);
    assert.equal(given.texts.complained, '');
  });
});

describe('as a process', () => {
  /** Waits for its first line, and looks a user up. */
  async function start(t: TestContext, command: string, ...args: readonly string[]) {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    t.after(() => child.kill('SIGKILL'));
    const stderr = allOf(child.stderr);
    let printed = '';
    while (!printed.includes('\n')) printed += String((await once(child.stdout, 'data'))[0]);
    const url = /^listening on (\S+)/.exec(printed)![1]!;
    const { status } = await fetch(url + userPath, { headers: { authorization: 'Bearer northwind-key' } });
    assert.equal(status, 200);
    return { child, url, stderr };
  }
  const mock = [packagedProgram, 'mock', '--port', '0'];

  /** Returns the exit code. The process must exit within a second, even with an open connection. */
  async function ends(child: ChildProcess, kill: () => void): Promise<unknown> {
    const begun = performance.now();
    const exited = once(child, 'exit');
    kill();
    const [code] = (await exited) as [number | null];
    assert.ok(performance.now() - begun < 1000);
    return code;
  }

  test('it keeps serving after its output is closed, until SIGINT', async (t) => {
    const { child, url } = await start(t, process.execPath, ...mock);
    child.stdout.destroy();
    for (let nth = 0; nth < 3; nth++) assert.equal((await fetch(url + userPath)).status, 401);
    assert.equal(await ends(child, () => child.kill('SIGINT')), 0);
  });

  test('SIGTERM stops it even if nobody reads its log, without a message about that', async (t) => {
    const { child, url, stderr } = await start(t, process.execPath, ...mock);
    child.stdout.pause();
    // More than the buffers of a pipe.
    for (let count = 0; count < 200; count++) await fetch(`${url}/${'x'.repeat(10_000)}`);
    assert.equal(await ends(child, () => child.kill('SIGTERM')), 0);
    assert.equal(await stderr, '');
  });

  for (const [what, script, pattern] of [
    ['a deleted working directory', 'cd "$1" && rmdir "$1"', /: the working directory was deleted: change/],
    ['a limit of 30 open files', 'ulimit -n 30', /: too many open files/],
  ] as const)
    test(`${what} is reported, with exit code 2`, () => {
      const place = mkdtempSync(join(folder, 'place-'));
      const line = `${script} && exec "$2" "$3" verify mock --cases 50 --concurrency 64`;
      const argv = ['-c', line, 'sh', place, process.execPath, packagedProgram];
      const { status, stderr } = spawnSync('sh', argv, { encoding: 'utf8' });
      assert.deepEqual([status, /\n +at /.test(stderr)], [2, false], stderr);
      assert.match(stderr, pattern);
    });

  const canUnshare = spawnSync('unshare', ['--pid', '--fork', 'true']).status === 0;
  test('SIGTERM stops it as process 1 of a container', { skip: !canUnshare }, async (t) => {
    const { child } = await start(t, 'unshare', '--pid', '--fork', process.execPath, ...mock);
    const inner = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').trim();
    assert.equal(await ends(child, () => process.kill(Number(inner), 'SIGTERM')), 0);
  });
});

test('each state has a curl command; one whose answer changes is true whenever it is tried first', async (t) => {
  const { url, texts, until } = await run(t, '--clock', 'frozen');
  await until(/404, then 200 after 5 s/);
  for (const state of ['200, a member', '401, revoked', '429, always', '200, EXECUTED', '404, pending'])
    assert.ok(texts.printed.includes(`  ${state}`), state);
  const lines = texts.printed.split('\n').filter((line) => /, then \d+ after/.test(line));
  const headers = { 'content-type': 'application/json' };
  const advance = (seconds: number, world = '') =>
    fetch(`${url}/__admin/clock${world}`, { method: 'PUT', headers, body: `{"advance":"${seconds}s"}` });
  await advance(100);
  for (const line of lines) {
    const [, first, then, count, unit] = /(\d+), then (\d+) after (\d+) (s|polls) /.exec(line)!;
    const [, authorization, target] = /"Authorization: (.*?)" "(.*?)"/.exec(line)!;
    const status = async () =>
      String((await fetch(target!, { headers: { authorization: authorization! } })).status);
    assert.equal(await status(), first, line);
    if (unit === 's') await advance(Number(count), `?world=${authorization!.split('~')[1]}`);
    else for (let polls = 1; polls < Number(count); polls++) await status();
    assert.equal(await status(), then, line);
  }
  assert.equal(lines.length, 3);
});
