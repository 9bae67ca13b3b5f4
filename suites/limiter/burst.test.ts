import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { depositCheck, type Request } from '../request.ts';
import { send, sendUntilRefused } from './burst.ts';
import type { Supply } from './kinds.ts';
import { limiters } from './simulated.ts';
import { countedBy, simulatedDoors, type Simulation } from './simulated-doors.ts';

const supply = (): Supply & { readonly made: Request[] } => {
  const made: Request[] = [];
  return {
    kind: 'x',
    made,
    next: (count) => {
      made.push(...Array.from({ length: count }, (_, at) => depositCheck(`id-${made.length + at}`)));
      return made.slice(-count);
    },
  };
};
const limitedTo = (most: number, more: Partial<Simulation> = {}) => {
  const limiterOf = countedBy(
    () => 'all',
    () => limiters['fixed']!(most, 2000, 0),
  );
  return simulatedDoors({ limiterOf, ...more });
};

describe('a burst', () => {
  test('is seen whole, 429s and all, and says which request was refused', async () => {
    const { doors } = limitedTo(3);
    const requests = supply();
    const { sent, passed, history, refusal, trouble } = await send(doors, requests, 5);
    assert.deepEqual([sent, passed, history.length, trouble], [5, 3, 5, undefined]);
    assert.equal(refusal!.request, requests.made[3]);
    assert.equal(refusal!.answer.status, 429);
  });
  test('shows the trouble of any of its requests beside the answers of the others', async () => {
    const { doors } = limitedTo(9, { isLost: (nth) => nth === 1 });
    const { passed, history, trouble, refusal } = await send(doors, supply(), 4);
    assert.deepEqual([passed, history.length, trouble?.code, refusal], [3, 3, 'network', undefined]);
  });
});

describe('bursts until one is refused', () => {
  for (const [name, most, bound, slowness, sent, passed] of [
    ['in lots of 16', 40, 100, 0, 48, 40],
    ['to the bound, and no further', 1000, 37, 0, 37, 37],
    ['in large lots where the target takes its time', 40, 500, 200, 80, 40],
    ['not beyond the first lot where that is refused', 1, 500, 200, 16, 1],
  ] as const)
    test(name, async () => {
      const { doors, log, elapsedMs } = limitedTo(most, { slowness });
      const burst = await sendUntilRefused(doors, supply(), bound);
      assert.deepEqual([burst.sent, burst.passed, burst.history.length], [sent, passed, sent]);
      assert.equal(burst.refusal !== undefined, passed < sent);
      assert.equal(burst.elapsedMs, elapsedMs());
      assert.equal(new Set(log.map(({ target }) => target)).size, sent, 'each another');
    });
  test('end with the first trouble', async () => {
    const { doors } = limitedTo(1000, { isLost: (nth) => nth === 20 });
    const { sent, passed, trouble } = await sendUntilRefused(doors, supply(), 500);
    assert.deepEqual([sent, passed, trouble?.code], [32, 31, 'network']);
  });
});
