import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readJson, trouble, type Answer, type Reply } from '../answer.ts';
import { formsOfRequests } from '../inputs/forms.ts';
import { unknownId } from '../inputs/uuids.ts';
import type { Request } from '../request.ts';
import type { Context } from '../rules/scenario-context.ts';
import { sampleKnown as known } from '../testing/samples.ts';
import { inconclusive } from '../rules/verdict.ts';
import { judgeWaysAround } from './no-way-around.ts';

const answer = (status: number, text = ''): Answer => ({
  kind: 'answer',
  status,
  headers: {},
  text,
  json: readJson(text),
  sentAt: 0,
  receivedAt: 0,
  tookMs: 0,
});

const found = answer(200, '{"is_under_ib":true,"date_joined":"2024-01-01T00:00:00Z"}');
const refused = answer(401, '{"error":"Unauthorized"}');
const hidden = answer(200, '{"is_under_ib":false,"date_joined":null}');

const isPlain = ({ method, target, headers, isAbsolute }: Request) =>
  method === 'GET' &&
  target.startsWith('/api/ib/user-status?') &&
  Object.keys(headers).length === 0 &&
  isAbsolute !== true;

const isAboutUnknown = (request: Request) => JSON.stringify(request).includes(unknownId(known));

const isOthers = ({ credential }: Request) =>
  credential.as === 'key' && known.otherKeys.includes(credential.key);

interface Server {
  readonly windowMs?: number;
  readonly toOtherBytes?: Answer;
}

/** Judges a server by its replies to forms that are not the plain request. */
async function judged(
  replyTo: (request: Request) => Reply,
  { windowMs = 0, toOtherBytes = refused }: Server = {},
) {
  const sent: Request[] = [];
  const send = (request: Request): Reply => {
    sent.push(request);
    if (isAboutUnknown(request)) return hidden;
    if (!isPlain(request)) return replyTo(request);
    if (request.credential.as === 'caller') return found;
    if (request.credential.as === 'header' && /[^ -~]/.test(request.credential.value)) return toOtherBytes;
    return isOthers(request) ? hidden : refused;
  };
  const sendAll = (...requests: readonly Request[]) => Promise.resolve(requests.map(send));
  const context = {
    send: sendAll,
    sendAtOnce: sendAll,
    longestWindowMs: () => windowMs,
    verdictsOn: () => [],
  } as unknown as Context;
  return { sent, ...(await judgeWaysAround('user-status')(context, known)) };
}

for (const [name, replyTo] of Object.entries<(request: Request) => Reply>({
  'not found': () => answer(404),
  'a page': () => answer(404, '<!DOCTYPE html>'),
  'a redirect': () => answer(308),
  'not under the IB': (request) => (request.method === 'HEAD' && !isOthers(request) ? refused : hidden),
}))
  test(`right: ${name}`, async () => {
    const { finding, cases } = await judged(replyTo);
    assert.equal(finding.kind, 'passed');
    assert.ok(cases! >= formsOfRequests.length);
  });

for (const [name, body] of Object.entries({
  'as the interface shows it': found.text,
  'inside other JSON': '{"data": {"is_under_ib" : true}}',
  'as XML': `<joined>${known.members[0]!.date_joined}</joined>`,
  'to the second': `{"since":"${known.members[0]!.date_joined.slice(0, 19)}+00:00"}`,
  'a deposit': '{"amountInUsd": 3}',
}))
  test(`wrong, with a trailing slash and no key: data ${name}`, async () => {
    const { finding, request } = await judged(({ target }) =>
      target.includes('status/?') ? answer(200, body) : answer(404),
    );
    assert.equal(finding.kind, 'failed');
    assert.match(request!.target, /\/\?/);
    assert.match(JSON.stringify(finding), /a trailing slash, without a valid key/);
  });

test('right: data that came once, beside other requests', async () => {
  let shown = 0;
  const { finding } = await judged(() => (shown++ === 20 ? found : answer(404)));
  assert.ok(shown > 20);
  assert.equal(finding.kind, 'passed');
});

for (const [name, isForm] of Object.entries<(request: Request) => boolean>({
  'a form': ({ isAbsolute }) => isAbsolute === true,
  'a claim': ({ headers }) => 'x-partner' in headers,
}))
  test(`inconclusive: ${name} shows data, and a limit leaves no request to ask again`, async () => {
    let shown = 0;
    const { finding } = await judged((request) => {
      if (!isForm(request) || !isOthers(request)) return request.isAbsolute === true ? refused : answer(404);
      return shown++ === 0 ? found : trouble('rate-limited', 'the limit was used up');
    });
    assert.deepEqual(finding, inconclusive('rate-limited', 'the limit was used up'));
  });

test('right: HEAD gets the same for everyone, whatever the key and id', async () => {
  const { finding } = await judged(({ method }) => answer(method === 'HEAD' ? 200 : 404));
  assert.equal(finding.kind, 'passed');
});

test('wrong: a revoked key shows data, in a form that asks for a key', async () => {
  const { finding } = await judged(({ credential, isAbsolute }) => {
    const isLetIn = credential.as === 'key' && credential.key.state === 'revoked';
    return isAbsolute === true ? (isLetIn ? found : refused) : answer(404);
  });
  assert.match(JSON.stringify(finding), /a URL as target, without a valid key/);
});

test('inconclusive: a bound ends the run, also before the first request with another key', async () => {
  let asked = 0;
  await judged(() => {
    asked++;
    return refused;
  });
  for (let left = 0; left <= asked; left++) {
    let count = 0;
    const { finding } = await judged(() =>
      count++ < left ? refused : trouble('budget', '--max-requests was reached'),
    );
    assert.equal(finding.kind, left < asked ? 'inconclusive' : 'passed', `${left} of ${asked}`);
  }
});

test('a target that never answers is asked for each form once; one that closes the connection shows nothing', async () => {
  const hanging = await judged(() => trouble('timeout', 'no answer'));
  assert.equal(hanging.finding.kind, 'passed');
  // And once with another id besides, and HEAD and a compressed answer with the own key.
  assert.equal(hanging.sent.filter((one) => !isPlain(one)).length, formsOfRequests.length + 3);
  const closing = await judged(({ isAbsolute }) => (isAbsolute ? refused : trouble('network', 'closed')));
  assert.equal(closing.finding.kind, 'passed');
});

test('a target that never answers other methods is still asked for other paths', async () => {
  const { finding } = await judged(({ method, target }) =>
    method === 'GET' ? (target.startsWith('//') ? found : answer(404)) : trouble('timeout', 'no answer'),
  );
  assert.match(JSON.stringify(finding), /\/\/ at the start, without a valid key/);
});

test("with a long window, few requests have another partner's key", async () => {
  const { sent } = await judged(() => refused, { windowMs: 60_000 });
  assert.equal(sent.filter(isOthers).length, 7);
});

test('without data for the own key, nothing is judged', async () => {
  const context = { send: () => Promise.resolve([hidden]) } as unknown as Context;
  const { finding } = await judgeWaysAround('user-status')(context, known);
  assert.equal(finding.kind, 'inconclusive');
});

test('wrong: a key with another byte in it shows data', async () => {
  const { finding, request } = await judged(() => answer(404), { toOtherBytes: found });
  assert.match(JSON.stringify(finding), /not ASCII/);
  assert.match((request!.credential as { readonly shell: string }).shell, /^Bearer .*printf/);
});
