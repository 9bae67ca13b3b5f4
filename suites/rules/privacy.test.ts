import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Answer } from '../answer.ts';
import { knownFrom, type Known } from '../known.ts';
import { userData, watchPrivacy } from './privacy.ts';
import { depositCheck, lookup, userStatus, type Request } from '../request.ts';
import { answerOf, sampleKnown as known } from '../testing/samples.ts';

const [ours, theirs, nobody] = [
  '1b000000-0000-4000-8000-00000000000b',
  '2c000000-0000-4000-8000-00000000000c',
  '9f000000-0000-4000-8000-00000000000f',
];
const [caller] = known.callerKeys;
const [other] = known.otherKeys;
const as = (key = caller) => ({ credential: { as: 'key', key: key! } }) as const;
const asked = userStatus(ours, as());
const keyless = userStatus(ours, { credential: { as: 'none' } });
const encoded = `user_id=${ours.replace('b', '%62')}`;
const deposit = '4a000000-0000-4000-8000-0000000000a1';
const body = (text: string) => answerOf(200, text);
const headed = (name: string, value: string) => answerOf(200, '{}', { [name]: value });
const [theirsInBody, oursInBody] = [theirs, ours].map((id) => `the user id ${id} in the body`);
const theirsInServer = `the user id ${theirs} in the header server`;
const contosoIn = (place: string) => `the partner id contoso in the ${place}`;
const northwindIn = (place: string) => `the partner id northwind in the ${place}`;

/** The leak that the last of several answers shows. */
function toldOf(of: Known, ...exchanges: readonly (readonly [Request, Answer])[]) {
  const look = watchPrivacy(of);
  return exchanges.map(([request, answer]) => look(request, answer)?.words).at(-1);
}

/** The leak in an answer that follows one without headers. */
const foreignData = (request: Request, answer: Answer, of: Known) =>
  toldOf(of, [request, answerOf(200, {})], [request, answer]);

/** Request, answer, and the user data that the request did not name. */
const exchanges: Readonly<Record<string, readonly [Request, Answer, string | undefined]>> = {
  'the very user': [asked, body(`{"user_id":"${ours}"}`), undefined],
  'the very user in another case': [asked, body(ours.toUpperCase()), undefined],
  'the very user, asked for in another case': [userStatus(ours.toUpperCase(), as()), body(ours), undefined],
  'the very user, percent-encoded': [lookup('user-status', encoded, as()), body(ours), undefined],
  'an id that the fixture does not know': [asked, headed('x-request-id', nobody), undefined],
  "the caller's own partner in a header": [asked, headed('x-partner', 'northwind'), undefined],
  "the caller's own partner in the body": [asked, body('{"partner":"Northwind"}'), undefined],
  'a random entity tag': [asked, headed('etag', `W/"${nobody}"`), undefined],
  'a header whose name says user data, with what was asked': [asked, headed('x-user-id', ours), undefined],
  'a header whose name says user data, without any': [asked, headed('x-user', '-'), undefined],
  'the name of an error': [asked, answerOf(404, { error: 'x', name: 'NotFoundError' }), undefined],
  'an e-mail address that all answers may hold': [asked, headed('x-contact', 'a@example.com'), undefined],

  'another deposit': [asked, body(deposit), `the reference id ${deposit} in the body`],
  'another key in ETag': [
    asked,
    headed('etag', `W/"${other!.key}-gzip"`),
    `${other!.name} in the header etag`,
  ],
  'another user in Server': [asked, headed('server', theirs), theirsInServer],
  "another partner's id in Via": [asked, headed('via', '1.1 contoso'), contosoIn('header via')],
  'a phone number': [asked, headed('phone', '+49 1'), 'the header phone, whose name means user data'],
  'a field email': [asked, body('{"a":[{"email":"x"}]}'), 'a field "email" in the body'],
  "the caller's partner, without a key": [keyless, headed('x-own', 'northwind'), northwindIn('header x-own')],
  'the key that was sent': [asked, headed('x-key', caller!.key), undefined],
  'a key that was sent in another way': [
    userStatus(ours, { credential: { as: 'header', value: `Basic ${caller!.key}`, shell: '' } }),
    body(caller!.key),
    undefined,
  ],
  'a key that was sent in a cookie': [
    { ...keyless, headers: { cookie: `k=${caller!.key}` } },
    body(caller!.key),
    undefined,
  ],
  'a key that was sent in the body': [{ ...keyless, body: `"${caller!.key}"` }, body(caller!.key), undefined],
  'a partner id within a longer word': [asked, body('contoso2 xcontoso contoso_x'), undefined],
  'a partner id in a host name': [
    asked,
    headed('location', 'https://contoso.example.com/ www.contoso.example'),
    undefined,
  ],

  'another user': [asked, body(`{"user_id":"${theirs}"}`), theirsInBody],
  'another user of ours': [depositCheck(deposit, as()), body(`{"owner":"${ours}"}`), oursInBody],
  'another user in upper case': [asked, body(theirs.toUpperCase()), theirsInBody],
  'another user behind the one asked for': [asked, body(`${ours} ${theirs}`), theirsInBody],
  'another user within a longer word': [asked, body(`u${theirs}x`), theirsInBody],
  'another user in text that is no JSON': [asked, body(`<p>${theirs}</p>`), theirsInBody],
  'another user that only another request named': [userStatus(nobody, as()), body(ours), oursInBody],
  "another partner's id": [asked, body('{"partner":"contoso"}'), contosoIn('body')],
  "another partner's id in another case": [asked, body('Owner: CONTOSO.'), contosoIn('body')],
  'another key': [asked, body(other!.key), `${other!.name} in the body`],
  'another key in a header': [asked, headed('x-key', other!.key), `${other!.name} in the header x-key`],
  'the key to one that sent none': [keyless, body(caller!.key), `${caller!.name} in the body`],
};

describe('user data that the request did not name', () => {
  for (const [name, [request, answer, expected]] of Object.entries(exchanges))
    test(`${name}: ${expected === undefined ? 'nothing' : 'told'}`, () =>
      assert.equal(foreignData(request, answer, known), expected));

  test('all values of a repeated header are checked', () => {
    const answer = { ...answerOf(200, '{}'), headers: { 'set-cookie': ['a=1', `b=${theirs}`] } };
    assert.equal(foreignData(asked, answer, known), `the user id ${theirs} in the header set-cookie`);
  });

  test('an answer that was right for one request may be wrong for another', () => {
    const answer = body(`{"user_id":"${ours}"}`);
    assert.equal(toldOf(known, [asked, answer], [userStatus(nobody, as()), answer]), oursInBody);
    const partner = body('{"partner":"northwind"}');
    assert.equal(toldOf(known, [asked, partner], [keyless, partner]), northwindIn('body'));
  });

  test('the name of an error is a name of a user in another answer', () => {
    const withName = (status: number) => [asked, answerOf(status, { error: 'x', name: 'Ada' })] as const;
    assert.equal(toldOf(known, withName(404), withName(200)), 'a field "name" in the body');
  });

  const constant = [asked, headed('server', 'contoso')] as const;
  test('a constant header field is no user data until one answer differs', () => {
    assert.equal(toldOf(known, constant, constant, constant), undefined);
    const leak = contosoIn('header server');
    assert.equal(toldOf(known, constant, [asked, answerOf(200, {})]), leak);
    assert.equal(toldOf(known, constant, [asked, headed('server', 'x')]), leak);
    // Answers of a front end and answers to other methods do not count.
    assert.equal(toldOf(known, constant, [asked, answerOf(414, '<html>')]), undefined);
    assert.equal(toldOf(known, constant, [{ ...asked, method: 'POST' }, answerOf(405, {})]), undefined);
  });
  test('the evidence is the exchange with the leak, even if a later one proves it', () => {
    const look = watchPrivacy(known);
    look(...constant);
    assert.equal(look(asked, answerOf(200, {}))?.answer, constant[1]);
  });
  test('an id in a constant header is still a leak', () => {
    const id = [asked, headed('server', theirs)] as const;
    assert.equal(toldOf(known, id, id), theirsInServer);
  });

  test('an e-mail address is user data if another one came before', () => {
    const told = (address: string) => [asked, body(`{"note":"${address}@example.com"}`)] as const;
    assert.match(toldOf(known, told('a'), told('b')) ?? '', /in the body that differs/);
  });
  test('in a header field it is, if equal lookups get their own again', () => {
    const at = (request: Request, address: string, status = 200) =>
      [request, answerOf(status, '{}', { 'x-reply': `${address}@example.com` })] as const;
    const often = (...some: readonly (readonly [Request, Answer])[]) =>
      toldOf(known, ...Array.from({ length: 6 }, () => some).flat());
    const others = userStatus(theirs, as());
    const words = 'an e-mail address in the header x-reply that differs between answers';
    assert.equal(often(at(asked, 'a'), at(others, 'b')), words);
    assert.equal(often(at(asked, 'a'), at(others, 'a')), undefined);
    assert.equal(often(at(asked, 'help+1'), at(asked, 'help+2'), at(others, 'help+3')), undefined);
    assert.equal(often(at(asked, 'a'), at(others, 'b'), at(keyless, 'c', 401)), undefined);
  });

  test('a partner id without letters is searched in bodies, and counts if it comes twice', () => {
    const plain = knownFrom({ partners: [{ id: '1234' }] });
    const told = (answer: Answer) => {
      const exchange = [userStatus(nobody), answer] as const;
      return [toldOf(plain, exchange), toldOf(plain, exchange, exchange)];
    };
    for (const name of ['content-length', 'x-varnish', 'x-owner'])
      assert.deepEqual(told(headed(name, '1234')), [undefined, undefined], name);
    assert.deepEqual(told(body('{"owner":1234}')), [undefined, 'the partner id 1234 in the body']);
    assert.deepEqual(told(body('{"amountInUsd":1234,"executedAt":1234}')), [undefined, undefined]);
  });

  test('no output contains the value of a key', () => {
    for (const { key } of known.everyKey) {
      const told = foreignData(userStatus(ours), body(`x ${key} y`), known);
      assert.ok(told !== undefined && !told.includes(key), told);
    }
  });

  test('short ids and common words are no leak', () => {
    const plain = knownFrom({
      partners: [{ id: 'ab' }, { id: 'error' }, { id: 'Partner' }],
      apiKeys: [
        { key: 'abc', partner: 'ab', state: 'active' },
        { key: 'close', partner: 'error', state: 'active' },
        { key: 'EXECUTED', partner: 'amountInUsd', state: 'revoked' },
      ],
    });
    const refusal = answerOf(401, { error: 'ab abc Partner' }, { connection: 'close' });
    for (const answer of [refusal, answerOf(200, { status: 'EXECUTED', amountInUsd: 1 })])
      assert.equal(foreignData(userStatus(nobody), answer, plain), undefined);
  });

  test('special characters in a key are literal', () => {
    const dotted = knownFrom({ apiKeys: [{ key: 'pk.live+1(x)', partner: 'northwind', state: 'active' }] });
    const told = (text: string) => foreignData(userStatus(nobody), body(text), dotted);
    assert.equal(told('key: pk.live+1(x)!'), '<key northwind/active> in the body');
    assert.equal(told('pkxliveee1x'), undefined);
  });

  test('a key that contains a partner id does not name the partner', () => {
    const plain = knownFrom({ apiKeys: [{ key: 'northwind-key', partner: 'northwind', state: 'active' }] });
    const request = userStatus(nobody, as(plain.callerKeys[0]));
    assert.equal(foreignData(request, body('northwind'), plain), undefined);
    assert.equal(foreignData(keyless, body('northwind'), plain), northwindIn('body'));
  });

  test('a percent sign in the key does not hide other names in the request', () => {
    const odd = knownFrom({
      apiKeys: [{ key: 'pk%live%1', partner: 'northwind', state: 'active' }],
      users: [{ user_id: ours, partner: 'northwind', date_joined: '2024-02-29T23:59:59Z' }],
    });
    const request = lookup('user-status', encoded, as(odd.callerKeys[0]));
    assert.equal(foreignData(request, body(ours), odd), undefined);
  });
});

const executed = { status: 'EXECUTED', amountInUsd: 250.5, executedAt: 1705314600000 };

/** Fields of a deposit result, and the user data in them. */
const results: Readonly<Record<string, readonly [object, string | undefined]>> = {
  'the three fields': [executed, undefined],
  'a harmless fourth': [{ ...executed, currency: 'USD', reference_id: nobody }, undefined],
  'the id of a deposit': [{ ...executed, reference_id: '4a000000-0000-4000-8000-0000000000a1' }, undefined],
  'a field user_id': [{ ...executed, user_id: nobody }, 'a field "user_id"'],
  'a field userId': [{ ...executed, userId: nobody }, 'a field "userId"'],
  'a field USER-NAME': [{ ...executed, 'USER-NAME': 'x' }, 'a field "USER-NAME"'],
  'a field email': [{ ...executed, email: null }, 'a field "email"'],
  'a field partner_id': [{ ...executed, partner_id: 'x' }, 'a field "partner_id"'],
  'a known user': [{ ...executed, owner: theirs }, 'a user id in "owner"'],
  'a known user deep inside': [{ ...executed, more: [{ by: theirs }] }, 'a user id in "more"'],
  'a known user in a fitting field': [{ ...executed, status: theirs }, 'a user id in "status"'],
  'an e-mail address': [{ ...executed, note: 'by jane@example.com' }, 'an e-mail address in "note"'],
};

describe('user data in a deposit result', () => {
  for (const [name, [fields, expected]] of Object.entries(results))
    test(name, () => assert.equal(userData(fields as Record<string, unknown>, known), expected));
});
