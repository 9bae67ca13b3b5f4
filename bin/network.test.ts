import assert from 'node:assert/strict';
import { createServer as createHttpServer, request as forward } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { connect } from 'node:net';
import { describe, test, type TestContext } from 'node:test';
import type { SecureVersion } from 'node:tls';
import { serverFor } from '../suites/testing/against.ts';
import { unlimited } from './dev/testing/fixtures.ts';
import { mockListener, onData } from './dev/testing/hostile-servers.ts';
import { expired, tls } from './dev/testing/certificate.ts';
import { endsSaying, runCli, testRefusals } from './dev/testing/run-cli.ts';
import { temporaryFolder } from './dev/testing/temporary-folder.ts';
import { parseTarget, parseUrl } from './network.ts';

const { fileOf } = temporaryFolder();

const fixtureFile = fileOf('fixture.json', unlimited);
const flags = `--fixture ${fixtureFile} --only valid/user-status/member --cases 9 --seed 1`;

const mockServer = () => createHttpServer(mockListener(unlimited));
const doctor = (url: string) => `doctor ${url} --fixture ${fixtureFile}`;
const verify = (url: string) => `verify ${url} ${flags}`;
const portOf = (url: string) => new URL(url).port;

/** A proxy that leads to this port, whatever the name. Returns its URL, and what it was asked, without paths. */
async function proxyTo(t: TestContext, port: string, refusal?: string) {
  const asked: string[] = [];
  const server = createHttpServer((request, response) => {
    const { method, url = '', headers } = request;
    const { 'proxy-authorization': credentials = '', ...passedOn } = headers;
    const { origin, host } = new URL(url);
    asked.push(`${method === 'GET' ? '' : `${method} `}${origin} ${credentials}`.trim());
    if (refusal !== undefined) return void response.writeHead(Number(refusal.slice(0, 3))).end();
    if (headers.host !== host) return void response.writeHead(400).end();
    const path = url.slice(origin.length);
    const up = forward({ port, method, path, headers: passedOn }, (answer) => {
      response.writeHead(answer.statusCode!, answer.headers);
      answer.pipe(response);
    });
    up.on('error', () => response.destroy());
    request.pipe(up);
  });
  server.on('connect', ({ url = '', headers }, socket, head) => {
    asked.push(`CONNECT ${url} ${headers['proxy-authorization'] ?? ''}`.trim());
    if (refusal !== undefined) return void socket.end(`HTTP/1.1 ${refusal} No\r\n\r\n`);
    const up = connect(Number(port), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      up.write(head);
      up.pipe(socket).pipe(up);
    });
    for (const one of [up, socket]) one.on('error', () => undefined);
  });
  return { url: await serverFor(t, server), asked };
}

describe('a proxy', () => {
  const target = 'http://target.invalid';
  for (const name of ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'https_proxy'] as const)
    test(`of ${name} leads to the target`, async (t) => {
      const isTls = /https/i.test(name);
      const server = isTls ? createHttpsServer(tls, mockListener(unlimited)) : mockServer();
      const proxy = await proxyTo(t, portOf(await serverFor(t, server)));
      const url = `${isTls ? 'https' : 'http'}://target.invalid:8080`;
      await endsSaying(`${verify(url)} --insecure`, 0, [], { env: { [name]: proxy.url } });
      assert.ok(proxy.asked.length > 0);
      const way = isTls ? 'CONNECT target.invalid:8080' : url;
      assert.deepEqual(new Set(proxy.asked), new Set([way]));
    });

  test('is never used for loopback, and not for names in NO_PROXY or no_proxy', async (t) => {
    const port = portOf(await serverFor(t, mockServer()));
    const proxy = await proxyTo(t, port);
    const both = { HTTP_PROXY: proxy.url, HTTPS_PROXY: proxy.url };
    for (const host of ['127.0.0.1', 'localhost', '127.1.2.3', '[::1]']) {
      const { error } = await runCli(doctor(`http://${host}:${port}`), { env: both });
      assert.doesNotMatch(error, /proxy/);
    }
    for (const name of ['NO_PROXY', 'no_proxy']) {
      const env = { HTTP_PROXY: proxy.url, [name]: 'other.example,target.invalid' };
      await endsSaying(verify(`${target}:${port}`), 4, /: the name does not resolve/, { env });
    }
    assert.deepEqual(proxy.asked, []);
  });

  test('gets its user name and password, which no output has', async (t) => {
    const proxy = await proxyTo(t, portOf(await serverFor(t, mockServer())));
    const withPassword = proxy.url.replace('//', '//me:s3cr%40t@');
    const run = await endsSaying(verify(target), 0, [], { env: { HTTP_PROXY: withPassword } });
    const sent = `Basic ${Buffer.from('me:s3cr@t').toString('base64')}`;
    assert.deepEqual(new Set(proxy.asked), new Set([`${target} ${sent}`]));
    const env = { HTTP_PROXY: 'ftp://me:s3cr%40t@x' };
    const words = /HTTP_PROXY is not the URL of a proxy; write it like http:\/\//;
    const bad = await endsSaying(verify(target), 2, words, { env });
    for (const { output, stderr } of [run, bad]) assert.doesNotMatch(output + stderr, /s3cr/);
  });

  for (const scheme of ['http', 'https'])
    test(`for ${scheme} is named by doctor, and gets no key`, async (t) => {
      const server = scheme === 'http' ? mockServer() : createHttpsServer(tls, mockListener(unlimited));
      let seen = 0;
      server.on('request', ({ headers }) => (seen += headers['proxy-authorization'] === undefined ? 0 : 1));
      const proxy = await proxyTo(t, portOf(await serverFor(t, server)));
      const env = { HTTP_PROXY: proxy.url.replace('http://', '') };
      const url = `${scheme}://target.invalid --insecure`;
      await endsSaying(doctor(url), 0, / ms through a proxy \(HTTP_PROXY, HTTPS_PROXY\)/, { env });
      const misplaced = `--fixture ${fixtureFile} --only auth/user-status/header-only --cases 200 --seed 1`;
      await endsSaying(`verify ${url} ${misplaced}`, 0, [], { env });
      // Through a tunnel, the target gets it.
      assert.equal(seen > 0, scheme === 'https');
      assert.equal(new Set(proxy.asked).size, 1);
    });

  for (const [what, scheme, refusal, cause] of [
    ['wants a password', 'http', '407', /answered 407: its URL needs a user name/],
    ['wants a password', 'https', '407', /answered 407: its URL needs a user name/],
    ['refuses the target', 'http', '503', /the target answers everything with 503/],
    ['refuses the target', 'https', '403', /proxy \(HTTP_PROXY, HTTPS_PROXY\) answered 403 to CONNECT/],
  ] as const)
    test(`for ${scheme} that ${what}: exit code 4`, async (t) => {
      const proxy = await proxyTo(t, '9', refusal);
      await endsSaying(verify(`${scheme}://target.invalid`), 4, cause, { env: { HTTP_PROXY: proxy.url } });
    });

  test('that is not there is named, with a fix', async () => {
    const words = [
      /the proxy \(HTTP_PROXY, HTTPS_PROXY\): the connection was refused/,
      /Correct HTTP_PROXY or HTTPS_PROXY, or name the host in NO_PROXY/,
    ];
    await endsSaying(doctor(target), 4, words, { env: { HTTP_PROXY: 'http://127.0.0.1:9' } });
  });
});

describe('a client certificate', () => {
  const pem = fileOf('client.pem', tls.cert);
  const [, key = ''] = /(-----BEGIN PRIVATE KEY[^]*?KEY-----)/.exec(tls.key) ?? [];
  const certificateOnly = fileOf('only.pem', tls.cert.replace(key, ''));
  const keyOnly = fileOf('key.pem', key);
  const other = fileOf('other.pem', expired.cert);
  const trusts = `--ca ${pem}`;

  async function demanding(t: TestContext, version: SecureVersion): Promise<string> {
    const demands = { ca: tls.cert, requestCert: true, minVersion: version, maxVersion: version };
    const server = createHttpsServer({ ...tls, ...demands }, mockListener(unlimited));
    return `https://localhost:${portOf(await serverFor(t, server))}`;
  }

  for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
    test(`lets a run through, ${version}`, async (t) => {
      const url = await demanding(t, version);
      for (const given of [`--cert ${pem}`, `--cert ${certificateOnly} --cert-key ${keyOnly}`])
        await endsSaying(`${verify(url)} ${trusts} ${given}`, 0);
    });
    test(`is asked for if it is missing, ${version}`, async (t) => {
      const url = await demanding(t, version);
      const words = /requires? a client certificate[^\n]*--cert and --cert-key[^\n]*\nnext: /;
      await endsSaying(`${verify(url)} ${trusts}`, 4, words);
      const fix = /Give a certificate that the target accepts with --cert/;
      await endsSaying(`${doctor(url)} ${trusts}`, 4, fix);
    });
  }

  // RFC 8446 6: bad, unsupported, revoked, expired and unknown certificate, unknown CA, access denied.
  for (const alert of [42, 43, 44, 45, 46, 48, 49])
    test(`that the target refuses with TLS alert ${alert} is named`, async (t) => {
      const server = onData((socket) => socket.end(Buffer.from([21, 3, 3, 0, 2, 2, alert])));
      const url = `https://localhost:${portOf(await serverFor(t, server))}`;
      const words = /the target does not accept the client certificate of --cert/;
      await endsSaying(`${verify(url)} --cert ${pem}`, 4, words);
    });

  test('is asked for if nginx misses it', async (t) => {
    const page = '<html><head><title>400 No required SSL certificate was sent</title></head></html>';
    const server = createHttpServer((_, response) =>
      response.writeHead(400, { 'content-type': 'text/html' }).end(page),
    );
    await endsSaying(doctor(await serverFor(t, server)), 4, [
      /✗ URL +this is another service: 400: the server wants a client certificate/,
      /→ Give a certificate that the target accepts with --cert, and its key/,
    ]);
  });

  test('goes through a proxy to the target, and is in the next command', async (t) => {
    const env = { HTTPS_PROXY: (await proxyTo(t, portOf(await demanding(t, 'TLSv1.3')))).url };
    const line = `${doctor('https://target.invalid')} --insecure`;
    const { output } = await endsSaying(`${line} --cert ${pem}`, 0, [], { env });
    assert.ok(output.includes(`--cert ${pem} `), output);
    await endsSaying(line, 4, /the target requires a client certificate: give --cert/, { env });
  });

  testRefusals('verify https://localhost:9', [
    ['--cert none.pem', /--cert none\.pem: cannot be read/],
    [`--cert ${keyOnly}`, /key\.pem: is a private key; give the file that begins with -----BEGIN CERTIF/],
    [`--cert-key ${keyOnly}`, /--cert-key needs --cert/],
    [`--cert ${certificateOnly}`, /--cert-key \S+only\.pem: has no private key in PEM without a passphrase/],
    [`--cert ${other} --cert-key ${keyOnly}`, /the key belongs to another certificate/],
  ]);
});

test('an answer with 60 KiB of header fields is judged, one with more than 64 KiB is named', async (t) => {
  const sized = (kib: number) =>
    serverFor(t, createHttpServer(mockListener(unlimited, { 'x-long': 'x'.repeat(kib * 1024) })));
  await endsSaying(verify(await sized(60)), 0);
  await endsSaying(verify(await sized(65)), 4, /headers are too long: the limit is 64 KiB/);
});

describe('a base URL', () => {
  /** Typed text, and the URL of the target. */
  const good: Readonly<Record<string, string>> = {
    'http://localhost:8080': 'http://localhost:8080/',
    'https://api.example.com/gateway/': 'https://api.example.com/gateway/',
    'http://bücher.example/': 'http://xn--bcher-kva.example/',
  };
  for (const [text, href] of Object.entries(good))
    test(`${text} is valid`, () => assert.equal(parseUrl(text).href, href));

  for (const path of ['api/ib', 'api/ib/', 'api/ib/user-status', 'api/ib/deposit-check/', ''])
    test(`a target with /${path} at its end is understood`, () => {
      assert.equal(parseTarget(`http://x/${path}`).href, 'http://x/');
      assert.equal(parseTarget(`http://x/gateway/${path}`).href, 'http://x/gateway/');
    });

  /** Typed text, and the message of one line. */
  const bad: Readonly<Record<string, RegExp>> = {
    '': /^the URL is empty; write it like/,
    nonsense: /^nonsense: is not a URL; write it like/,
    'http://a b/': /^http:\/\/a b\/: is not a URL/,
    // Only a soft hyphen, which is removed from host names.
    'http://\u00ad/': /^http:\/\/\\u\{ad\}\/: is not a URL/,
    'http://x:70000/': /^http:\/\/x:70000\/: there is no port 70000; the highest is 65535$/,
    'http://x:0/y': /^http:\/\/x:0\/y: no server can listen on port 0/,
    'localhost:8080': /^localhost:8080: a URL begins with http:\/\/ or https:\/\/; write it like/,
    'ftp://x/': /a URL begins with http/,
    'http://x/?': /^http:\/\/x\/\?…: a base URL must not have a query or a fragment$/,
    'http://x/?key=secret': /^http:\/\/x\/\?…: a base URL must not have a query/,
    'http://x/#': /^http:\/\/x\/#…: a base URL must not have a query/,
    'http://user:secret@x/': /^the URL has a user name or password/,
    'http://user@x/': /^the URL has a user name or password/,
    'http://:secret@x/': /^the URL has a user name or password/,
    'http://user:se cret@x:99999/': /^http:\/\/…@x:99999\/: there is no port 99999/,
    'https:user:secret@x:99999': /^…@x:99999: there is no port 99999/,
    'user:secret@x': /^…@x: a URL begins with http/,
    'http://\u001b[2J\u009b\u202ex/': /^http:\/\/\\u\{1b\}\[2J\\u\{9b\}\\u\{202e\}x\/: is not a URL/,
  };
  for (const [text, pattern] of Object.entries(bad))
    test(`${JSON.stringify(text)} is invalid`, () =>
      assert.throws(
        () => parseUrl(text),
        ({ message }: Error) => {
          assert.match(message, pattern);
          assert.doesNotMatch(message, /secret|\p{C}/u);
          return true;
        },
      ));
});
