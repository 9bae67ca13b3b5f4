import assert from 'node:assert/strict';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { against } from '../suites/testing/against.ts';
import { createServer as createTlsServer } from 'node:tls';
import { expired, tls } from '../mock/testing/certificate.ts';
import type { Fixture } from '../schemas/generated/types.ts';
import { runCli } from './testing/run-cli.ts';
import { loadFixture } from './fixture-file.ts';
import { faltering, json, says } from './testing/hostile-servers.ts';
import { loud, silent } from './testing/hostile-targets.ts';

// No time is spent on limiters that nobody has.
const { limits: _, ...fixture }: Fixture = await loadFixture(undefined, {});
const folder = mkdtempSync(join(tmpdir(), 'ib-conformance-'));
const place = (name: string) => join(folder, name);
const fixtureFile = place('fixture.json');
writeFileSync(fixtureFile, JSON.stringify(fixture));

/** Runs verify against a URL: a short run, unless `--cases` says otherwise. */
async function verify(url: string, ...flags: readonly string[]) {
  const cases = flags.includes('--cases') ? [] : ['--cases', '3'];
  const short = [...cases, '--max-duration', '1m', '--no-canary', '--seed', '1'];
  const { code, output, aside, error } = await runCli([
    'verify',
    url,
    '--fixture',
    fixtureFile,
    ...short,
    ...flags,
  ]);
  return { code, output, error: aside + error, message: error };
}

/** What a terminal acts on, or a reader does not see, but for the ends of our own lines. */
const UNPRINTABLE = /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u;

/** How every such run has to end. */
async function ends(url: string, code: number, cause: RegExp, ...flags: readonly string[]): Promise<void> {
  const run = await verify(url, ...flags);
  const told = run.output + run.error;
  assert.equal(run.code, code, told);
  assert.ok(
    told.split('\n').some((line) => cause.test(line)),
    `no line says ${cause}: ${told}`,
  );
  if (code === 4) assert.equal(run.message.split('\n').length, 1, run.message);
  assert.doesNotMatch(told, /^\s+at /m, 'no stack');
  assert.doesNotMatch(told, UNPRINTABLE, 'nothing that a terminal acts on');
  assert.ok(told.length < 200_000, 'bounded');
}

describe('a target that', () => {
  for (const [name, serve] of Object.entries(silent))
    test(`${name}: 3`, { timeout: 60_000 }, () =>
      against(serve(), (port) =>
        ends(
          `http://127.0.0.1:${port}`,
          3,
          /accepts connections but does not answer: no whole answer within 300 ms/,
          '--timeout',
          '300',
        ),
      ),
    );
  for (const [targets, code, ...flags] of loud)
    for (const [name, [serve, cause]] of Object.entries(targets))
      test(`${name}: ${code}`, { timeout: 60_000 }, () =>
        against(serve(), (port) =>
          ends(`http://127.0.0.1:${port}`, code, cause, '--timeout', '20000', ...flags),
        ),
      );
});

test('a port where nothing listens: 4', async () => {
  const port = await against(createServer(), async (free) => free);
  await ends(`http://127.0.0.1:${port}`, 4, /the connection was refused: nothing listens there/);
});
test('a name that there is not: 4', () =>
  ends('http://no-such-name.invalid', 4, /the name does not resolve/));

describe('TLS:', () => {
  const file = (name: string, text: string) => {
    writeFileSync(place(name), text);
    return place(name);
  };
  const ca = file('ca.pem', expired.cert);
  const ownCa = file('own-ca.pem', tls.cert);
  const speaks = (certificate: typeof tls) => createTlsServer(certificate, () => undefined);
  test('a certificate that nobody signed: 4', () =>
    against(speaks(tls), (port) =>
      ends(`https://localhost:${port}`, 4, /its certificate is self-signed: give --ca or --insecure/),
    ));
  test('one that has expired: 4', () =>
    against(speaks(expired), (port) =>
      ends(`https://localhost:${port}`, 4, /its certificate has expired/, '--ca', ca),
    ));
  test('one for another name: 4', () =>
    against(speaks(tls), (port) =>
      ends(`https://127.0.0.1:${port}`, 4, /its certificate is for another name/, '--ca', ownCa),
    ));
  test('https to a plain port: 4', () =>
    against(says('200 OK', '{}', json), (port) =>
      ends(`https://localhost:${port}`, 4, /TLS failed: the port may speak plain HTTP/),
    ));
  test('https to a port that says nothing: 3', () =>
    against(createServer(), (port) =>
      ends(`https://localhost:${port}`, 3, /does not answer/, '--timeout', '300'),
    ));
  test('http to a TLS port: 4', () =>
    against(speaks(tls), (port) => ends(`http://localhost:${port}`, 4, /closed|reset|not HTTP/)));
});

describe('in the middle of the run', () => {
  const part = ['--suite', 'valid', '--suite', 'auth', '--cases', '100'];
  const patient = ['--timeout', '20000', ...part];
  test('the target goes away for good: 3, and it says so', () =>
    against(
      faltering(fixture, (nth, socket) => nth > 50 && socket.resetAndDestroy() !== undefined),
      (port) =>
        ends(`http://127.0.0.1:${port}`, 3, /the target stopped answering|connection was/, ...patient),
    ));
  test('the target says nothing any more: 3, and it is not asked for ever', () => {
    let asked = 0;
    return against(
      faltering(fixture, (nth) => (asked = nth) > 50),
      async (port) => {
        await ends(
          `http://127.0.0.1:${port}`,
          3,
          /no whole answer within 300 ms/,
          '--timeout',
          '300',
          ...part,
        );
        assert.ok(asked < 150, `${asked} requests`);
      },
    );
  });
  test('it restarts: what was under way is sent again, and nothing is held against it', () =>
    against(
      faltering(fixture, (nth, socket) => nth > 50 && nth < 53 && socket.resetAndDestroy() !== undefined),
      (port) => ends(`http://127.0.0.1:${port}`, 0, /^conformant/, ...patient),
    ));
});
