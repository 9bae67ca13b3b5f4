import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { reference } from '../mock/handler.ts';
import { error, fields, on, opened, type Change } from '../mock/deviations/deviate.ts';
import { faults } from '../mock/deviations/faults.ts';
import type { Exchange, HttpResponse } from '../mock/exchange.ts';
import { withoutLimits } from '../mock/options.ts';
import type { Failed, Fixture } from '../schemas/generated/types.ts';
import { defaults } from './commands/flags.ts';
import { loadFixture } from './input-files.ts';
import { partOf } from './testing/part.ts';
import { verifyMock } from './testing/verify-mock.ts';

const builtIn = withoutLimits(await loadFixture(undefined, {}));

/** Another partner besides, with a key and data, and a second key of contoso. */
const manyPartners: Fixture = {
  ...builtIn,
  partners: [...builtIn.partners!, { id: 'parent' }],
  apiKeys: [
    ...builtIn.apiKeys!,
    { key: 'contoso-second-key', partner: 'contoso', state: 'active' },
    { key: 'parent-key', partner: 'parent', state: 'active' },
  ],
  users: [
    ...builtIn.users!,
    {
      user_id: '7d000000-abcd-4000-8000-00000000000d',
      partner: 'parent',
      date_joined: '2023-05-01T10:00:00.123Z',
    },
  ],
};

/** The failures of a server that is wrong in one way. */
async function failuresOf(change: Change, { fixture = builtIn, seed = 1 } = {}): Promise<readonly Failed[]> {
  const { requirements } = await verifyMock(change(reference), {
    fixture,
    seed,
    cases: defaults.cases,
    skip: ['rate-limit'],
  });
  return requirements.filter((one) => one.outcome === 'failed');
}

async function found(id: string, ...given: Parameters<typeof failuresOf>): Promise<Failed> {
  const failure = (await failuresOf(...given)).find((one) => one.id === id);
  assert.ok(failure, `${id} did not fail`);
  return failure;
}

const isPartner = (id: string) => (exchange: Exchange) => exchange.call?.caller?.partner === id;
const isSecondKey = ({ call }: Exchange) => call?.key?.key === 'contoso-second-key';
const relative = "situation: own or third partner's or no partner";

describe('if the key of another partner decides, the result says whose key it was', () => {
  const rows = [
    [
      'of one of two other partners',
      on('foreign', 'user-status', isPartner('parent'), error(403, 'no')),
      'foreign-ib/user-status/other-ib',
      ["key: parent's", relative],
    ],
    [
      'of the other one',
      on('foreign', 'user-status', isPartner('contoso'), error(403, 'no')),
      'foreign-ib/user-status/other-ib',
      ["key: contoso's", relative],
    ],
    [
      'of one key of two',
      on('foreign', 'user-status', isSecondKey, error(403, 'no')),
      'foreign-ib/user-status/other-ib',
      ['key: <key contoso/active/2>', relative],
    ],
    [
      'which only a scenario has sent',
      on('member', isPartner('parent'), fields({ is_under_ib: false, date_joined: null })),
      'foreign-ib/user-status/follows-key',
      ["key: parent's"],
    ],
    [
      'of any other partner',
      on('foreign', 'user-status', (one) => !isPartner('northwind')(one), error(403, 'no')),
      'foreign-ib/user-status/other-ib',
      ["key: another partner's", relative],
    ],
  ] as const;
  for (const [what, change, id, where] of partOf(rows, 3))
    test(what, async () => {
      for (const seed of [1, 2]) {
        const failure = await found(id, change, { fixture: manyPartners, seed });
        assert.deepEqual(failure.where, where);
      }
    });
});

describe('of header fields that are sent together, the one that matters is named', () => {
  const isSent = (name: string, start: string) => (exchange: Exchange) =>
    String(exchange.request.headers[name] ?? '').startsWith(start);
  const rows = [
    [
      'of a browser',
      faults['browser-refused']!.change,
      'valid/user-status/member',
      'User-Agent: Mozilla/5.0 ',
    ],
    [
      'of a proxy',
      on('member', isSent('x-real-ip', '127.'), fields({ is_under_ib: false })),
      'valid/user-status/member',
      'X-Real-Ip: 127.0.0.1',
    ],
    [
      'of a form of the request, which no levels describe',
      opened((_key, { headers }) => headers['cf-connecting-ip'] === '10.1.2.3'),
      'auth/user-status/missing',
      'Cf-Connecting-Ip: 10.1.2.3',
    ],
  ] as const;
  for (const [what, change, id, words] of partOf(rows, 3))
    test(what, async () => {
      const failure = await found(id, change);
      assert.ok(failure.where?.[0]?.startsWith(`fields: ${words}`), String(failure.where));
      assert.equal(failure.where?.length, 1);
      const { authorization: _, ...sent } = failure.counterexample!.request.headers;
      assert.deepEqual(Object.keys(sent), [words.split(':')[0]!.toLowerCase()]);
    });
});

describe('if it takes another request to fail, both are shown', () => {
  test('a HEAD before', async () => {
    const failure = await found('valid/user-status/repeatable', faults['head-cached']!.change);
    assert.deepEqual(failure.where, ['before: a HEAD for the same URL']);
    assert.match(failure.counterexample!.curl, /^curl .* --head [^;]*"; curl (?!.*--head)[^;]*"$/);
  });

  test('another partner at the same time', async () => {
    // Lookups of the same URL that are in flight at once get the first answer.
    let kept: readonly [target: string, response: HttpResponse] | undefined;
    const shared = on((response, { request: { target, alongside = 0 } }) => {
      const given = alongside > 0 && kept?.[0] === target ? kept[1] : undefined;
      kept = alongside > 0 && given === undefined ? [target, response] : undefined;
      return given ?? response;
    });
    const failure = await found('robustness/service/concurrency', shared);
    assert.deepEqual(failure.where, ['meanwhile: another partner asks for the same id']);
    const { curl, key, otherKey } = failure.counterexample!;
    assert.match(curl, /^curl .* & curl .* & wait$/);
    assert.deepEqual(new Set([key, otherKey]), new Set(['<key contoso/active>', '<key northwind/active>']));
    assert.ok(curl.includes('$IB_API_KEY') && curl.includes('$IB_OTHER_KEY'));
  });
});
