/** Runs every code block of the README and of `docs/` as a reader with the installed package would (`npm run test:docs`). */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { install } from '../package/install.ts';
import { root } from '../paths.ts';
import { skipWithout } from '../skip-without.ts';
import { blocksOf } from './markdown.ts';
import { pages } from './pages.ts';
import { startReader, type Reader } from './reader.ts';

const { folder } = await install();
after(() => rm(folder, { recursive: true }));
const fromRegistry = ['install', '--no-audit', '--no-fund', '--silent', 'vitest@4', 'openapi-typescript@7'];
// Without a registry, the blocks that need these are reported as missing.
await promisify(execFile)('npm', fromRegistry, { cwd: folder }).catch(() => undefined);

describe('the docs', { concurrency: availableParallelism() }, () => {
  for (const [file, page] of Object.entries(pages))
    describe(file, { concurrency: 1 }, () => {
      const blocks = blocksOf(readFileSync(join(root, file), 'utf8'));
      let reader: Reader;
      before(async () => {
        const fixture = page.hasFixture === true ? blocks[0]!.text : undefined;
        reader = await startReader(join(folder, 'node_modules'), fixture);
        if (page.before !== undefined) await reader.run(page.before);
      });
      after(() => reader.end());
      for (const [index, block] of blocks.entries())
        test(`${block.heading}: block ${index + 1}, ${block.language}`, async (t) => {
          const { needs, run } = page.blocks[index]!;
          if (needs !== undefined && !reader.has(needs)) skipWithout(t, `this works: ${needs}`);
          else await run(block, reader);
        });
    });
});
