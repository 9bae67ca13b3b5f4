import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { Server } from 'node:net';
import { describe, test } from 'node:test';
import { brotliCompressSync, constants } from 'node:zlib';
import { withServer } from '../suites/testing/against.ts';
import { unlimited as fixture } from './dev/testing/fixtures.ts';
import { flaky, json, send } from './dev/testing/hostile-servers.ts';
import { packagedProgram } from './dev/testing/packaged.ts';
import { temporaryFolder } from './dev/testing/temporary-folder.ts';

const MOST_BYTES = 256 * 1024 * 1024;

const { place, fileOf } = temporaryFolder();
fileOf('fixture.json', fixture);

/** Verifies a target in a new process. Returns its exit code and peak memory (bytes). */
async function peakOf(name: string, port: number, flags: string) {
  const peak = place(`${name.replace(/\W/g, '-')}.peak`);
  const line = `verify http://127.0.0.1:${port} --fixture ${place('fixture.json')} --seed 1 ${flags}`;
  const watch = new URL('dev/testing/peak-memory.mjs', import.meta.url).href;
  const argv = ['--import', watch, packagedProgram, ...line.split(' ')];
  const code = await new Promise((resolve) => {
    const options = { env: { ...process.env, PEAK_FILE: peak }, maxBuffer: MOST_BYTES };
    const child = execFile(process.execPath, argv, options, () => resolve(child.exitCode));
  });
  return { code, bytes: Number(readFileSync(peak, 'utf8')) };
}

const bomb = () =>
  brotliCompressSync(Buffer.alloc(200_000_000), { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } });

const most = Array.from({ length: 95 }, (_, at) => `X-${at}: ${'y'.repeat(150)}`);
const megabyte = `{"a":"\u4e2d${'x'.repeat(1_000_000)}"}`;
const crowd = '--only rate-limit/deposit-check/requests';

/** Targets that need the most memory: answers of the maximum size, many at once, or kept. */
const targets: Readonly<Record<string, readonly [serve: () => Server, code: number, flags: string]>> = {
  'correct answers of the maximum size, which are kept': [
    () => flaky(fixture, () => false, 16_000),
    0,
    `--only invalid-uuid --log ${place('run.log')} --report html=${place('run.html')}`,
  ],
  'a thousand answers at once with many header fields': [() => send('200 OK', '{}', json, ...most), 3, crowd],
  'a thousand answers at once of a megabyte': [() => send('200 OK', megabyte, json), 3, crowd],
  'Brotli bombs': [() => send('200 OK', bomb(), json, 'Content-Encoding: br'), 1, '--only valid --cases 300'],
};

describe('a run needs at most 256 MB for', { concurrency: 2 }, () => {
  for (const [name, [serve, code, flags]] of Object.entries(targets))
    test(name, { timeout: 120_000 }, () =>
      withServer(serve(), async (port) => {
        const run = await peakOf(name, port, flags);
        assert.equal(run.code, code);
        assert.ok(run.bytes > 0 && run.bytes < MOST_BYTES, `${Math.round(run.bytes / 2 ** 20)} MB`);
      }),
    );
});
