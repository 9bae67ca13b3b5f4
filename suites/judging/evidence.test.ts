import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { describe, test } from 'node:test';
import type { Reply } from '../answer.ts';
import { forms, nearMisses, unissuedKeys, tokenOf } from '../inputs/credentials.ts';
import { malformations } from '../inputs/malformations.ts';
import { knownFrom, type Known, type KnownKey } from '../known.ts';
import { lookup, userStatus, type Request } from '../request.ts';
import { answerOf, sampleKnown } from '../testing/samples.ts';
import { recordExchange, redactedAll, redactor } from './evidence.ts';

const base = 'https://target.example/gateway/';
const id = '3f2504e0-4f89-41d3-9a0c-0305e82c3301';
const plain = answerOf(401, { error: 'Unauthorized' });

const knownOf = (...keys: readonly string[]): Known =>
  knownFrom({ apiKeys: keys.map((key) => ({ key, partner: 'northwind', state: 'active' })) });

/** Keys with special characters for a shell, a URL, JSON or a cookie. */
const fixtures: Readonly<Record<string, Known>> = {
  'a plain key': sampleKnown,
  'base64 in a key': knownOf('c2VjcmV0+LWtl/eQ=='),
  'signs of the shell in keys': knownOf('pk$HOME`id`"q"\\n!!', "it's-$(ls)-%s%d-*?~", '-n-e--key\\\\'),
  'signs of a URL in a key': knownOf('pk%20&live=1#x?y'),
  'signs of a cookie in a key': knownOf('pk;live,one+two/three'),
  'signs of JSON in a key': knownOf('{"pk":"\\live"}'),
};

/** The replacement of the key in every place. */
const requestsWith = (known: Known, key: KnownKey): readonly Request[] =>
  [
    ...Object.values(forms).flatMap((ways) => ways.map((form) => form(tokenOf(key)))),
    ...[...unissuedKeys(known), ...nearMisses(known)].map((token) => forms.Bearer[0](token)),
  ].map(({ changes, query }) =>
    lookup('user-status', `user_id=${id}${query === undefined ? '' : `&${query}`}`, changes),
  );

const redactors = new Map(Object.values(fixtures).map((known) => [known, redactor(known)]));
const record = (request: Request, known: Known, reply: Reply = plain) =>
  recordExchange({ request, reply }, base, redactors.get(known)!, known);

/** The arguments of each curl line in a shell. Each line sends the target of its request. */
function curlArguments(requests: readonly Request[], known: Known) {
  const lines = requests.map((request) => record(request, known).curl);
  const script = `curl() { printf '%s\\0' "$@"; printf '\\0'; }\n${lines.join('\n')}`;
  const { status, stdout, stderr } = spawnSync('bash', ['-s'], {
    input: script,
    encoding: 'utf8',
    env: {
      PATH: process.env['PATH'] ?? '',
      ...Object.fromEntries([...known.variables].map(([key, name]) => [name, key])),
    },
  });
  assert.equal(status, 0, stderr);
  assert.equal(stderr, '');
  const sent = stdout.split('\0\0').slice(0, -1);
  assert.equal(sent.length, requests.length);
  return sent.map((line, nth) => {
    const words = line.split('\0');
    assert.equal(words.at(-1), `https://target.example/gateway${requests[nth]!.target}`);
    return words;
  });
}

const option = (words: readonly string[], name: string) =>
  words.flatMap((word, at) => (words[at - 1] === name ? [word] : []));

describe('the curl line sends the same request, given the keys', () => {
  for (const [name, known] of Object.entries(fixtures))
    test(name, () => {
      for (const key of known.everyKey) {
        const requests = requestsWith(known, key);
        const sent = curlArguments(requests, known);
        for (const [nth, { credential, headers, body }] of requests.entries()) {
          const words = sent[nth]!;
          const authorization =
            credential.as === 'key'
              ? `${credential.scheme ?? 'Bearer'} ${key.key}`
              : credential.as === 'header'
                ? credential.value
                : undefined;
          assert.deepEqual(option(words, '-H'), [
            ...(authorization === undefined
              ? []
              : [authorization === '' ? 'Authorization;' : `Authorization: ${authorization}`]),
            ...Object.entries(headers).map(([field, value]) => `${field}: ${value}`),
          ]);
          assert.deepEqual(option(words, '--data-binary'), body === undefined ? [] : [body]);
        }
      }
    });
  test('for any query and method', () => {
    const requests = [
      ...Object.values(malformations).flatMap(({ examples }) =>
        [...examples('user_id', id)].map((query) => lookup('user-status', query)),
      ),
      ...['HEAD', 'POST', 'OPTIONS'].map((method) => userStatus(id, { method })),
      userStatus(`'"$(id)\`id\`\\!{a,b}*`),
    ];
    const sent = curlArguments(requests, sampleKnown);
    for (const [nth, { method }] of requests.entries()) {
      const words = sent[nth]!;
      const asked = words.includes('--head') ? 'HEAD' : (option(words, '-X')[0] ?? 'GET');
      assert.equal(asked, method);
      assert.ok(words.includes('--path-as-is'));
      // Brackets in a URL are no pattern to curl.
      assert.ok(words.some((word) => /^-\w*g/.test(word)));
    }
  });
});

describe('the record contains no value of a key', () => {
  for (const [name, known] of Object.entries(fixtures))
    test(`of a request: ${name}`, () => {
      for (const key of known.everyKey)
        for (const request of requestsWith(known, key)) {
          const text = JSON.stringify(record(request, known));
          const cookie = request.headers['cookie']?.replace(/^\w+=/, '');
          for (const spelling of [key.key, encodeURIComponent(key.key), cookie ?? key.key])
            assert.ok(!text.includes(JSON.stringify(spelling).slice(1, -1)), `${spelling} in ${text}`);
        }
    });
  test('of trouble', () => {
    const [{ key, name }] = sampleKnown.callerKeys as [KnownKey];
    const reply: Reply = { kind: 'trouble', code: 'network', words: `bad header Bearer ${key}` };
    assert.equal(record(userStatus(id), sampleKnown, reply).trouble, `bad header Bearer ${name}`);
  });
});

describe('the redactor', () => {
  test('knows every key, and the secrets in headers', () => {
    const redact = redactor(sampleKnown, { cookie: 'session=4711-0815', 'x-tenant': 'staging' });
    for (const { key, name } of sampleKnown.everyKey) assert.equal(redact(`(${key})`), `(${name})`);
    assert.equal(redact('4711-0815 at staging'), '<header cookie> at staging');
    const nested = [{ '4711-0815': ['4711-0815', 1, null] }];
    const name = '<header cookie>';
    assert.deepEqual(redactedAll(nested, redact), [{ [name]: [name, 1, null] }]);
  });
  for (const [field, value, shown] of [
    ['cookie', 'session=4f9a0c11; theme=dark', 'session=<header cookie>; theme=dark'],
    ['proxy-authorization', 'Basic dXNlcjpwYXNz', 'Basic <header proxy-authorization>'],
    ['x-api-key', 'short', '<header x-api-key>'],
    ['x-gateway', 'k3Jx81mQ0pLk2vB7', '<header x-gateway>'],
    ['x-tenant', '3f2504e0-4f89-41d3-9a0c-0305e82c3301', '3f2504e0-4f89-41d3-9a0c-0305e82c3301'],
    ['x-request-id', 'k3Jx81mQ0pLk2vB7', 'k3Jx81mQ0pLk2vB7'],
    ['user-agent', 'ib-conformance/0.1.0 (a test)', 'ib-conformance/0.1.0 (a test)'],
    ['content-type', 'application/json; charset=utf-8', 'application/json; charset=utf-8'],
  ] as const)
    test(`of a header, ${field}: ${value}`, () =>
      assert.equal(redactor({ everyKey: [] }, { [field]: value })(value), shown));
});

test('a key is redacted before a body is truncated, and so is a half of one', () => {
  const [{ key, name }] = sampleKnown.callerKeys as [KnownKey];
  for (let before = 1980; before < 2010; before++) {
    const { response } = record(userStatus(id), sampleKnown, answerOf(200, `${'x'.repeat(before)} ${key}`));
    assert.ok(!response!.body.includes(key.slice(0, 4)), response!.body.slice(1970));
  }
  const half = key.slice(0, Math.floor(key.length / 2));
  const { response } = record(userStatus(id), sampleKnown, answerOf(401, `${half}… is wrong`));
  assert.equal(response!.body, `${name}… is wrong`);
});

test('a near miss of a key is redacted in the answer that repeats it', () => {
  const tokens = nearMisses(sampleKnown).filter(({ value }) => /^[!-~]{8,}$/.test(value));
  assert.ok(tokens.length > 3);
  for (const token of tokens) {
    const request = lookup('user-status', `user_id=${id}`, forms.Bearer[0](token).changes);
    const { response } = record(request, sampleKnown, answerOf(401, { error: token.value }));
    assert.equal(
      response!.body,
      `{"error":"${token.value}"}`.replace(token.value, () => token.key!.name),
    );
  }
});

test('long bodies are truncated, and the key is named if there is one', () => {
  const [key] = sampleKnown.callerKeys;
  const exchange = record(
    userStatus(id, { credential: { as: 'key', key: key! } }),
    sampleKnown,
    answerOf(200, 'x'.repeat(5000)),
  );
  assert.equal(exchange.response?.body.length, 2000);
  assert.equal(exchange.key, key!.name);
  assert.equal(record(userStatus(id, { credential: { as: 'none' } }), sampleKnown).key, undefined);
});
