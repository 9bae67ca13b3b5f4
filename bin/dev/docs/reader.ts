import assert from 'node:assert/strict';
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { reference } from '../../../mock/behaviour.ts';
import { faults } from '../../../mock/faults.ts';
import { startMock } from '../../../mock/server.ts';
import { expandKeys } from '../../../schemas/fixture-keys.ts';
import type { Fixture } from '../../../schemas/generated/types.ts';
import { begun, ended } from '../../testing/child-process.ts';
import { builtInFixture } from '../../fixture-file.ts';
import { root } from '../paths.ts';

/** The built-in fixture with limits whose windows take no time to wait for. */
const shortFixture = readFileSync(builtInFixture, 'utf8').replaceAll(
  '"windowSeconds": 3',
  '"windowSeconds": 1',
);

/** A reader of a page, in a folder where the package is installed, with the servers that the page speaks of. */
export type Reader = Awaited<ReturnType<typeof startReader>>;

/**
 * @param nodeModules where the package is installed
 * @param fixtureText the fixture of the server under test
 */
export async function startReader(nodeModules: string, fixtureText = shortFixture) {
  const folder = mkdtempSync(join(tmpdir(), 'ib-conformance-docs-'));
  const write = (file: string, content: string, mode = 0o644) =>
    writeFileSync(join(folder, file), content, { mode });
  const env = {
    ...process.env,
    // The pages speak of the machine of a developer: there `verify` needs no URL.
    CI: '',
    // npx itself takes half a second; it would find the same programs.
    PATH: [folder, join(nodeModules, '.bin'), process.env['PATH']].join(':'),
    GITHUB_ACTIONS: '',
    NODE_TEST_CONTEXT: undefined,
    TSX: pathToFileURL(join(root, 'node_modules/tsx/dist/loader.mjs')).href,
    IB_API_KEY: 'northwind-key',
    IB_REVOKED_KEY: 'northwind-revoked-key',
  };
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
  /** Text of the pages, and what it stands for here. */
  const places = new Map([
    ['http://localhost:8080/gateway', server.url],
    ['http://localhost:8080', server.url],
    ['http://localhost:8090', `${server.adminUrl}/state`],
    ['http://127.0.0.1:4010', mock.url],
    ['http://127.0.0.1:4998', faulty.url],
    // A thousand shows what a million shows; some requirements show what all show.
    ['1000000', '1000'],
    ['conformance({', "conformance({ suite: ['valid'], cases: 100,"],
  ]);
  // In one pass: the port of a server that runs here, 40103, begins like one of the pages, 4010.
  const written = new RegExp([...places.keys()].map((text) => text.replace(/[.({]/g, '\\$&')).join('|'), 'g');
  const placed = (line: string) => line.replace(written, (text) => places.get(text)!);
  const children: ChildProcess[] = [];
  // A group of its own, so that what bash starts ends with it.
  const options = { cwd: folder, env, detached: true };
  const start = (line: string) => spawn('bash', ['-euo', 'pipefail', '-c', line], options);
  let last = '';

  return {
    /** A text with the URLs of the servers that run here. */
    placed,
    write,
    last: () => last,
    works: (line: string) => spawnSync('bash', ['-c', line], { ...options, stdio: 'ignore' }).status === 0,
    /** Runs a command line, checks its exit code, and returns what it prints. */
    async run(line: string, expectedCode = 0): Promise<string> {
      const child = start(placed(line));
      child.stdin.end();
      const { code, printed, complaint } = await ended(child);
      assert.equal(code, expectedCode, `${line}\n${printed}${complaint}`);
      last = printed;
      return printed;
    },
    /** Starts a mock on a free port instead of the page's, and keeps it until the end. */
    async serve(line: string) {
      const child = start(`${line.replace(/--port \d+/, '')} --port 0`);
      children.push(child);
      places.set('http://127.0.0.1:4010', (await begun(child)).line.replace('listening on ', ''));
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
