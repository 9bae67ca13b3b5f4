import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { before, describe, test } from 'node:test';
import { on } from '../mock/deviations/deviate.ts';
import { reference } from '../mock/server/handler.ts';
import { startMock } from '../mock/server/server.ts';
import { reportFormats } from '../reports/document.ts';
import { loadFixture } from './input-files.ts';
import { unlimited } from './dev/testing/fixtures.ts';
import { runCli } from './dev/testing/run-cli.ts';
import { temporaryFolder } from './dev/testing/temporary-folder.ts';

const { fileOf, place } = temporaryFolder();

/** Keys as the fixture writes them, the variables for them, and a requirement that each fails. */
const keys = [
  // The variable has a part of this key only.
  ['part-${IB_API_KEY}', 'northwind', 'active', 'IB_API_KEY_2', 'valid/user-status/member'],
  ['${OLD_KEY}', 'northwind', 'revoked', 'OLD_KEY', 'auth/user-status/revoked'],
  ['${HEAD}${TAIL}', 'northwind', 'expired', 'IB_EXPIRED_KEY', 'auth/user-status/expired'],
  ['written-out-1', null, 'active', 'IB_NON_PARTNER_KEY', 'auth/user-status/non-partner'],
  ['written-out-2', 'contoso', 'active', 'IB_OTHER_KEY', 'foreign-ib/user-status/follows-key'],
] as const;
const env = { IB_API_KEY: 'of-the-key', OLD_KEY: 'old-pk-8K', HEAD: 'head-Z3', TAIL: 'tail-Q9' };
const apiKeys = keys.map(([key, partner, state]) => ({ key, partner, state }));
const fixture = fileOf('keys.json', { ...unlimited, apiKeys });

describe('each output names the variable of each key, and says which key it is', () => {
  const outputs: Record<string, string> = {};
  before(async () => {
    const served = await loadFixture(fixture, env);
    // Failures that differ are shown one by one.
    const behaviour = on((_response, { request }) => ({
      status: 410 + served.apiKeys!.findIndex(({ key }) => request.headers.authorization?.endsWith(key)),
    }))(reference);
    await using mock = await startMock({ fixture: served, behaviour });
    const files = reportFormats.map((format) => `--report ${format}=${place(format)}`);
    const only = keys.map(([, , , , id]) => `--only ${id}`);
    const flags = [...only, ...files, '--cases 100 --seed 1 --verbose --log', place('log')];
    await runCli(`verify ${mock.url} --fixture ${fixture} ${flags.join(' ')}`, { env });
    for (const name of [...reportFormats, 'log']) outputs[name] = readFileSync(place(name), 'utf8');
    const [stop, printed] = [new AbortController(), [] as string[]];
    await runCli(`mock --port 0 --fixture ${fixture}`, {
      env,
      signal: stop.signal,
      print: async (text) => {
        printed.push(text);
        if (text.includes('curl')) stop.abort();
      },
    });
    outputs['mock'] = printed.join('');
  });
  /** Written by JSON, XML or an annotation, or on several lines. */
  const plain = (text = '') =>
    text
      .replaceAll('&lt;', '<')
      .replaceAll('&gt;', '>')
      .replaceAll(/&quot;|\\"/g, '"')
      .replaceAll(/\s+|%0A/g, ' ');
  for (const name of [...reportFormats, 'log', 'mock'])
    test(name, () => {
      const text = plain(outputs[name]);
      for (const [, partner, state, variable] of keys) {
        // The mock shows nothing with the key of another partner.
        if (name === 'mock' && variable === 'IB_OTHER_KEY') continue;
        assert.match(text, new RegExp(`Bearer \\$${variable}"`));
        const key = `<key ${partner ?? 'non-partner'}/${state}>`;
        const isData = name === 'json' || name === 'log';
        assert.ok(text.includes(isData ? `"${key}"` : `$${variable} stands for ${key}`), key);
      }
      for (const secret of Object.values(env)) assert.ok(!text.includes(secret), secret);
    });
});
