import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import { describe, test } from 'node:test';
import { reportFormats } from '../reports/document.ts';
import { withServer } from '../suites/testing/against.ts';
import { runCli } from './dev/testing/run-cli.ts';
import { temporaryFolder } from './dev/testing/temporary-folder.ts';

const { place: pathOf, fileOf } = temporaryFolder();

/** Keys in every state, one of them from the environment, one with characters that need escapes. */
const env = { IB_TEST_KEY: 'env_Q7zR2mK9xW4v' };
const keys = {
  active: env.IB_TEST_KEY,
  spare: 'pk/live+"8Kd0\\Zp3&=?V5',
  revoked: '5b1f7c2e9a4d8063',
  other: 'Yt5Wn0QsLr3HcE6u',
} as const;
const cookie = 'u7Xq2Lm8Vb4Nz1';
const userId = '1a000000-0000-4000-8000-00000000000a';
const fixture = fileOf('fixture.json', {
  partners: [{ id: 'northwind' }, { id: 'contoso' }],
  apiKeys: [
    { key: '${IB_TEST_KEY}', partner: 'northwind', state: 'active' },
    { key: keys.spare, partner: 'northwind', state: 'active' },
    { key: keys.revoked, partner: 'northwind', state: 'revoked' },
    { key: keys.other, partner: 'contoso', state: 'active' },
  ],
  users: [{ user_id: userId, partner: 'northwind', date_joined: '2024-02-29T23:59:59.999Z' }],
});

const secrets = [...Object.values(keys), cookie];
const base64 = (text: string) => Buffer.from(text).toString('base64');

/** Answers of a hostile server with a secret, sent in turn. */
const bodies: readonly ((secret: string) => string)[] = [
  (secret) => `wrong key ${secret}`,
  (secret) => JSON.stringify({ error: secret }),
  (secret) => JSON.stringify({ [secret]: 1, is_under_ib: true, date_joined: secret }),
  (secret) => `${secret.slice(0, Math.ceil(secret.length / 2))}…`,
  (secret) => `…${secret.slice(-12)}`,
  (secret) => `${'x'.repeat(2000 - 10)}${secret}`,
  (secret) => `?api_key=${encodeURIComponent(secret)}`,
  (secret) => `Basic ${base64(`${secret}:`)} ${base64(`user:${secret}`)}`,
  (secret) => secret.toUpperCase(),
];
const leaks: readonly ((secret: string, response: ServerResponse) => void)[] = [
  ...bodies.map((body) => (secret: string, response: ServerResponse) => void response.end(body(secret))),
  (secret, response) => {
    response.statusMessage = `No ${secret}`;
    const type = `text/${encodeURIComponent(secret)}`;
    response.writeHead(500, { 'content-type': type, 'x-key': secret }).end('{}');
  },
  (secret, response) =>
    void response.writeHead(302, { location: `/login?key=${encodeURIComponent(secret)}` }).end(),
  (secret, response) => void response.socket?.end(`HTTP/1.1 2x0 ${secret}\r\n\r\n`),
  (secret, response) => {
    response.writeHead(200, { 'content-length': '500' }).write(secret);
    setImmediate(() => response.destroy());
  },
];

let served = 0;
const server = createServer((_, response) => {
  const turn = served++;
  leaks[turn % leaks.length]!(secrets[Math.floor(turn / leaks.length) % secrets.length]!, response);
});

const context = { env, isTerminal: true, terminal: { color: true, width: 80 } };

/** Returns all output of a command line as one text. */
async function outputOf(argv: string | readonly string[]) {
  const { code, output, stderr } = await runCli(argv, context);
  return { code, text: output + stderr };
}

/** Removes escapes and line breaks from a text, independently of the redactor. */
function plain(text: string): string {
  const characters = (code: string) => String.fromCharCode(parseInt(code, 16));
  const once = (written: string) =>
    written
      .replaceAll(/\\u([0-9a-f]{4})/gi, (_, code: string) => characters(code))
      .replaceAll(/\\(.)/g, '$1')
      .replaceAll(/%([0-9a-f]{2})/gi, (_, code: string) => characters(code));
  return `${text} ${once(text)} ${once(once(text))}`.replaceAll(/\s+/g, '').toLowerCase();
}

/** Parts of a secret that must not be in any output. */
function telling(secret: string): readonly string[] {
  const runs = (text: string, length: number) =>
    Array.from({ length: text.length - length + 1 }, (_, at) => text.slice(at, at + length));
  const least = Math.max(8, Math.ceil(secret.length / 2));
  return [
    ...runs(secret, least),
    ...['', ':', 'user:'].flatMap((before) => runs(base64(before + secret).slice(8, -4), 12)),
  ].map((part) => part.toLowerCase());
}

function assertClean(text: string): void {
  const shown = plain(text);
  for (const secret of secrets)
    for (const part of telling(secret)) {
      const at = shown.indexOf(part);
      assert.ok(at < 0, `${part} of ${secret} in …${shown.slice(Math.max(0, at - 100), at + 100)}…`);
    }
}

test('this test finds secrets', () => {
  const forms = [encodeURIComponent, JSON.stringify, (text: string) => base64(`user:${text}`)];
  for (const secret of secrets)
    for (const leak of [secret, secret.slice(0, -1), ...forms.map((form) => form(secret))])
      assert.throws(() => assertClean(`a ${leak} b`), leak);
  assertClean('northwind, <key northwind/active> <header cookie>');
});

test(`no output contains a secret, whatever the target does with it: ${reportFormats.join(', ')}, log, progress`, async () => {
  const only = 'valid invalid-uuid foreign-ib auth robustness'.replaceAll(/\S+/g, '--only $&');
  const names = [...reportFormats.map((format) => `run.${format}`), 'run.log'];
  const reports = reportFormats.map((format) => `--report ${format}=${pathOf(`run.${format}`)}`).join(' ');
  const flags = `--cases 26 --seed 1 --timeout 2000 ${only} --log ${pathOf('run.log')} ${reports}`;
  const { text, code } = await withServer(server, (port) => {
    const line = `verify http://127.0.0.1:${port} --fixture ${fixture} ${flags}`;
    return outputOf([...line.split(' '), '--header', `cookie: session=${cookie}`]);
  });
  assert.equal(code, 1, text);
  assertClean(text);
  for (const name of names) assertClean(readFileSync(pathOf(name), 'utf8'));
  assert.match(readFileSync(pathOf('run.json'), 'utf8'), /<key northwind\/active>[^]*<header cookie>/);
});

/** Places where a client puts a key: mostly wrong ones, and the correct one. */
const places: readonly ((key: string) => { readonly path: string; readonly init?: RequestInit })[] = [
  (key) => ({ path: '', init: { headers: { authorization: `Bearer ${key}` } } }),
  (key) => ({ path: '', init: { headers: { authorization: `Bearer ${key}~a-world` } } }),
  (key) => ({ path: '', init: { headers: { authorization: key } } }),
  (key) => ({ path: '', init: { headers: { authorization: `Basic ${base64(`user:${key}`)}` } } }),
  (key) => ({ path: '', init: { headers: { 'x-api-key': key, cookie: `key=${key}` } } }),
  (key) => ({ path: '', init: { method: 'POST', body: `key=${key}` } }),
  (key) => ({ path: `&x=${encodeURIComponent(key)}` }),
  (key) => ({ path: `&x=${base64(key)}` }),
  (key) => ({ path: `&x=${encodeURIComponent(key.slice(0, -1))}` }),
  (key) => ({ path: `&${'x'.repeat(2100 - 60)}${encodeURIComponent(key)}${'y'.repeat(1000)}` }),
  (key) => ({ path: `/${encodeURIComponent(key)}` }),
];

describe('no output of a mock contains a key, wherever a client puts it', () => {
  for (const format of ['pretty', 'json'] as const)
    test(`in the log (${format}), and in answers of interface and admin API`, async () => {
      const stop = new AbortController();
      let printed = '';
      let listening: () => void = () => undefined;
      const isListening = new Promise<void>((resolve) => (listening = resolve));
      const flags = ['--port', '0', '--fixture', fixture, '--log', format];
      const done = runCli(['mock', ...flags], {
        ...context,
        signal: stop.signal,
        print: async (more) => {
          printed += more;
          listening();
        },
        writeError: (more) => void (printed += more),
      });
      await isListening;
      const [, base = ''] = /^listening on (\S+)/.exec(printed) ?? [];
      let seen = '';
      const ask = async (path: string, init?: RequestInit) => {
        const response = await fetch(base + path, init);
        seen += `${response.status} ${JSON.stringify([...response.headers])} ${await response.text()}\n`;
      };
      for (const key of Object.values(keys))
        for (const [at, place] of places.entries()) {
          const { path, init } = place(key);
          await ask(`/api/ib/user-status?user_id=${userId}&at=${at}${path}`, init);
          await ask(`/__admin/requests${path.startsWith('/') ? path : `?${path}`}`, init);
        }
      const headers = { 'content-type': 'application/json' };
      for (const key of Object.values(keys)) {
        const inPath = encodeURIComponent(key);
        await ask(`/__admin/requests?key=${inPath}x&reason=${inPath}`);
        for (const [method, path, body] of [
          ['PUT', 'keys/nobody', JSON.stringify({ key, partner: 'nobody' })],
          ['PUT', `keys/${inPath}x`, '{"state": "revoked"}'],
          ['PUT', `keys/${inPath}`, '{"state": "expired"}'],
          ['PUT', `keys/${inPath}`, JSON.stringify({ key, partner: key, [key]: key })],
          ['POST', 'state', JSON.stringify({ state: key, params: { key } })],
          ['POST', 'next', `{"${JSON.stringify(key).slice(1, -1)}": "${key}`],
        ] as const)
          await ask(`/__admin/${path}`, { method, headers, body });
      }
      for (const world of ['', '?world=a-world'])
        for (const part of ['requests', 'data', 'fault', 'clock']) await ask(`/__admin/${part}${world}`);
      stop.abort();
      assert.equal((await done).code, 0);
      for (const text of [printed, seen]) assert.match(text, /<key northwind\/active>/);
      for (const text of [printed, seen]) assertClean(text);
    });
});

/** Errors about a secret, and their messages. */
const ofKey = `http://127.0.0.1:9/${keys.active} --fixture ${fixture}`;
const gated = ['verify', 'http://127.0.0.1:9', '--header'];
const errors: readonly (readonly [argv: string | readonly string[], pattern: RegExp])[] = [
  [`verify ${ofKey} --cases 1`, /127\.0\.0\.1:9\/<key northwind\/active>/],
  [`doctor ${ofKey}`, /next: Start the server/],
  [[...gated, 'x-gate: ${IB_TEST_KEY}'], /the connection was refused/],
  [[...gated, 'x-gate: ${IB_TEST_KEY}ü'], /--header needs 'name: value' in ASCII/],
  [['verify', `http://us er:${keys.other}/x@here`], /http:\/\/…@here: is not a URL/],
  [`verify http://here --state-url http://here?key=${keys.other}`, /here\?…: a base URL/],
  [`mock --admin-token ${keys.other} --admin-token ${keys.other}`, /--admin-token was given more than once/],
  [['mock', '--admin-token', `${keys.other} ä`], /admin token needs visible ASCII/],
  [['verify', '--header', `authorization: Bearer ${keys.other}`], /Authorization is not allowed/],
];

for (const [argv, pattern] of errors)
  test(`no error shows a secret: ${pattern.source}`, async () => {
    const { text } = await outputOf(argv);
    assert.match(text, pattern);
    assertClean(text);
  });
