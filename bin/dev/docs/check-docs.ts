/** Runs every code block of the README and of `docs/` with the installed package (`npm test docs`). */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { install } from '../package/install.ts';
import { root } from '../paths.ts';
import { parsePage } from '../../../reports/testing/parsers.ts';
import { pages, withOwnFixture } from './pages.ts';
import { startReader, type Reader } from './reader.ts';

const { folder } = await install();
after(() => rm(folder, { recursive: true }));
const fromRegistry = ['install', '--no-audit', '--no-fund', '--silent', 'vitest@4', 'openapi-typescript@7'];
// Without a registry, blocks that need these packages fail or are skipped.
await promisify(execFile)('npm', fromRegistry, { cwd: folder }).catch(() => undefined);

describe('the docs', { concurrency: availableParallelism() }, () => {
  for (const [file, runners] of Object.entries(pages))
    describe(file, { concurrency: 1 }, () => {
      const { blocks } = parsePage(readFileSync(join(root, file), 'utf8'));
      let reader: Reader;
      before(async () => {
        const fixture = withOwnFixture.includes(file) ? blocks[0]!.text : undefined;
        reader = await startReader(join(folder, 'node_modules'), fixture);
      });
      after(() => reader.end());
      for (const [index, { heading, language, text }] of blocks.entries())
        test(`${heading}: block ${index + 1}, ${language}`, (t) => runners[index]!(text, reader, t));
    });
});
