import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addDeposit, executeDeposit } from './change-deposit.ts';
import { listedDeposits, wholeDeposit } from './listed-deposits.ts';
import { valuesOf } from './overlay.ts';
import { builtIn } from './testing/probes.ts';
import { ids, testSession } from './run-session.ts';

const twins = [...builtIn.deposits!, { ...builtIn.deposits![0]! }];

for (const deposits of [builtIn.deposits!, twins])
  test(`${deposits.length} deposits are listed as the world has them, changed and added ones too`, () => {
    const { session } = testSession({ fixture: { ...builtIn, deposits } });
    const { world } = session.main;
    const same = () =>
      assert.deepEqual(
        listedDeposits(world).map((deposit) => wholeDeposit(world, deposit)),
        valuesOf(world.deposits),
      );
    same();
    executeDeposit(session, session.main, ids.pending);
    addDeposit(session, session.main, {
      reference_id: '00000000-0000-4000-8000-00000000000a',
      user_id: ids.member,
      state: 'pending',
    });
    same();
    assert.equal(listedDeposits(world).length, builtIn.deposits!.length + 1);
  });
