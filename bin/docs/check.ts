/** Runs every fenced block of the README and of `docs/`, as a reader would who has the package (`npm run test:docs`). */
import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { reference } from '../../mock/behaviour.ts';
import { faults } from '../../mock/faults.ts';
import { startMock } from '../../mock/server.ts';
import { expandKeys } from '../../schemas/fixture-keys.ts';
import type { Fixture } from '../../schemas/generated/types.ts';
import { builtInFixture } from '../fixture-file.ts';
import { install } from '../dev/package/install.ts';
import { root } from '../dev/paths.ts';
import { blocksOf, type Block } from './markdown.ts';
import { pages, type Page } from './pages.ts';
import { workshopWith, type Workshop } from './workshop.ts';

const { folder } = await install();
after(() => rm(folder, { recursive: true }));
await promisify(execFile)(
  'npm',
  ['install', '--no-audit', '--no-fund', '--silent', 'vitest@4', 'openapi-typescript@7'],
  {
    cwd: folder,
  },
).catch(() => undefined);

const env = {
  ...process.env,
  GITHUB_ACTIONS: '',
  NODE_TEST_CONTEXT: undefined,
  TSX: pathToFileURL(join(root, 'node_modules/tsx/dist/loader.mjs')).href,
  IB_API_KEY: 'northwind-key',
  IB_REVOKED_KEY: 'northwind-revoked-key',
};

/** The reader's folder, and the servers that a page speaks of. */
async function prepare(blocks: readonly Block[], page: Page) {
  const text = page.hasFixture === true ? blocks[0]!.text : readFileSync(builtInFixture, 'utf8');
  const { fixture } = expandKeys(JSON.parse(text) as Fixture, env);
  const swapped = faults['date-day-and-month-swapped']!.change(reference);
  const mocks = await Promise.all([
    startMock({ fixture, basePath: '/gateway' }),
    startMock(),
    startMock({ fixture, behaviour: swapped }),
  ]);
  const [server, mock, faulty] = mocks;
  const workshop = workshopWith(join(folder, 'node_modules'), env, [
    ['http://localhost:8080/gateway', server.url],
    ['http://localhost:8080', server.url],
    ['http://localhost:8090', `${server.adminUrl}/state`],
    ['http://127.0.0.1:4010', mock.url],
    ['http://127.0.0.1:4998', faulty.url],
    // What a million shows, a thousand does; what all requirements show, some do.
    ['1000000', '1000'],
    ['conformance({', "conformance({ suite: ['valid'], cases: 2,"],
  ]);
  writeFileSync(join(workshop.folder, 'fixture.json'), text);
  cpSync(join(root, 'schemas'), join(workshop.folder, 'schemas'), { recursive: true });
  const end = async () => {
    await workshop.end();
    await Promise.all(mocks.map((one) => one.close({ force: true })));
  };
  return { workshop, end };
}

/** Says aloud what cannot be run here. */
function lacking(needs: string, workshop: Workshop): string | undefined {
  const { status } = spawnSync('bash', ['-c', needs], { cwd: workshop.folder, env, stdio: 'ignore' });
  if (status === 0) return undefined;
  process.stderr.write(`\n!!! NOT RUN: a block of the docs, for this fails: ${needs}\n\n`);
  return `this fails: ${needs}`;
}

for (const [file, page] of Object.entries(pages))
  describe(file, () => {
    const blocks = blocksOf(readFileSync(join(root, file), 'utf8'));
    let prepared: Awaited<ReturnType<typeof prepare>>;
    before(async () => {
      prepared = await prepare(blocks, page);
      if (page.before === undefined) return;
      const { code, complaint } = await prepared.workshop.run(page.before);
      assert.equal(code, 0, complaint);
    });
    after(() => prepared.end());
    for (const [index, block] of blocks.entries())
      test(`${block.heading}: block ${index + 1}, ${block.language}`, async (t) => {
        const { needs, run } = page.blocks[index]!;
        const lacks = needs === undefined ? undefined : lacking(needs, prepared.workshop);
        if (lacks === undefined) await run(block, prepared.workshop);
        else t.skip(lacks);
      });
  });
