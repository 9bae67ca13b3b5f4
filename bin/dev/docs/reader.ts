import assert from 'node:assert/strict';
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { reference } from '../../../mock/server/handler.ts';
import { faults } from '../../../mock/deviations/faults.ts';
import { startMock } from '../../../mock/server/server.ts';
import { expandKeys } from '../../../schemas/fixture.ts';
import type { Fixture } from '../../../schemas/generated/types.ts';
import { waitForExit, waitForLine } from '../testing/child-process.ts';
import { builtInFixture, root } from '../paths.ts';

/** The built-in fixture with short windows, which need little waiting. */
const shortFixture = readFileSync(builtInFixture, 'utf8').replaceAll(
  '"windowSeconds": 3',
  '"windowSeconds": 1',
);

/** Runs commands of a page, in a folder with the installed package, with the servers of the page. */
export type Reader = Awaited<ReturnType<typeof startReader>>;

/** Starts the servers of a page; `fixtureText` is the fixture of the server under test. */
export async function startReader(nodeModules: string, fixtureText = shortFixture) {
  const folder = mkdtempSync(join(tmpdir(), 'ib-conformance-docs-'));
  const write = (file: string, content: string, mode = 0o644) =>
    writeFileSync(join(folder, file), content, { mode });
  const env = environmentOf(folder, nodeModules);
  symlinkSync(nodeModules, join(folder, 'node_modules'));
  cpSync(join(root, 'schemas'), join(folder, 'schemas'), { recursive: true });
  write('package.json', '{ "private": true, "type": "module" }\n');
  write('npx', '#!/bin/sh\nexec "$@"\n', 0o755);
  write('schemas/built-in.fixture.json', shortFixture);
  write('fixture.json', fixtureText);

  const { fixture } = expandKeys(JSON.parse(fixtureText) as Fixture, env);
  const swapped = faults['date-day-and-month-swapped']!.change(reference);
  const mocks = await Promise.all([
    startMock({ fixture, basePath: '/gateway' }),
    startMock({ fixture: expandKeys(JSON.parse(shortFixture) as Fixture, env).fixture }),
    startMock({ fixture, behaviour: swapped }),
  ]);
  const [server, mock, faulty] = mocks;
  /** Text of the pages and its replacement. */
  const replacements = new Map([
    ['http://localhost:8080/gateway', server.url],
    ['http://localhost:8080', server.url],
    ['http://localhost:8090', `${server.adminUrl}/state`],
    ['http://127.0.0.1:4010', mock.url],
    ['http://127.0.0.1:4998', faulty.url],
    // Smaller and faster examples.
    ['1000000', '1000'],
    ['conformance({', "conformance({ only: ['valid'], cases: 100,"],
  ]);
  // One pass: a local port such as 40103 starts like 4010, which is replaced too.
  const pattern = anyOf([...replacements.keys()]);
  const withLocalUrls = (line: string) => line.replace(pattern, (text) => replacements.get(text)!);
  const children: ChildProcess[] = [];
  // A separate process group, so that children of bash can be killed.
  const options = { cwd: folder, env, detached: true };
  const start = (line: string) => spawn('bash', ['-euo', 'pipefail', '-c', line], options);
  let last = '';

  return {
    /** Replaces the URLs in a text with those of the running servers. */
    withLocalUrls,
    write,
    last: () => last,
    succeeds: (line: string) => spawnSync('bash', ['-c', line], { ...options, stdio: 'ignore' }).status === 0,
    /** Runs a command line, checks its exit code and returns its output. */
    async run(line: string, expectedCode = 0): Promise<string> {
      const child = start(withLocalUrls(line));
      child.stdin.end();
      const { code, stdout, stderr } = await waitForExit(child);
      assert.equal(code, expectedCode, `${line}\n${stdout}${stderr}`);
      last = stdout;
      return stdout;
    },
    /** Starts a mock on a free port instead of the page's. It runs until `end`. */
    async serve(line: string) {
      const child = start(`${line.replace(/--port \d+/, '')} --port 0`);
      children.push(child);
      replacements.set('http://127.0.0.1:4010', (await waitForLine(child)).line.replace('listening on ', ''));
    },
    /** Starts a server of the page, which runs until `end`. The page shows it at another URL. */
    async startServer(line: string, port: number, shownUrl: string) {
      children.push(start(`exec ${line}`));
      await this.run(`timeout 30 bash -c 'until : </dev/tcp/127.0.0.1/${port}; do sleep 0.1; done'`);
      replacements.set(shownUrl, `http://127.0.0.1:${port}`);
    },
    async end() {
      for (const child of children) {
        const exited = once(child, 'exit');
        process.kill(-child.pid!, 'SIGTERM');
        await exited;
      }
      await Promise.all(mocks.map((one) => one.close({ force: true })));
      rmSync(folder, { recursive: true });
    },
  };
}

const anyOf = (texts: readonly string[]) =>
  new RegExp(texts.map((text) => text.replace(/[.({]/g, '\\$&')).join('|'), 'g');

/** Environment of the commands, which find their programs in these folders. */
const environmentOf = (folder: string, nodeModules: string) => ({
  ...process.env,
  // As on a developer's machine, where `verify` needs no URL.
  CI: '',
  // Replaces npx, which needs half a second to find the same programs.
  PATH: [folder, join(nodeModules, '.bin'), process.env['PATH']].join(':'),
  GITHUB_ACTIONS: '',
  NODE_TEST_CONTEXT: undefined,
  TSX: pathToFileURL(join(root, 'node_modules/tsx/dist/loader.mjs')).href,
  IB_API_KEY: 'northwind-key',
  IB_REVOKED_KEY: 'northwind-revoked-key',
});
