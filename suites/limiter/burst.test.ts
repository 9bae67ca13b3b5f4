import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { depositCheck, type Request } from '../request.ts';
import { stream } from './burst.ts';
import type { Supply } from './kinds.ts';
import { limiters } from './simulated.ts';
import { countedBy, simulatedContext, type Simulation } from './simulated-context.ts';

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
  return simulatedContext({ limiterOf, ...more });
};

describe('a stream', () => {
  test('ends with the first 429 and what is in flight then', async () => {
    const { context } = limitedTo(9);
    const requests = supply();
    const { sent, passed, history, refusal, trouble } = await stream(context, requests, { most: 50 });
    assert.ok(sent < 50);
    assert.deepEqual([passed, history.length, trouble], [9, sent, undefined]);
    assert.equal(refusal!.request, requests.made[9]);
    assert.equal(refusal!.answer.status, 429);
  });
  test('goes on after a lost request, and sends none again', async () => {
    const { context, log } = limitedTo(100, { isLost: (nth) => nth === 1 });
    const { sent, passed, history, trouble } = await stream(context, supply(), { most: 20 });
    assert.deepEqual([sent, passed, history.length, trouble?.code], [20, 19, 20, 'network']);
    assert.deepEqual(
      history.map(({ result }) => result).filter((result) => result !== 'passed'),
      ['lost'],
    );
    assert.equal(new Set(log.map(({ target }) => target)).size, 20);
  });
  test('a 503 is neither a pass nor a 429', async () => {
    const { context } = limitedTo(9, { statusOf: () => 503 });
    const { passed, history } = await stream(context, supply(), { most: 15 });
    assert.equal(passed, 9);
    assert.deepEqual(history.at(-1)?.words, '503');
  });
  test('has no more in flight than the user said', async () => {
    const { context, elapsedMs } = limitedTo(100, { slowness: 100, inFlight: 1 });
    await stream(context, supply(), { most: 20, withinMs: 10 });
    assert.ok(elapsedMs() > 20 * 50, `${elapsedMs()} ms`);
  });
});
