import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { reference } from '../mock/behaviour.ts';
import { error, fields, on, type Change } from '../mock/deviations/deviate.ts';
import type { Exchange } from '../mock/exchange.ts';
import { withoutLimits } from '../mock/options.ts';
import type { Failed, Fixture } from '../schemas/generated/types.ts';
import { defaults } from './commands/flags.ts';
import { loadFixture } from './fixture-file.ts';
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

const isPartner = (id: string) => (exchange: Exchange) => exchange.call?.caller?.partner === id;
const isSecondKey = ({ call }: Exchange) => call?.key?.key === 'contoso-second-key';
const relative = "situation: own or third partner's or no partner";

describe('if the key of another partner decides, the result says whose key it was', () => {
  for (const [what, change, id, where] of [
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
  ] as const)
    test(what, async () => {
      for (const seed of [1, 2]) {
        const found = (await failuresOf(change, { fixture: manyPartners, seed })).find(
          (one) => one.id === id,
        );
        assert.deepEqual(found?.where, where);
      }
    });
});
