import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import * as fc from 'fast-check';
import { readAnswers } from './raw-answers.ts';
import { openSockets, say } from './raw-socket.ts';
import { builtIn, START } from './testing/probes.ts';
import { depositPath, ids, userPath } from './run-session.ts';
import { startMock, type Mock } from './server.ts';

let mock: Mock;
before(async () => {
  // Without limits the same request has the same answer each time.
  const { limits: _, ...fixture } = builtIn;
  mock = await startMock({ fixture, clock: { now: () => START } });
});
after(() => mock.close());

const key = 'Authorization: Bearer northwind-key\r\n';
const host = 'Host: x\r\n';
const last = 'Connection: close\r\n';
const message = (line: string, fields = '', body = '') => `${line} HTTP/1.1\r\n${host}${fields}\r\n${body}`;

const MEMBER = '{"is_under_ib":true,"date_joined":"2024-02-29T23:59:59.999Z"}';
const FOREIGN = '{"is_under_ib":false,"date_joined":null}';
const EXECUTED = '{"status":"EXECUTED","amountInUsd":250.5,"executedAt":1705314600000}';
const error = (text: string) => JSON.stringify({ error: text });

/** Requests of every kind, and what is to be answered: what comes before and behind them makes no difference. */
const known: readonly (readonly [request: string, status: number, body: string])[] = [
  [message(`GET ${userPath(ids.member)}`, key), 200, MEMBER],
  [message(`GET ${userPath(ids.foreignUser)}`, key), 200, FOREIGN],
  [message(`HEAD ${userPath(ids.member)}`, key), 200, ''],
  [message(`GET ${userPath('x')}`, key), 400, error('Invalid user_id format')],
  [message(`GET ${userPath(ids.member)}`), 401, error('Unauthorized')],
  [message(`GET ${depositPath(ids.executed)}`, key), 200, EXECUTED],
  [message(`GET ${depositPath(ids.pending)}`, key), 404, error('Deposit not found')],
  [message(`GET ${depositPath(ids.executed)}`, 'Authorization: Basic eA==\r\n'), 401, error('UNAUTHORIZED')],
  [message('GET /elsewhere', key), 404, error('Not found')],
  [message(`POST ${userPath(ids.member)}`, `${key}Content-Length: 5\r\n`, 'a=b\r\n'), 405, ''],
  [message(`GET ${userPath(ids.member)}`, `${key}Content-Length: 3\r\n`, 'abc'), 200, MEMBER],
  [
    message(
      `GET ${depositPath(ids.executed)}`,
      `${key}Transfer-Encoding: chunked\r\n`,
      '3;a=b\r\nabc\r\n10\r\n0123456789abcdef\r\n0\r\nTrailer: x\r\n\r\n',
    ),
    200,
    EXECUTED,
  ],
].map(([request, status, body]) => [
  String(request),
  Number(status),
  status === 405 ? error('Method not allowed') : String(body),
]);

/** The last of some requests asks for the end of the connection. */
const closing = (requests: readonly string[]) =>
  requests.map((request, at) =>
    at === requests.length - 1 ? request.replace(host, `${host}${last}`) : request,
  );

const methodsOf = (requests: readonly string[]) => requests.map((request) => request.split(' ')[0]!);

/** Cuts a text at some places, each a share of its length. */
function cutAt(text: string, shares: readonly number[]): readonly string[] {
  const places = shares.map((share) => Math.floor(share * text.length)).toSorted((one, other) => one - other);
  return [0, ...places]
    .map((from, index) => text.slice(from, places[index] ?? text.length))
    .filter((part) => part !== '');
}

/** Whoever else asks is answered, and when all have gone no socket is left. */
afterEach(async () => {
  const [request, status, body] = known[0]!;
  const { bytes } = await say(mock.port, closing([request]));
  const [answer, ...more] = readAnswers(bytes);
  assert.deepEqual([answer?.status, answer?.body, more], [status, body, []]);
  await openSockets(0);
});

describe('a request in parts', () => {
  for (const [request, status, body] of known)
    test(`is the same request: ${request.split(' HTTP')[0]} ${status}`, async () => {
      const [whole = ''] = closing([request]);
      const methods = methodsOf([request]);
      await Promise.all(
        Array.from({ length: whole.length - 1 }, async (_, index) => {
          const parts = [whole.slice(0, index + 1), whole.slice(index + 1)];
          const { bytes, code } = await say(mock.port, parts);
          const answers = readAnswers(bytes, methods).map((answer) => [answer.status, answer.body]);
          assert.deepEqual([code, answers], [undefined, [[status, body]]], `cut at ${index + 1}`);
        }),
      );
    });
  test('of a byte each as well', async () => {
    const [request, status, body] = known.at(-1)!;
    const { bytes } = await say(mock.port, closing([request])[0]!.split(''));
    assert.deepEqual(
      readAnswers(bytes).map((answer) => [answer.status, answer.body]),
      [[status, body]],
    );
  });
});

test('requests one behind the other are answered in their order, however they are cut', async () => {
  const requests = fc.array(fc.constantFrom(...known), { minLength: 1, maxLength: 40 });
  const cuts = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(requests, cuts, async (asked, shares) => {
      const sent = asked.map(([request]) => request);
      const { bytes, code } = await say(mock.port, cutAt(closing(sent).join(''), shares));
      assert.equal(code, undefined);
      assert.deepEqual(
        readAnswers(bytes, methodsOf(sent)).map(({ status, body }) => [status, body]),
        asked.map(([, status, body]) => [status, body]),
      );
    }),
    { numRuns: 100 },
  );
});

test('requests before rubbish are answered, then the rubbish', async () => {
  const rubbish = fc.constantFrom(
    '\0\0',
    'GET\r\n\r\n',
    'X / HTTP/1.1\r\n\r\n',
    '\x16\x03\x01',
    'GET / HTTP/9\r\n',
  );
  const requests = fc.array(fc.constantFrom(...known), { minLength: 1, maxLength: 5 });
  await fc.assert(
    fc.asyncProperty(requests, rubbish, async (asked, behind) => {
      const sent = asked.map(([request]) => request);
      const { bytes } = await say(mock.port, [sent.join('') + behind]);
      assert.deepEqual(
        readAnswers(bytes, methodsOf(sent)).map(({ status, body }) => [status, body]),
        [...asked.map(([, status, body]) => [status, body]), [400, error('Bad Request')]],
      );
    }),
    { numRuns: 50 },
  );
});

test('three thousand requests in one go are all answered', async () => {
  const asked = Array.from({ length: 3000 }, (_, index) => known[index % known.length]!);
  const sent = asked.map(([request]) => request);
  const { bytes } = await say(mock.port, [closing(sent).join('')]);
  const answers = readAnswers(bytes, methodsOf(sent));
  assert.equal(answers.length, asked.length);
  assert.ok(answers.every(({ status }, index) => status === asked[index]![1]));
});

test('a request line that is none is answered 400', async () => {
  const token = fc.string({
    unit: fc.constantFrom('G', 'E', 'T', '/', ' ', '\t', ':', '1', '.', 'é', '\x7f'),
  });
  const line = fc.oneof(
    token,
    token.map((text) => `GET${text}`),
    token.map((text) => `GET / HTTP/1.1${text}x`),
    token.map((text) => `GET / HTTP/${text}`),
    fc.constantFrom(
      ' GET / HTTP/1.1',
      'GET\0/ HTTP/1.1',
      'GET /\0 HTTP/1.1',
      'GET / HTTP/1.1 x',
      'get / http/1.1',
    ),
  );
  await fc.assert(
    fc.asyncProperty(line, async (text) => {
      const { bytes } = await say(mock.port, [`${text}\r\n${host}${last}\r\n`], { half: true });
      const answers = readAnswers(bytes);
      assert.notEqual(answers.length, 0);
      for (const { status, body } of answers) {
        assert.ok(status === 400 || status === 404, `${status}`);
        assert.deepEqual(body, error(status === 400 ? 'Bad Request' : 'Not found'));
      }
    }),
    { numRuns: 200 },
  );
});

describe('header fields', () => {
  /** The target, and names and values of fields, are what counts, and has to stay below. */
  const LIMIT = 65_536;
  const statusOf = async (request: string) => {
    const { bytes } = await say(mock.port, [request]);
    const [answer] = readAnswers(bytes);
    return [answer?.status, answer?.body];
  };
  const fixed = [
    userPath(ids.member),
    'Host',
    'x',
    'Connection',
    'close',
    'Authorization',
    'Bearer northwind-key',
  ];
  const taken = fixed.join('').length;
  const tooLarge = [431, error('Request Header Fields Too Large')];
  /** Fields that bring a request to a size: one of them, or so many. */
  const filled = (size: number, count: number) => {
    const room = size - taken;
    const value = Math.floor(room / count) - 1;
    const fields = Array.from(
      { length: count },
      (_, at) =>
        // The last one takes what the division left.
        `X: ${'a'.repeat(at === count - 1 ? room - 1 - (count - 1) * (value + 1) : value)}\r\n`,
    );
    return message(`GET ${userPath(ids.member)}`, last + fields.join('') + key);
  };
  for (const count of [1, 2, 100, 2000, 9000])
    test(`${count} of them: below the limit as ever, from there on 431`, async () => {
      for (const size of [taken + 2 * count, 40_000, LIMIT - 1])
        assert.deepEqual(await statusOf(filled(size, count)), [200, MEMBER], `${size}`);
      for (const size of [LIMIT, LIMIT + 1, 2 * LIMIT, 20 * LIMIT])
        assert.deepEqual(await statusOf(filled(size, count)), tooLarge, `${size}`);
    });
  test('a name or a target may be as long', async () => {
    for (const [length, status] of [
      [60_000, 200],
      [66_000, 431],
    ] as const) {
      const long = 'a'.repeat(length);
      const named = message(`GET ${userPath(ids.member)}`, `${last}${long}: b\r\n${key}`);
      const targeted = message(`GET ${userPath(ids.member)}&${long}=`, last + key);
      for (const request of [named, targeted]) assert.equal((await statusOf(request))[0], status);
    }
  });
  test('an Authorization of any size is a key that nobody knows, or too large', async () => {
    const visible = fc.integer({ min: 0x21, max: 0xff }).filter((code) => code !== 0x7f);
    const unit = visible.map((code) => String.fromCharCode(code));
    const value = fc.tuple(fc.string({ unit, minLength: 1, maxLength: 40 }), fc.nat({ max: 4000 }));
    await fc.assert(
      fc.asyncProperty(value, async ([text, times]) => {
        const long = text.repeat(times);
        const { bytes } = await say(
          mock.port,
          [message(`GET ${depositPath(ids.executed)}`, `${last}Authorization: Bearer ${long}\r\n`)],
          { half: true },
        );
        const [answer] = readAnswers(bytes);
        assert.deepEqual(
          [answer?.status, answer?.body],
          long.length < LIMIT - 200 ? [401, error('UNAUTHORIZED')] : tooLarge,
        );
      }),
      { numRuns: 100, examples: [[['a', 4000]], [['~', 4000]], [['a~', 4000]]] },
    );
  });
});

describe('a body on GET', () => {
  const get = `GET ${userPath(ids.member)}`;
  const body = fc
    .tuple(fc.uint8Array({ minLength: 1, maxLength: 50 }), fc.nat({ max: 3000 }))
    .map(([part, times]) => {
      // Latin-1 text, a character for each byte.
      return Buffer.from(part).toString('latin1').repeat(times);
    });
  const MOST = 65_536;
  const expected = (size: number) => (size <= MOST ? [200, MEMBER] : [413, error('Payload Too Large')]);
  const first = ({ bytes }: { readonly bytes: string }) => {
    const [answer] = readAnswers(bytes);
    return [answer?.status, answer?.body];
  };

  test('of a length that is told makes no difference up to 64 KiB', async () => {
    await fc.assert(
      fc.asyncProperty(body, async (text) => {
        const request = message(get, `${last}${key}Content-Length: ${text.length}\r\n`, text);
        assert.deepEqual(first(await say(mock.port, [request])), expected(text.length));
      }),
      { numRuns: 50, examples: [['x'.repeat(MOST)], ['x'.repeat(MOST + 1)], ['']] },
    );
  });
  test('in chunks neither', async () => {
    const sizes = fc.array(fc.integer({ min: 1, max: 20_000 }), { minLength: 1, maxLength: 10 });
    await fc.assert(
      fc.asyncProperty(body, sizes, async (text, parts) => {
        let chunks = '';
        for (let at = 0, turn = 0; at < text.length; turn += 1) {
          const chunk = text.slice(at, at + parts[turn % parts.length]!);
          chunks += `${chunk.length.toString(16)}\r\n${chunk}\r\n`;
          at += chunk.length;
        }
        const request = message(get, `${last}${key}Transfer-Encoding: chunked\r\n`, `${chunks}0\r\n\r\n`);
        assert.deepEqual(first(await say(mock.port, [request])), expected(text.length));
      }),
      {
        numRuns: 50,
        examples: [
          ['x'.repeat(MOST), [1000]],
          ['x'.repeat(MOST + 1), [1000]],
        ],
      },
    );
  });
  test('longer than its length is read as what follows', async () => {
    await fc.assert(
      fc.asyncProperty(body, fc.integer({ min: 0, max: 100 }), async (text, less) => {
        const length = Math.max(0, text.length - less);
        const request = message(get, `${key}Content-Length: ${length}\r\n`, text);
        const { bytes } = await say(mock.port, [request], { half: true });
        assert.deepEqual(first({ bytes }), expected(length));
        for (const { status } of readAnswers(bytes).slice(1)) assert.ok(status >= 400);
      }),
      { numRuns: 50 },
    );
  });
  test('shorter than its length, or cut off in a chunk, is no request', async () => {
    const framing = fc.constantFrom('Content-Length: 70000\r\n', 'Transfer-Encoding: chunked\r\n');
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: 60_000 }), framing, async (size, field) => {
        const content = field.startsWith('T') ? `${(size + 9).toString(16)}\r\n` : '';
        const request = message(get, key + field, content + 'x'.repeat(size));
        const heard = await say(mock.port, [request], { half: true });
        assert.deepEqual(first(heard), [400, error('Bad Request')]);
      }),
      { numRuns: 30 },
    );
  });
  for (const [what, fields, content] of [
    ['two lengths', 'Content-Length: 1\r\nContent-Length: 2\r\n', 'ab'],
    ['a length and chunks', 'Content-Length: 5\r\nTransfer-Encoding: chunked\r\n', '0\r\n\r\n'],
    ['a length below nothing', 'Content-Length: -1\r\n', ''],
    ['a length that is no number', 'Content-Length: 0x1\r\n', 'a'],
    ['a length beyond all numbers', `Content-Length: ${'9'.repeat(40)}\r\n`, 'a'],
    ['another coding', 'Transfer-Encoding: gzip\r\n', 'a'],
    ['a size that is none', 'Transfer-Encoding: chunked\r\n', 'zz\r\n'],
    ['a size beyond all numbers', 'Transfer-Encoding: chunked\r\n', `${'f'.repeat(40)}\r\n`],
    ['a chunk longer than its size', 'Transfer-Encoding: chunked\r\n', '1\r\nab\r\n0\r\n\r\n'],
  ] as const)
    test(`with ${what} is no request`, async () => {
      const heard = await say(mock.port, [message(get, key + fields, content)], { half: true });
      assert.deepEqual(first(heard), [400, error('Bad Request')]);
    });
  test('with endless chunk extensions is too large', async () => {
    const content = `1;${'a'.repeat(20_000)}\r\na\r\n0\r\n\r\n`;
    const request = message(get, `${key}Transfer-Encoding: chunked\r\n`, content);
    assert.equal(first(await say(mock.port, [request]))[0], 413);
  });
});

test('whatever a request expects, it is answered', async () => {
  for (const expectation of ['100-continue', 'nonsense']) {
    const request = message(`GET ${userPath(ids.member)}`, `${last}${key}Expect: ${expectation}\r\n`);
    const { bytes } = await say(mock.port, [request]);
    assert.deepEqual(
      readAnswers(bytes).map(({ status, body }) => [status, body]),
      [[200, MEMBER]],
    );
  }
});

test('whatever bytes come, in whatever parts: each answer is one of the interface, none a server error', async () => {
  const words = fc.constantFrom(
    'GET ',
    'POST ',
    'CONNECT ',
    '/',
    userPath(ids.member),
    '*',
    ' HTTP/1.1',
    ' HTTP/1.0',
    '\r\n',
    '\r\n\r\n',
    '\n\n',
    ' ',
    ':',
    host,
    key,
    'Content-Length: 3\r\n',
    'Transfer-Encoding: chunked\r\n',
    'Upgrade: x\r\nConnection: upgrade\r\n',
    'Expect: 100-continue\r\n',
    '0\r\n\r\n',
    '%',
    '~',
    '\0',
  );
  const bytes = fc.uint8Array({ maxLength: 30 }).map((part) => Buffer.from(part).toString('latin1'));
  const segment = fc.array(fc.oneof({ arbitrary: words, weight: 4 }, bytes), { minLength: 1, maxLength: 12 });
  // Whether an answer is one to HEAD, and has no body, only the server knows.
  const requests = fc.constantFrom(...known.filter(([request]) => !request.startsWith('HEAD')));
  const whole = requests.map(([request]) => [request]);
  const segments = fc.array(fc.oneof(segment, whole), { minLength: 1, maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(segments, async (parts) => {
      const sent = parts.map((part) => part.join(''));
      readAnswers((await say(mock.port, sent, { half: true })).bytes);
    }),
    { numRuns: 300 },
  );
});
